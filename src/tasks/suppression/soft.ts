/** Methods that lower scores: soft suppression and matrix suppression. */
import { type Candidates, type Outcome, iouOf, isSameClass } from "./candidates.ts";

/** Returns the factor for the score of a box from its IoU with a better one. */
export type Decay = (iou: number) => number;

/** Bodla's linear form: 1 - IoU above the threshold, else 1. */
export const linearDecay =
  (threshold: number): Decay =>
  (iou) =>
    iou > threshold ? 1 - iou : 1;

/** Bodla's Gaussian form: exp(-IoU^2 / sigma), at any IoU. */
export const gaussianDecay =
  (sigma: number): Decay =>
  (iou) =>
    Math.exp((-iou * iou) / sigma);

/** TensorFlow's Gaussian form: exp(-IoU^2 / (2 sigma)), and 0 above the threshold. */
export const tensorflowDecay =
  (sigma: number, threshold: number): Decay =>
  (iou) =>
    iou > threshold ? 0 : Math.exp((-0.5 * iou * iou) / sigma);

/**
 * Keeps the best remaining box and lowers the scores of the boxes that it overlaps, again and again. Ends when the best
 * remaining score does not pass, or when `max` boxes are kept.
 */
export function keepSoftly(
  c: Candidates,
  decay: Decay,
  passes: (score: number) => boolean,
  max: number,
): Outcome {
  const scores = Float64Array.from(c.order, (row) => c.scores[row]);
  const left = Int32Array.from(c.order);
  let n = left.length;
  const rows: number[] = [];
  const keptScores: number[] = [];
  while (n > 0 && rows.length < max) {
    let best = 0;
    for (let i = 1; i < n; i++)
      if (scores[i] > scores[best] || (scores[i] === scores[best] && left[i] < left[best])) best = i;
    const row = left[best];
    const score = scores[best];
    if (!passes(score)) break;
    rows.push(row);
    keptScores.push(score);
    n--;
    left[best] = left[n];
    scores[best] = scores[n];
    for (let i = 0; i < n; i++) {
      const overlap = isSameClass(c, row, left[i]) ? iouOf(c, row, left[i]) : 0;
      // Every decay is 1 without overlap, and most pairs have none.
      if (overlap > 0) scores[i] *= decay(overlap);
    }
  }
  return { rows, scores: keptScores, corners: null, members: null };
}

/**
 * Matrix suppression of SOLOv2. The factor of a score is the smallest decay(IoU with a better box) / decay(largest IoU
 * of that box with a box better still). Drops only boxes whose lowered score does not pass.
 */
export function keepByMatrix(
  c: Candidates,
  decay: Decay,
  passes: (score: number) => boolean,
  max: number,
): Outcome {
  const n = c.order.length;
  /** Largest IoU of each box with a better one. */
  const covered = new Float64Array(n);
  const ious = new Float64Array(n);
  const left: [row: number, score: number][] = [];
  for (let j = 0; j < n; j++) {
    const row = c.order[j];
    let factor = 1;
    for (let i = 0; i < j; i++) {
      ious[i] = isSameClass(c, c.order[i], row) ? iouOf(c, c.order[i], row) : 0;
      if (ious[i] > covered[j]) covered[j] = ious[i];
    }
    for (let i = 0; i < j; i++) {
      // Without overlap the factor is 1 or more.
      if (ious[i] === 0) continue;
      const own = decay(covered[i]);
      // Skip a better box whose own decay is 0: the quotient would be undefined, and its own score is lowered to 0.
      if (own > 0) factor = Math.min(factor, decay(ious[i]) / own);
    }
    const score = c.scores[row] * factor;
    if (passes(score)) left.push([row, score]);
  }
  const kept = left.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, max);
  return {
    rows: kept.map(([row]) => row),
    scores: kept.map(([, score]) => score),
    corners: null,
    members: null,
  };
}
