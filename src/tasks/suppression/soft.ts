/** Methods that lower scores: soft suppression and matrix suppression. */
import { type Candidates, type Outcome, iouOf, isSameClass } from "./candidates.ts";
import { Neighbours } from "./near.ts";

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
  const { order } = c;
  const near = new Neighbours(c);
  /** Remaining ranks in no order, their scores, and the place of each rank among them; -1 for a kept one. */
  const remaining = order.map((_, rank) => rank);
  const scores = Float64Array.from(order, (row) => c.scores[row]);
  const placeOf = Int32Array.from(remaining);
  let n = remaining.length;
  const rows: number[] = [];
  const keptScores: number[] = [];
  while (n > 0 && rows.length < max) {
    let best = 0;
    for (let i = 1; i < n; i++)
      if (
        scores[i] > scores[best] ||
        (scores[i] === scores[best] && order[remaining[i]] < order[remaining[best]])
      )
        best = i;
    const rank = remaining[best];
    const row = order[rank];
    const score = scores[best];
    if (!passes(score)) break;
    if (score === 0) {
      // All remaining scores are 0 and stay so: boxes on one spot come here after a few hundred rounds. Ties go by row.
      const rest = Int32Array.from(remaining.subarray(0, n), (other) => order[other]).sort();
      for (const other of rest.subarray(0, max - rows.length)) {
        rows.push(other);
        keptScores.push(0);
      }
      break;
    }
    rows.push(row);
    keptScores.push(score);
    n--;
    remaining[best] = remaining[n];
    scores[best] = scores[n];
    placeOf[remaining[best]] = best;
    placeOf[rank] = -1;
    near.find(rank);
    for (let k = 0; k < near.count; k++) {
      const other = near.ranks[k];
      if (placeOf[other] < 0 || scores[placeOf[other]] === 0 || !isSameClass(c, row, order[other])) continue;
      const overlap = iouOf(c, row, order[other]);
      // Every decay is 1 without overlap.
      if (overlap > 0) scores[placeOf[other]] *= decay(overlap);
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
  const near = new Neighbours(c);
  /** Decay of each box by its largest IoU with a better one. */
  const decays = new Float64Array(n);
  const ious = new Float64Array(n);
  const remaining: [row: number, score: number][] = [];
  for (let j = 0; j < n; j++) {
    const row = c.order[j];
    let factor = 1;
    let covered = 0;
    near.find(j);
    for (let k = 0; k < near.count; k++) {
      const i = near.ranks[k];
      ious[k] = i < j && isSameClass(c, c.order[i], row) ? iouOf(c, c.order[i], row) : 0;
      if (ious[k] > covered) covered = ious[k];
    }
    decays[j] = decay(covered);
    for (let k = 0; k < near.count; k++) {
      // Without overlap the factor is 1 or more.
      if (ious[k] === 0) continue;
      const decayOfBetter = decays[near.ranks[k]];
      // Skip a better box whose own decay is 0: the quotient would be undefined, and its own score is lowered to 0.
      if (decayOfBetter > 0) factor = Math.min(factor, decay(ious[k]) / decayOfBetter);
    }
    const score = c.scores[row] * factor;
    if (passes(score)) remaining.push([row, score]);
  }
  const kept = remaining.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, max);
  return {
    rows: kept.map(([row]) => row),
    scores: kept.map(([, score]) => score),
    corners: null,
    members: null,
  };
}
