/** Fuses the score of a detection of RF-DETR with the covariances of its keypoints. */
import { POINT_CHANNELS } from "./plan.ts";
import { KEYPOINT_WIDTH } from "./rows.ts";

/** Weight of the covariance: `trace_alpha` of rf-detr, models/postprocess.py. */
const TRACE_ALPHA = 0.2;

/**
 * Returns the score of rf-detr's `predict()`: sigmoid(ln score - 0.2 ln t). t is the mean trace of the covariances of
 * the points, weighted by the points' confidences.
 * @param raw channels of all points of the row
 * @param count points of the row
 * @param keypoints x, y and confidence of the points of all rows
 * @param at index of the row's first value in `keypoints`
 */
export function fuseScore(
  score: number,
  raw: Float64Array,
  count: number,
  keypoints: Float32Array,
  at: number,
): number {
  let sum = 0;
  let weights = 0;
  for (let k = 0; k < count; k++) {
    const first = k * POINT_CHANNELS;
    const [l11, l21, l22] = [raw[first + 4], raw[first + 5], raw[first + 6]];
    const weight = keypoints[at + k * KEYPOINT_WIDTH + 2];
    const trace = Math.exp(-2 * l11) + Math.exp(-2 * l22) + l21 * l21 * Math.exp(-2 * l11 - 2 * l22);
    sum += weight * trace;
    weights += weight;
  }
  return 1 / (1 + Math.exp(TRACE_ALPHA * Math.log(sum / weights)) / score);
}
