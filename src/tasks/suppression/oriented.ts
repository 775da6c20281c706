/** Suppression of oriented boxes: centre x, centre y, width, height and angle in radians, clockwise on the screen. */
import { IN_RADIANS, isInDegrees } from "../../core/crop.ts";
import { withoutSpareRows } from "../../core/counted-rows.ts";
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import { orderOf } from "./candidates.ts";
import { type OptionRules, UNIT, checkOptions, checkValue, oneOf } from "../../core/options.ts";
import { COMMON_RULES, IOU_GATE, checkLengths, isList } from "../../core/suppression.ts";
import { OrientedKeeper } from "./oriented-keep.ts";
import { LITTLE, ORIENTED_WIDTH, PolygonIou, ProbIou } from "./oriented-overlap.ts";

/** Options of `nmsOriented`. */
export interface OrientedOptions {
  /**
   * Overlap of two boxes. "probiou": overlap of their Gaussians, as Ultralytics uses. "polygon": overlap of their
   * areas, as OpenCV uses. Default "probiou".
   */
  readonly iou?: "probiou" | "polygon";
  /** "fast": suppressed boxes also suppress others, as in Ultralytics. "hard": greedy, as in OpenCV. Default "fast". */
  readonly method?: "fast" | "hard";
  /** Default 0.45. */
  readonly iouThreshold?: number;
  /** ">": suppress above the threshold. ">=": also at the threshold. Default: ">=" for "fast", ">" for "hard". */
  readonly iouGate?: ">" | ">=";
  /** Boxes with this score or a lower one are ignored. Default: none are ignored. */
  readonly scoreThreshold?: number;
  /** Largest number of indices that are returned. Default: all. */
  readonly maxDetections?: number;
  /** Class id of each box: boxes suppress each other only within a class. Default: one class. */
  readonly classIds?: ArrayLike<number>;
}

const RULES: OptionRules = {
  ...COMMON_RULES,
  iou: oneOf(["probiou", "polygon"]),
  method: oneOf(["fast", "hard"]),
  iouThreshold: UNIT,
  iouGate: IOU_GATE,
};

/**
 * Returns the overlap of two oriented boxes: centre x, centre y, width, height, angle in radians. Polygon IoU is exact.
 * ProbIoU compares Gaussians: equal boxes have 0.99955, and boxes that only touch have more than 0.
 * @throws RangeError for invalid boxes, and for whole-numbered angles beyond two turns, which are in degrees
 * @example
 * import { orientedIou } from "boxwright";
 *
 * const a = [0, 0, 50, 20, 0.3];
 * const b = [5, 3, 48, 22, 0.4];
 * console.log(orientedIou(a, b, "polygon").toFixed(6), orientedIou(a, b, "probiou").toFixed(6)); // 0.691604 0.822876
 */
export function orientedIou(a: ArrayLike<number>, b: ArrayLike<number>, kind: "probiou" | "polygon"): number {
  checkValue("iou", kind, RULES.iou);
  for (const [name, box] of Object.entries({ a, b }))
    if (!isList(box) || box.length !== ORIENTED_WIDTH || !Array.from(box).every(Number.isFinite))
      refuseValue(name, show(box), "[cx, cy, width, height, angle]");
    else if (isInDegrees(box[4])) refuseValue(name, `the angle ${box[4]}`, IN_RADIANS);
  const both = Array.from({ length: 2 * ORIENTED_WIDTH }, (_, i) =>
    i < ORIENTED_WIDTH ? a[i] : b[i - ORIENTED_WIDTH],
  );
  checkBoxes(both, kind);
  const overlaps = kind === "polygon" ? new PolygonIou() : new ProbIou();
  overlaps.read(both, 2, 0);
  return Math.max(0, overlaps.of(0, 1));
}

/** Largest plausible angle in radians: two turns. */
const MOST_ANGLE = 4 * Math.PI;
/** Smallest area that ProbIoU measures well: the product of both variances is then 1000 times the 1e-7 that it adds. */
const LEAST_AREA = 12 * Math.sqrt(1000 * LITTLE);

/** Throws if boxes have negative sides, if most angles are in degrees, or if the boxes are too small for ProbIoU. */
function checkBoxes(boxes: ArrayLike<number>, iou: "probiou" | "polygon"): void {
  const n = boxes.length / ORIENTED_WIDTH;
  let farthest = 0;
  let smallest = Infinity;
  let beyond = 0;
  for (let at = 0; at < boxes.length; at += ORIENTED_WIDTH) {
    const width = boxes[at + 2];
    const height = boxes[at + 3];
    if (width < 0 || height < 0)
      refuseValue(
        `box ${at / ORIENTED_WIDTH}`,
        `width ${width}, height ${height}`,
        "centre x, centre y, width, height, angle: no corners",
      );
    if (Math.abs(boxes[at + 4]) > MOST_ANGLE) beyond++;
    if (width * height > 0) smallest = Math.min(smallest, width * height);
    for (let k = 0; k < 4; k++) farthest = Math.max(farthest, Math.abs(boxes[at + k]));
  }
  if (beyond * 2 > n)
    refuseValue("boxes", `${beyond} of ${n} angles beyond two turns`, "radians, not degrees");
  if (iou === "probiou" && farthest <= 1 && smallest < LEAST_AREA)
    refuseValue(
      "boxes",
      `no coordinate above ${farthest}`,
      'boxes in pixels: ProbIoU adds a constant to their areas. iou: "polygon" takes any unit',
    );
}

/**
 * Suppresses oriented boxes. The default is Ultralytics' rule: ProbIoU, and a suppressed box suppresses too. The rule
 * of OpenCV's NMSBoxesRotated is `{ iou: "polygon", method: "hard" }`.
 * @param boxes rows of centre x, centre y, width, height, angle in radians, in a unit in which both axes count alike
 * @param scores one for each box. A box is left out if its score is NaN or one of its values is not finite
 * @returns indices of the kept boxes in order of score, ties by index
 * @throws RangeError for wrong lengths, for unknown options or values, for negative sizes, for angles in degrees, and
 * for boxes in 0..1 with ProbIoU
 * @example
 * import { nmsOriented } from "boxwright";
 *
 * const boxes = [50, 50, 80, 20, 0.5, 51, 50, 80, 20, 0.55, 50, 50, 80, 20, 2.07]; // the third stands across
 * console.log([...nmsOriented(boxes, [0.9, 0.8, 0.7], { iou: "polygon", method: "hard" })]); // [0,2]
 */
export function nmsOriented(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  options: OrientedOptions = {},
): Int32Array {
  const given = checkOptions(options, RULES);
  const { iou = "probiou", method = "fast", iouThreshold = 0.45, scoreThreshold = -Infinity } = given;
  let classIds = given.classIds ?? null;
  ({ boxes, scores, classIds } = withoutSpareRows({ boxes, scores, classIds }, ORIENTED_WIDTH));
  checkLengths(boxes, scores, classIds, ORIENTED_WIDTH, scoreThreshold);
  checkBoxes(boxes, iou);
  const orEqual = (given.iouGate ?? (method === "fast" ? ">=" : ">")) === ">=";
  const all = Float64Array.from(boxes);
  const order = orderOf(all, ORIENTED_WIDTH, scores, scoreThreshold);
  const n = order.length;
  const sorted = new Float64Array(n * ORIENTED_WIDTH);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < ORIENTED_WIDTH; k++)
      sorted[i * ORIENTED_WIDTH + k] = all[order[i] * ORIENTED_WIDTH + k];
  const classes = classIds === null ? null : Array.from(order, (row) => classIds[row]);
  const keeper = new OrientedKeeper({ iou, method, orEqual });
  const count = keeper.keep(sorted, n, classes, options.maxDetections ?? Infinity, iouThreshold);
  return keeper.kept.subarray(0, count).map((i) => order[i]);
}
