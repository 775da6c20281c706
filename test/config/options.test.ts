/** The table of options: each option has a row, and the row alone says which task it belongs to. */
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { CALL_OPTIONS, SETTINGS, TASK_OPTIONS, settingNames } from "../../src/config/options.ts";
import type { DecoderOptions, TaskFields } from "../../src/config/types.ts";
import type { Rule } from "../../src/core/options.ts";
import { TASKS, type TaskName } from "../../src/core/tasks.ts";
import { COMMAND_NAMES, optionsOf } from "../../src/node/cli/options.ts";

/** A valid value for each option of a task. */
const VALUES: { readonly [K in keyof TaskFields]-?: NonNullable<TaskFields[K]> } = {
  keypoints: [2, 3],
  keypointNames: ["head", "foot"],
  edges: [[0, 1]],
  keypointScores: "logits",
  keypointCoordinates: "strides",
  keypointRefinement: "dark-udp",
  keypointScale: 2,
  maskCoefficients: 32,
  orientedSuppression: "opencv",
  angleRange: "raw",
  angleForm: "fractions",
  cellGroups: "enclosing",
  textRule: "paddleocr",
  maskThreshold: 0.5,
  unclipRatio: 2,
};

const V8 = { family: "yolov8", classes: 1, inputSize: [64, 64] } as const;
const rows = Object.entries(TASK_OPTIONS) as [keyof TaskFields, readonly [TaskName, Rule]][];

type Worded = Pick<DecoderOptions, "boxFormat" | "coordinates" | "priorFormat" | "scores"> &
  Pick<TaskFields, "keypointScores" | "keypointCoordinates" | "keypointRefinement"> &
  Pick<TaskFields, "orientedSuppression" | "angleRange" | "angleForm" | "cellGroups" | "textRule">;

/** The words of the types. The compiler asks for each of them, and for no other. */
const WORDS: { readonly [K in keyof Worded]-?: Readonly<Record<NonNullable<Worded[K]>, 1>> } = {
  boxFormat: { cxcywh: 1, xyxy: 1, xywh: 1, yxyx: 1, cycxhw: 1 },
  coordinates: { pixels: 1, normalised: 1, photo: 1, strides: 1 },
  priorFormat: { xyxy: 1, cxcywh: 1, cycxhw: 1 },
  scores: { probabilities: 1, logits: 1, "softmax-logits": 1 },
  keypointScores: { probabilities: 1, logits: 1 },
  keypointCoordinates: { pixels: 1, normalised: 1, strides: 1 },
  keypointRefinement: { none: 1, centre: 1, quarter: 1, "dark-udp": 1, heatmap: 1 },
  orientedSuppression: { ultralytics: 1, probiou: 1, opencv: 1 },
  angleRange: { regular: 1, raw: 1 },
  angleForm: { radians: 1, logits: 1, fractions: 1 },
  cellGroups: { "edge-impulse": 1, enclosing: 1 },
  textRule: { paddleocr: 1, depthai: 1 },
};

test.each(Object.entries(WORDS))("%s takes the words of its type, and no others", (name, words) => {
  const { [name]: setting } = SETTINGS as unknown as Readonly<Record<string, Rule>>;
  const rule = setting ?? TASK_OPTIONS[name as keyof TaskFields][1];
  expect(rule[0].replace("one of ", "").split(", ").sort()).toEqual(Object.keys(words).sort());
  for (const word of Object.keys(words)) expect(rule[1](word), word).toBe(true);
});

describe.each(rows)("%s", (name, [task]) => {
  const option = { [name]: VALUES[name] };

  test("is taken with its own task, and selects it", () => {
    for (const given of [option, { ...option, task }]) {
      expect(readConfig({ ...V8, ...given }, {}).task).toEqual({ name: task, ...option });
      expect(readConfig(V8, given).task).toEqual({ name: task, ...option });
    }
  });

  test("is refused beside every other task, in typed options and over a config", () => {
    for (const other of (Object.keys(TASKS) as TaskName[]).filter((one) => one !== task)) {
      const message = `${name}: got it with task "${other}", expected task "${task}" beside it`;
      expect(() => readConfig({ ...V8, ...option, task: other }, {})).toThrow(message);
      expect(() => readConfig(V8, { ...option, task: other })).toThrow(`options.${message}`);
    }
  });
});

test("options of the command line have names of the table", () => {
  const known = [...settingNames(), ...Object.keys(CALL_OPTIONS), "quantisation"];
  for (const command of COMMAND_NAMES)
    for (const [flag, { sets }] of Object.entries(optionsOf(command)))
      if (sets !== undefined) expect(known, `${command} --${flag}`).toContain(sets);
});
