/** The task record and the head table of plan files: what they say, and what is refused. C programs read them. */
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/core/errors.ts";
import type { Config, DecoderOptions } from "../../src/config/types.ts";
import { forge, loadPlanSync } from "../support/plans.ts";
import * as F from "../../src/planfile/format.ts";
import { readPlan } from "../../src/planfile/read.ts";
import { compilePlan } from "../../src/planfile/write.ts";

type Dims = Readonly<Record<string, readonly number[]>>;

const outputsOf = (dims: Dims): DecoderOptions => ({
  outputs: Object.entries(dims).map(([name, d]) => ({ name, dims: d })),
});

/** Returns words and doubles of a file by record: the task record, and rows of the head table. */
function recordsOf(bytes: Uint8Array<ArrayBuffer>) {
  const view = new DataView(bytes.buffer);
  const word = (at: number, index: number): number => view.getUint32(at + 4 * index, true);
  const task = word(0, F.F_IMAGE_BYTES);
  const rows = word(task, F.T_HEAD_TABLE);
  const head = (i: number): number => rows + i * F.EXTRA_WORDS * 4;
  return {
    task,
    head,
    words: (at: number, from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, k) => word(at, from + k)),
    doubles: (at: number) =>
      [F.E_SCALE_X, F.E_SCALE_Y, F.E_UNIT_X, F.E_UNIT_Y, F.E_ADD].map((k) =>
        view.getFloat64(at + 4 * k, true),
      ),
  };
}

const POSE = {
  family: "yolov8",
  task: "pose",
  classes: 1,
  inputSize: [64, 32],
  keypoints: [2, 3],
} as const;
const MAPS = Object.fromEntries(
  [8, 16, 32].flatMap((stride) =>
    Object.entries({ box: 64, cls: 1, kpt: 6 }).map(([part, channels]) => [
      `${part}${stride}`,
      [1, channels, 32 / stride, 64 / stride],
    ]),
  ),
);
const MASKS = { family: "yolov8", task: "segment", classes: 2, inputSize: [64, 32] } as const;
const MASK_DIMS = { output0: [2, 10, 42], output1: [2, 4, 8, 16] };

const compile = (config: unknown, dims: Dims) => compilePlan(config as Config, outputsOf(dims)).bytes;

test("a plan of boxes alone has an empty task record", () => {
  const bytes = compile({ family: "yolov8", classes: 1, inputSize: [64, 32] }, { output0: [1, 5, 42] });
  const { task, words } = recordsOf(bytes);
  expect(words(task, 0, F.TASK_WORDS - 1)).toEqual(Array<number>(F.TASK_WORDS).fill(0));
});

test("decoded keypoints: behind the boxes, divided by the input size", () => {
  const { task, head, words, doubles } = recordsOf(compile(POSE, { output0: [1, 11, 42] }));
  expect(words(task, F.T_KIND, F.T_HEADS)).toEqual([
    F.TASK_KEYPOINTS,
    2,
    3,
    F.POINTS_DECODED,
    F.TASK_FLAG_CLAMP_AFTER,
    1,
  ]);
  // source, cells, slot, first element, channel, cell
  expect(words(head(0), F.E_SOURCE, F.E_CELL)).toEqual([0, 42, 0, 5 * 42, 42, 1]);
  expect(doubles(head(0))).toEqual([1 / 64, 1 / 32, 0, 0, 0]);
});

test("keypoints of maps: 2 x (raw x stride), from the corner of the cell, with raw confidences", () => {
  const bytes = compile({ ...POSE, rules: { set: "ultralytics", clamp: "before" } }, MAPS);
  const { task, head, words, doubles } = recordsOf(bytes);
  expect(words(task, F.T_VALUES, F.T_HEADS)).toEqual([
    3,
    F.POINTS_GRID,
    F.TASK_FLAG_LOGITS | F.TASK_FLAG_CLAMP_BEFORE,
    3,
  ]);
  const { slots } = readPlan(bytes);
  expect([0, 1, 2].map((i) => words(head(i), F.E_SOURCE, F.E_CELLS))).toEqual([
    [0, 32],
    [32, 8],
    [40, 2],
  ]);
  expect([0, 1, 2].map((i) => slots[words(head(i), F.E_SLOT, F.E_SLOT)[0]].spec.name)).toEqual([
    "kpt8",
    "kpt16",
    "kpt32",
  ]);
  expect([0, 1, 2].map((i) => words(head(i), F.E_GRID_W, F.E_GRID_W))).toEqual([[8], [4], [2]]);
  expect(doubles(head(1))).toEqual([2 * (16 / 64), 2 * (16 / 32), 16 / 64, 16 / 32, 0]);
});

test("masks: coefficients behind the boxes, prototypes in a slot, steps in elements", () => {
  const bytes = compile(MASKS, MASK_DIMS);
  const { task, head, words } = recordsOf(bytes);
  expect(words(task, F.T_KIND, F.T_VALUES)).toEqual([F.TASK_MASKS, 4, 1]);
  expect(readPlan(bytes).slots[words(task, F.T_SLOT, F.T_SLOT)[0]].spec.name).toBe("output1");
  // width, height, column, row, plane, image
  expect(words(task, F.T_WIDTH, F.T_IMAGE)).toEqual([16, 8, 1, 16, 128, 512]);
  expect(words(head(0), F.E_OFFSET, F.E_IMAGE)).toEqual([6 * 42, 42, 1, 420]);
  expect(loadPlanSync(bytes).decodeBatch).toBeTypeOf("function");
});

const TURNED = { family: "yolov8", task: "oriented", classes: 2, inputSize: [64, 32] } as const;
const TURNED_MAPS = Object.fromEntries(
  [8, 16, 32].flatMap((stride) =>
    Object.entries({ box: 64, cls: 2, angle: 1 }).map(([part, channels]) => [
      `${part}${stride}`,
      [1, channels, 32 / stride, 64 / stride],
    ]),
  ),
);

test("oriented planes: the angle behind the classes, in radians, and nothing to turn about", () => {
  const { task, head, words, doubles } = recordsOf(compile(TURNED, { output0: [1, 7, 42] }));
  expect(words(task, F.T_KIND, F.T_HEADS)).toEqual([
    F.TASK_ORIENTED,
    1,
    1,
    0,
    F.TASK_FLAG_REGULAR | F.TASK_FLAG_AT_THRESHOLD | F.TASK_FLAG_PER_CLASS | F.TASK_FLAG_HALF_TURN,
    1,
  ]);
  expect(words(task, F.T_ANGLE, F.T_SUPPRESSION)).toEqual([F.ANGLE_RADIANS, F.ORIENTED_ULTRALYTICS]);
  expect(words(head(0), F.E_OFFSET, F.E_CELL)).toEqual([6 * 42, 42, 1]);
  expect(words(head(0), F.E_TURNS, F.E_TURNS)).toEqual([0]);
  expect(doubles(head(0)).slice(2)).toEqual([1, 1, 0]);
});

test("oriented maps: angles (sigmoid - 1/4) pi, about the centre of a cell of the map's stride", () => {
  const bytes = compile({ ...TURNED, orientedSuppression: "opencv", angleRange: "raw" }, TURNED_MAPS);
  const { task, head, words, doubles } = recordsOf(bytes);
  expect(words(task, F.T_FLAGS, F.T_HEADS)).toEqual([F.TASK_FLAG_PER_CLASS | F.TASK_FLAG_HALF_TURN, 3]);
  expect(words(task, F.T_ANGLE, F.T_SUPPRESSION)).toEqual([F.ANGLE_LOGITS, F.ORIENTED_OPENCV]);
  const { slots } = readPlan(bytes);
  expect([0, 1, 2].map((i) => slots[words(head(i), F.E_SLOT, F.E_SLOT)[0]].spec.name)).toEqual([
    "angle8",
    "angle16",
    "angle32",
  ]);
  expect([0, 1, 2].map((i) => words(head(i), F.E_GRID_W, F.E_TURNS))).toEqual([
    [8, 1],
    [4, 1],
    [2, 1],
  ]);
  expect([0, 1, 2].map((i) => doubles(head(i)).slice(2))).toEqual([
    [8, 8, 0.5],
    [16, 16, 0.5],
    [32, 32, 0.5],
  ]);
});

test.each<readonly [object, readonly number[], number]>([
  [{}, [1, 7, 42], F.ORIENTED_ULTRALYTICS],
  [{ orientedSuppression: "probiou" }, [1, 7, 42], F.ORIENTED_PROBIOU],
  [{ rules: { suppress: "none" } }, [1, 7, 42], F.ORIENTED_NONE],
  [{ family: "yolo26", reading: "end-to-end" }, [1, 30, 7], F.ORIENTED_NONE],
  [
    { family: "yolo26", reading: "end-to-end", rules: { suppress: "all" } },
    [1, 30, 7],
    F.ORIENTED_ULTRALYTICS,
  ],
])("suppression of %j", (options, dims, suppression) => {
  const { task, words } = recordsOf(compile({ ...TURNED, ...options }, { output0: dims }));
  expect(words(task, F.T_SUPPRESSION, F.T_SUPPRESSION)).toEqual([suppression]);
});

describe("forged words are refused", () => {
  const cases: [string, Uint8Array<ArrayBuffer>, readonly number[]][] = [
    [
      "keypoints",
      compile(POSE, MAPS),
      [F.T_KIND, F.T_COUNT, F.T_VALUES, F.T_RULE, F.T_HEADS, F.T_HEAD_TABLE],
    ],
    [
      "masks",
      compile(MASKS, MASK_DIMS),
      [F.T_COUNT, F.T_SLOT, F.T_WIDTH, F.T_HEIGHT, F.T_COLUMN, F.T_ROW, F.T_PLANE, F.T_IMAGE],
    ],
  ];
  cases.push([
    "oriented boxes",
    compile(TURNED, TURNED_MAPS),
    [
      ...[F.T_KIND, F.T_COUNT, F.T_VALUES, F.T_RULE, F.T_HEADS, F.T_HEAD_TABLE],
      ...[F.T_ANGLE, F.T_SUPPRESSION],
    ],
  ]);
  const steps = [F.E_CELLS, F.E_SLOT, F.E_OFFSET, F.E_CHANNEL, F.E_CELL, F.E_GRID_W];
  test.each(cases)("%s", (name, bytes, fields) => {
    const { task, head } = recordsOf(bytes);
    // An angle is one channel: there is no step to the next.
    const used = name === "oriented boxes" ? steps.filter((k) => k !== F.E_CHANNEL) : steps;
    for (const at of [...fields.map((k) => task + 4 * k), ...used.map((k) => head(0) + 4 * k)])
      for (const value of [0x7fffffff, 0xffffffff])
        expect(() => loadPlanSync(forge(bytes, at / 4, value)), `byte ${at}`).toThrow(ConfigError);
  });

  test("oriented boxes with two channels, a rule of points, or no input size", () => {
    const bytes = compile(TURNED, TURNED_MAPS);
    const { task } = recordsOf(bytes);
    for (const [at, value] of [
      [task + 4 * F.T_VALUES, 2],
      [task + 4 * F.T_COUNT, 2],
      [task + 4 * F.T_RULE, F.POINTS_GRID],
      [4 * F.F_INPUT_WIDTH, 0],
      [4 * F.F_INPUT_HEIGHT, 0],
    ])
      expect(() => loadPlanSync(forge(bytes, at / 4, value)), `byte ${at}`).toThrow(ConfigError);
  });

  test("the last element of a slot is reached, and none behind it", () => {
    const bytes = compile(POSE, { output0: [1, 11, 42] });
    const { task, head } = recordsOf(bytes);
    const at = head(0) + 4 * F.E_OFFSET;
    expect(() => loadPlanSync(forge(bytes, at / 4, 5 * 42 - 1))).not.toThrow();
    expect(() => loadPlanSync(forge(bytes, at / 4, 5 * 42 + 1))).toThrow(
      `plan: got bytes ${11 * 42}..${11 * 42 + 1} for a place or a count, expected 0..${11 * 42}`,
    );
    // Rows of priors would have to lie in the image.
    expect(() => loadPlanSync(forge(bytes, task / 4 + F.T_RULE, F.POINTS_PRIOR))).toThrow(ConfigError);
  });
});

test("more coefficients than a program has room for are refused", () => {
  expect(() => compile(MASKS, { output0: [1, 306, 42], output1: [1, 300, 8, 16] })).toThrow(
    "masks: got 300 coefficients, expected at most 256",
  );
});
