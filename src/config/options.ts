/**
 * Table of the options of `createDecoder`: the allowed values of each option, and its task. Checks and error messages
 * use this table. The TypeScript compiler requires a row for each option in `types.ts`. `node/cli/options.ts` has the
 * options of the command line.
 */
import { ENGINE_NAMES } from "../core/engine-name.ts";
import type { OptionName } from "../core/errors.ts";
import { type Family, SCORE_OPTIONS } from "../core/family.ts";
import { TRAITS } from "../core/families.ts";
import { EDGES, POINT_SHAPE } from "../core/keypoints.ts";
import * as O from "../core/options.ts";
import { type Rule, oneOf } from "../core/options.ts";
import { REFINEMENTS } from "../core/pose-families.ts";
import { READING_NAMES } from "../core/readings.ts";
import { TASKS, type TaskName } from "../core/tasks.ts";
import { type FieldReader, NAMES, TEXTS, isObject, isWhole } from "./fields.ts";
import { readFamily, readPriors, readRoles, readRules } from "./readers.ts";
import { readSuppression } from "./suppression.ts";
import { TASK_CHECKS } from "./task.ts";
import type { DecoderOptions, TaskConfig, TaskFields } from "./types.ts";

/** Check of an option: a rule for the value, or a function that reads the option and reports a wrong value. */
export type Row<T> = Rule<T> | ((r: FieldReader) => unknown);

/** Rules of options that `createDecoder` takes only in its second argument. */
export const CALL_OPTIONS = {
  engine: /* @__PURE__ */ oneOf(["auto", ...ENGINE_NAMES]),
  onNote: O.FUNCTION as Rule<NonNullable<DecoderOptions["onNote"]>>,
  fresh: O.FLAG,
  outputs: [
    "an array or a record of {dims, type}",
    (x) => typeof x === "object" && Object.values(x as object).every(isObject),
  ],
} as const satisfies { readonly [K in CallOption]-?: Rule<NonNullable<DecoderOptions[K]>> };

/** Options that only `createDetector` takes. */
export const DETECTOR_OPTIONS: readonly string[] = ["warmUp", "most", "reuse"];

/** Options without a rule here: `readAnchors` reads them after the rest of the config. */
const LATER = ["anchors", "anchorMasks"] as const;

/** Rules of options that belong to no task: options about the network, and about how to read its outputs. */
export const SETTINGS = {
  family: readFamily,
  rules: readRules,
  scores: /* @__PURE__ */ oneOf(SCORE_OPTIONS),
  inputSize: (r) => r.positives("inputSize", 2),
  strides: (r) => r.positives("strides"),
  scaleXY: (r) => (typeof r.json.scaleXY === "number" ? r.json.scaleXY : r.positives("scaleXY")),
  priors: readPriors,
  priorFormat: /* @__PURE__ */ oneOf(["xyxy", "cxcywh", "cycxhw"]),
  variances: (r) => r.positives("variances", 4),
  scales: (r) => r.positives("scales", 4),
  background: ["a class column, or false", (x) => x === false || isWhole(x)],
  boxFormat: /* @__PURE__ */ oneOf(["cxcywh", "xyxy", "xywh", "yxyx", "cycxhw"]),
  coordinates: /* @__PURE__ */ oneOf(["pixels", "normalised", "photo", "strides"]),
  roles: readRoles,
  task: readTask,
  reading: /* @__PURE__ */ oneOf(READING_NAMES),
  // Check only the type. `prepareImage` checks the fields of the rule.
  prepare: ["a rule of prepareImage", isObject],
  labels: (r) => r.labels("labels"),
  classes: O.COUNT,
  confidenceThreshold: (r) => copied(r.take("confidenceThreshold", O.CONFIDENCE)),
  iouThreshold: O.UNIT,
  suppression: readSuppression,
  keep: NAMES,
  maxDetections: O.COUNT,
} as const satisfies { readonly [K in Setting]: Row<DecoderOptions[K]> };

/** Rules of options that belong to one task. If the option `task` is absent, such an option selects the task. */
export const TASK_OPTIONS: {
  readonly [K in keyof TaskFields]-?: readonly [task: TaskName, rule: Rule<NonNullable<TaskFields[K]>>];
} = {
  keypoints: ["pose", POINT_SHAPE],
  keypointNames: ["pose", TEXTS],
  edges: ["pose", EDGES],
  keypointScores: ["pose", /* @__PURE__ */ oneOf(["probabilities", "logits"])],
  keypointCoordinates: ["pose", /* @__PURE__ */ oneOf(["pixels", "normalised", "strides"])],
  keypointRefinement: ["pose", /* @__PURE__ */ oneOf(REFINEMENTS)],
  keypointScale: ["pose", O.POSITIVE],
  maskCoefficients: ["segment", O.COUNT],
  orientedSuppression: ["oriented", /* @__PURE__ */ oneOf(["ultralytics", "probiou", "opencv"])],
  angleRange: ["oriented", /* @__PURE__ */ oneOf(["regular", "raw"])],
  angleForm: ["oriented", /* @__PURE__ */ oneOf(["radians", "logits", "fractions"])],
  cellGroups: ["peaks", /* @__PURE__ */ oneOf(["edge-impulse", "enclosing"])],
  textRule: ["text", /* @__PURE__ */ oneOf(["paddleocr", "depthai"])],
  maskThreshold: ["text", O.UNIT],
  unclipRatio: ["text", O.POSITIVE],
};

type Setting = Exclude<OptionName, "outputs" | keyof TaskFields | (typeof LATER)[number]>;
type CallOption = Exclude<keyof DecoderOptions, Exclude<OptionName, "outputs">>;

/** Returns the names of all typed options. */
export const settingNames = (): string[] => [
  ...Object.keys(SETTINGS),
  ...LATER,
  ...Object.keys(TASK_OPTIONS),
];

/** Copies a list, since the caller may change the list later. Returns any other value unchanged. */
const copied = <T>(x: T): T => (Array.isArray(x) ? ([...(x as unknown[])] as T) : x);

function readTask(r: FieldReader): TaskConfig | null {
  const named = r.take("task", oneOf(Object.keys(TASKS) as TaskName[]));
  const stated = Object.entries<readonly [TaskName, Rule<unknown>]>(TASK_OPTIONS).filter(([name]) =>
    r.has(name),
  );
  const task = named ?? (stated.length > 0 ? (familyTask(r) ?? stated[0][1][0]) : null);
  if (task === null) return null;
  const read = stated.flatMap(([name, [owner, rule]]) => {
    if (owner !== task)
      r.report(name, `it with task "${task}"`, `task "${owner}" beside it: the option belongs to that task`);
    const value = owner === task ? r.take(name, rule) : null;
    return value === null ? [] : [[name, value]];
  });
  const config: TaskConfig = { name: task, ...Object.fromEntries(read) };
  TASK_CHECKS[task]?.(r, config);
  return config;
}

/** Returns the task that all networks of the stated family have. Returns undefined if their tasks differ. */
const familyTask = ({ json }: FieldReader): TaskName | undefined =>
  Object.hasOwn(TRAITS, String(json.family)) ? TRAITS[json.family as Family].task : undefined;
