/** Suppression by a named method. Each method works as its reference defines it. */
import { withoutSpareRows } from "../../core/counted-rows.ts";
import { refuseValue } from "../../core/errors.ts";
import { type Candidates, type Outcome, orderOf, readCorners, writeBox } from "./candidates.ts";
import { byOverlap, keepFast, keepGreedily, unchanged } from "./greedy.ts";
import { mergeIntoKept, mergeNmw, mergeWeighted } from "./merge.ts";
import { type Settings, type SuppressOptions, checkLengths, settingsOf } from "../../core/suppression.ts";
import { type MatrixKernel, keepByMatrix } from "./matrix.ts";
import { gaussianDecay, keepSoftly, linearDecay, tensorflowDecay } from "./soft.ts";

/** The boxes that `suppress` keeps, best first. */
export interface Suppressed {
  /** Row of each kept box. */
  readonly indices: Int32Array;
  /** Score of each box. "soft-linear", "soft-gaussian", "soft-tensorflow" and "matrix" lower it. */
  readonly scores: Float32Array;
  /** Four values per box, in the format of the input. Methods that merge return the merged boxes. */
  readonly boxes: Float32Array;
  /**
   * Rows that were merged into each box, the box's own row first. Null for methods that do not merge. To merge
   * keypoints, average the keypoints of these rows, weighted by score.
   */
  readonly members: readonly (readonly number[])[] | null;
}

function candidatesOf(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  { boxFormat, classIds, scoreThreshold, pixelOffset }: Settings,
): Candidates {
  const n = scores.length;
  const corners = readCorners(boxes, n, boxFormat);
  return {
    corners,
    scores: Float64Array.from(scores),
    classIds: classIds === null ? new Int32Array(n) : Int32Array.from(classIds),
    order: orderOf(corners, 4, scores, scoreThreshold),
    offset: pixelOffset,
  };
}

/** Methods that accept negative scores: they only compare scores, or drop negative ones ("soft-tensorflow"). */
const TAKE_NEGATIVES = ["hard", "fast", "diou", "soft-tensorflow"];

/** Throws if a method that multiplies scores got negative ones, which would rise, or infinite ones. */
function checkScores({ order, scores }: Candidates, method: Settings["method"]): void {
  const ends = [order[0], order[order.length - 1]];
  const wrong = ends.find((row) => scores[row] < 0 || scores[row] === Infinity);
  if (wrong !== undefined && !TAKE_NEGATIVES.includes(method))
    refuseValue(
      `scores[${wrong}]`,
      `${scores[wrong]} for "${method}", which multiplies scores`,
      "scores from 0 up: apply the sigmoid to logits, or give scoreThreshold: 0",
    );
}

const matrixKernel = ({ kernel, sigma }: Settings): MatrixKernel =>
  kernel === "linear"
    ? { decay: linearDecay(0), sigma: null }
    : { decay: gaussianDecay(1 / sigma), sigma: 1 / sigma };

/** Suppresses candidates by the method of the settings. */
export function outcomeOf(c: Candidates, o: Settings): Outcome {
  const { iouThreshold: iou, maxDetections: max, sigma } = o;
  // Compare lowered scores in f32 too, since callers get them in f32.
  const limit = Math.fround(o.scoreThreshold);
  const isLeft = (score: number): boolean => Math.fround(score) >= limit;
  switch (o.method) {
    case "hard":
      return unchanged(c, keepGreedily(c, max, byOverlap(c, iou, o.iouGate === ">=")));
    case "fast":
      return unchanged(c, keepFast(c, max, byOverlap(c, iou, o.iouGate === ">=")));
    case "diou":
      return unchanged(c, keepGreedily(c, max, byOverlap(c, iou, o.iouGate === ">=", o.beta)));
    case "soft-linear":
      return keepSoftly(c, linearDecay(iou), isLeft, max);
    case "soft-gaussian":
      return keepSoftly(c, gaussianDecay(sigma), isLeft, max);
    case "soft-tensorflow":
      // Like TensorFlow, drop a score that equals the threshold. Without a threshold, drop scores that fell to 0.
      return keepSoftly(
        c,
        tensorflowDecay(sigma, iou),
        (score) => Math.fround(score) > Math.max(limit, 0),
        max,
      );
    case "matrix":
      return keepByMatrix(c, matrixKernel(o), isLeft, max);
    case "weighted":
      return mergeWeighted(c, iou, max);
    case "merge":
      return mergeIntoKept(c, iou, max);
    case "nmw":
      return mergeNmw(c, iou, max);
  }
}

/**
 * Suppresses boxes by a named method. Overlaps are computed in doubles. For `method: "hard"`, `nms` is faster: the
 * kernel computes in f32.
 * @param boxes four values a box, in any unit; "diou" needs the same unit on both axes
 * @param scores one for each box. A box is left out if its score is NaN or one of its values is not finite
 * @returns rows, scores and boxes of the kept boxes, best first, ties by row
 * @throws RangeError for wrong lengths, for unknown options, for options of another method, and for negative scores if
 * the method multiplies them
 * @example
 * import { suppress } from "boxwright";
 *
 * const boxes = [0, 0, 10, 10, 2, 0, 12, 10, 20, 0, 30, 10]; // the IoU of the first two is 2/3
 * const scores = [0.9, 0.8, 0.7];
 * const soft = suppress(boxes, scores, { method: "soft-gaussian", sigma: 0.5 });
 * console.log([...soft.indices], soft.scores[2].toFixed(6)); // [0,2,1] 0.328890
 * const merged = suppress(boxes, scores, { method: "weighted" });
 * console.log([...merged.indices], merged.boxes[0].toFixed(6), merged.members); // [0,2] 0.941176 [[0,1],[2]]
 */
export function suppress(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  options: SuppressOptions = {},
): Suppressed {
  const given = settingsOf(options);
  const lists = withoutSpareRows({ boxes, scores, classIds: given.classIds }, 4);
  ({ boxes, scores } = lists);
  const settings = { ...given, classIds: lists.classIds };
  checkLengths(boxes, scores, settings.classIds, 4, settings.scoreThreshold);
  const candidates = candidatesOf(boxes, scores, settings);
  checkScores(candidates, settings.method);
  const outcome = outcomeOf(candidates, settings);
  const { rows, corners, members } = outcome;
  const remaining = new Float32Array(rows.length * 4);
  rows.forEach((row, i) => {
    if (corners !== null) writeBox(remaining, i * 4, corners, i * 4, settings.boxFormat);
    else for (let k = 0; k < 4; k++) remaining[i * 4 + k] = boxes[row * 4 + k];
  });
  return {
    indices: Int32Array.from(rows),
    scores: Float32Array.from(outcome.scores),
    boxes: remaining,
    members,
  };
}
