/** Options of suppression, with defaults and checks. */
import { refuseValue } from "./errors.ts";
import {
  FLAG,
  NUMBER,
  type OptionRules,
  PIXEL_OFFSET,
  POSITIVE,
  type Rule,
  SIZE,
  UNIT,
  checkOptions,
  oneOf,
  percentText,
} from "./options.ts";
import { isDetached, show } from "./tensor.ts";

/** Meaning of the four values of a box. */
export type SuppressBoxFormat = "xyxy" | "yxyx" | "cxcywh" | "xywh";

/** Options that every method has. */
export interface CommonSuppressOptions {
  /**
   * Boxes with this score or a lower one are ignored. Methods that lower scores also drop boxes whose lowered score is
   * below this threshold ("soft-tensorflow": below or equal). Default: no threshold.
   */
  readonly scoreThreshold?: number;
  /** Largest number of boxes that are returned. Default: all. */
  readonly maxDetections?: number;
  /** Class id of each box: boxes suppress each other only within a class. Default: one class. */
  readonly classIds?: ArrayLike<number>;
  /** Meaning of a box's four values. Default: corners, "xyxy". */
  readonly boxFormat?: SuppressBoxFormat;
  /** Added to widths and heights when areas are calculated, in the unit of the boxes. Default 0. */
  readonly pixelOffset?: number;
}

/** Greedy suppression ("hard"), or YOLACT's Fast NMS ("fast"), in which suppressed boxes also suppress others. */
export interface HardOptions extends CommonSuppressOptions {
  /** Default "hard". */
  readonly method?: "hard" | "fast";
  /** Default 0.45. */
  readonly iouThreshold?: number;
  /** ">": suppress if the IoU is above the threshold (default). ">=": also suppress if it equals the threshold. */
  readonly iouGate?: ">" | ">=";
}

/**
 * Greedy suppression by DIoU = IoU - (d^2 / c^2) ^ beta. d is the distance of the two centres, c the diagonal of the
 * smallest box around both boxes.
 */
export interface DiouOptions extends CommonSuppressOptions {
  readonly method: "diou";
  /** Default 0.45. */
  readonly iouThreshold?: number;
  /** ">": suppress if the DIoU is above the threshold (default). ">=": also suppress if it equals the threshold. */
  readonly iouGate?: ">" | ">=";
  /** Exponent of the penalty, `beta_nms` of Darknet. Default 1. */
  readonly beta?: number;
}

/** Soft suppression (Bodla): each better box whose IoU is above the threshold multiplies a box's score by 1 - IoU. */
export interface SoftLinearOptions extends CommonSuppressOptions {
  readonly method: "soft-linear";
  /** Default 0.3. */
  readonly iouThreshold?: number;
}

/** Soft suppression (Bodla): every better box multiplies a box's score by exp(-IoU^2 / sigma). */
export interface SoftGaussianOptions extends CommonSuppressOptions {
  readonly method: "soft-gaussian";
  /** Default 0.5. */
  readonly sigma?: number;
}

/**
 * Soft suppression of TensorFlow and TensorFlow.js: every better box multiplies a box's score by exp(-IoU^2 / (2
 * sigma)), or by 0 if the IoU is above the threshold. A sigma of 0.5 here equals 1 in `soft-gaussian`.
 */
export interface SoftTensorflowOptions extends CommonSuppressOptions {
  readonly method: "soft-tensorflow";
  /** Default 0.5. */
  readonly sigma?: number;
  /** Default 1: no box is dropped because of its IoU. */
  readonly iouThreshold?: number;
}

/** Matrix suppression (SOLOv2), which lowers all scores at once. */
export interface MatrixOptions extends CommonSuppressOptions {
  readonly method: "matrix";
  /** Factor on a score by the IoU. "gaussian": exp(-sigma IoU^2). "linear": 1 - IoU. Default "gaussian". */
  readonly kernel?: "gaussian" | "linear";
  /** Default 2. Only the Gaussian kernel reads it. */
  readonly sigma?: number;
}

/**
 * Methods that average boxes which overlap, that is, whose IoU is above the threshold. "weighted" (MediaPipe): averages
 * the best box with all boxes that it overlaps, weighted by score. "nmw": adds each box to the box that it overlaps
 * most, weighted by score x IoU. "merge" (YOLOv5): suppresses greedily, then averages each kept box with all boxes that
 * it overlaps.
 */
export interface MergeOptions extends CommonSuppressOptions {
  readonly method: "weighted" | "merge" | "nmw";
  /** Default: 0.3 for "weighted", 0.45 for "merge", 0.5 for "nmw". */
  readonly iouThreshold?: number;
}

/** Options of `suppress`: the method and its settings. */
export type SuppressOptions =
  | HardOptions
  | DiouOptions
  | SoftLinearOptions
  | SoftGaussianOptions
  | SoftTensorflowOptions
  | MatrixOptions
  | MergeOptions;

/** Name of a suppression method. */
export type SuppressMethod = NonNullable<SuppressOptions["method"]>;

/** Settings of a method, with all defaults. A method reads only its own settings. */
export interface Settings {
  readonly method: SuppressMethod;
  readonly iouThreshold: number;
  readonly sigma: number;
  readonly beta: number;
  readonly kernel: "gaussian" | "linear";
  readonly iouGate: ">" | ">=";
  readonly scoreThreshold: number;
  readonly maxDetections: number;
  readonly classIds: ArrayLike<number> | null;
  readonly boxFormat: SuppressBoxFormat;
  readonly pixelOffset: number;
}

/** True for detections of a decoder and for clones of them: both store boxes in a column `boxes`. */
const isDetections = (x: unknown): boolean => typeof (x as { boxes?: unknown } | null)?.boxes === "object";

/** True for an array-like of numbers. False for a string, an array of BigInt, and detections. */
export const isList = (x: unknown): boolean =>
  typeof x === "object" &&
  typeof (x as Float32Array | null)?.length === "number" &&
  !isDetections(x) &&
  typeof (x as Float32Array)[0] !== "bigint";

export const IOU_GATE: Rule = oneOf([">", ">="]);
/** Rules of the options that every kind of suppression has. */
export const COMMON_RULES: OptionRules = {
  scoreThreshold: NUMBER,
  maxDetections: [
    "a whole number from 0 up",
    (x) => x === Infinity || (Number.isInteger(x) && (x as number) >= 0),
  ],
  classIds: ["an array of class ids", isList],
};

export const BOX_FORMAT: Rule = oneOf(["xyxy", "yxyx", "cxcywh", "xywh"]);

const RULES: OptionRules = { ...COMMON_RULES, boxFormat: BOX_FORMAT, pixelOffset: PIXEL_OFFSET };

const IOU: OptionRules = { iouThreshold: UNIT };
const SIGMA: OptionRules = { sigma: POSITIVE };
const HARD = { ...IOU, iouGate: IOU_GATE };

/** Rules of each method's own options, and its defaults if they differ from an IoU of 0.45 and a sigma of 0.5. */
const METHODS: Readonly<
  Record<SuppressMethod, { readonly rules: OptionRules; readonly iou?: number; sigma?: number }>
> = {
  hard: { rules: HARD },
  fast: { rules: HARD },
  diou: { rules: { ...HARD, beta: POSITIVE } },
  "soft-linear": { rules: IOU, iou: 0.3 },
  "soft-gaussian": { rules: SIGMA },
  "soft-tensorflow": { rules: { ...IOU, ...SIGMA }, iou: 1 },
  matrix: { rules: { ...SIGMA, kernel: oneOf(["gaussian", "linear"]) }, sigma: 2 },
  weighted: { rules: IOU, iou: 0.3 },
  merge: { rules: IOU },
  nmw: { rules: IOU, iou: 0.5 },
};

/** Rules of options for detections, which have no `classIds` and no `boxFormat` of their own. */
export const DETECTION_RULES: OptionRules = {
  scoreThreshold: RULES.scoreThreshold,
  maxDetections: RULES.maxDetections,
  pixelOffset: RULES.pixelOffset,
  perClass: FLAG,
  size: SIZE,
};

/** Checks the options of `suppress` and fills in the defaults. `common`: rules of the options that every method has. */
export function settingsOf(given: SuppressOptions, common = RULES): Settings {
  if (typeof given !== "object" || given === null)
    refuseValue("options", show(given), 'an object such as { method: "soft-gaussian" }');
  const method = given.method ?? "hard";
  const methodRule = oneOf(Object.keys(METHODS));
  checkOptions({ method }, { method: methodRule });
  const { rules, iou = 0.45, sigma = 0.5 } = METHODS[method];
  const own: Partial<Settings> = checkOptions<Partial<Settings>>(
    given as Partial<Settings>,
    { method: methodRule, ...rules, ...common },
    { more: ` for "${method}"` },
  );
  return {
    method,
    iouThreshold: own.iouThreshold ?? iou,
    sigma: own.sigma ?? sigma,
    beta: own.beta ?? 1,
    kernel: own.kernel ?? "gaussian",
    iouGate: own.iouGate ?? ">",
    scoreThreshold: own.scoreThreshold ?? -Infinity,
    maxDetections: own.maxDetections ?? Infinity,
    classIds: own.classIds ?? null,
    boxFormat: own.boxFormat ?? "xyxy",
    pixelOffset: own.pixelOffset ?? 0,
  };
}

/**
 * Throws a RangeError if the threshold is above 1 but the scores are in 0..1, so that no score could pass. Scores do
 * not count as fractions if some are negative or above 1, or if all are whole numbers: they are logits, bytes or
 * percentages.
 */
export function checkScoreThreshold(threshold: number, scores: ArrayLike<number>): void {
  if (!(threshold > 1 && threshold < Infinity)) return;
  let fractions = 0;
  for (let i = 0; i < scores.length; i++) {
    if (scores[i] < 0 || scores[i] > 1) return;
    if (scores[i] > 0 && scores[i] < 1) fractions++;
  }
  if (fractions > 0)
    refuseValue(
      "scoreThreshold",
      `${threshold}, and scores in 0..1`,
      `a threshold below 1${percentText(threshold)}`,
    );
}

/** Throws a RangeError unless the value is an array-like of numbers. */
export function checkList(name: string, x: unknown): void {
  if (isDetections(x)) refuseValue(name, "detections", "their columns: detections.boxes, detections.scores");
  const isGone = isDetached(x);
  if (isGone || !isList(x)) refuseValue(name, isGone ? "transferred memory" : show(x), "an array of numbers");
}

/**
 * Throws unless there are `width` numbers and a class id for each score. Also throws if the threshold is in another
 * unit than the scores.
 */
export function checkLengths(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  classIds: ArrayLike<number> | null,
  width: number,
  scoreThreshold = 0,
): void {
  checkList("boxes", boxes);
  checkList("scores", scores);
  const n = scores.length;
  if (boxes.length !== n * width)
    refuseValue("boxes", `${boxes.length} numbers`, `${n * width}, ${width} for each of ${n} scores`);
  if (classIds !== null && classIds.length !== n)
    refuseValue("classIds", `${classIds.length}`, `${n}, one for each score`);
  checkElements("boxes", boxes, isAnyNumber, "a number");
  checkElements("scores", scores, isAnyNumber, "a number");
  if (classIds !== null) checkElements("classIds", classIds, isClassId, "a whole number of 32 bits");
  checkScoreThreshold(scoreThreshold, scores);
}

/**
 * Throws a RangeError if the second corner of most boxes lies left of or above the first: such values are probably
 * sizes. For formats with sizes, throws if most sizes are negative. A few such boxes are accepted: the ONNX operator
 * NonMaxSuppression allows corners in either order.
 */
export function checkCorners(boxes: ArrayLike<number>, format: SuppressBoxFormat): void {
  const areSizes = format === "xywh" || format === "cxcywh";
  const count = boxes.length / 4;
  // Ignore an infinite coordinate, which is no evidence of the format.
  const isNegative = (size: number): boolean => size < 0 && size > -Infinity;
  let turned = 0;
  for (let i = 0; i < boxes.length; i += 4)
    if (
      isNegative(areSizes ? boxes[i + 2] : boxes[i + 2] - boxes[i]) ||
      isNegative(areSizes ? boxes[i + 3] : boxes[i + 3] - boxes[i + 1])
    )
      turned++;
  if (turned * 2 <= count) return;
  const [found, expected, advice] = areSizes
    ? ["a negative width or height", "sizes", ""]
    : [
        "x2 < x1 or y2 < y1",
        "corners",
        '; if they are corner and size, say boxFormat: "xywh"; if centre and size, "cxcywh"',
      ];
  refuseValue(
    "boxes",
    `${turned} of ${count} boxes with ${found}`,
    `${expected}, as boxFormat "${format}" says${advice}`,
  );
}

/** True for any number, including NaN: suppression ignores boxes and scores that are NaN. */
const isAnyNumber = (x: unknown): boolean => typeof x === "number";
const isClassId = (x: unknown): boolean => typeof x === "number" && (x | 0) === x;

/**
 * Throws a RangeError if an element does not pass the test. Without this check, JavaScript would convert strings and
 * null to numbers, and truncate class ids to whole numbers.
 */
export function checkElements(
  name: string,
  list: ArrayLike<number>,
  passes: (x: unknown) => boolean,
  expected: string,
): void {
  for (let i = 0; i < list.length; i++)
    if (!passes(list[i])) refuseValue(`${name}[${i}]`, show(list[i]), expected);
}
