/** Soft suppression: boxes that overlap a kept box lose a part of their scores. */
import type { Candidates, Outcome } from "./candidates.ts";
import { ScoreHeap } from "./score-heap.ts";
import { Strips } from "./strips.ts";

/** Returns the factor for the score of a box from the box's IoU with a better box. */
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

/** Keeps the best box, lowers the scores of boxes that overlap it, and repeats until none passes or `max` are kept. */
export function keepSoftly(
  c: Candidates,
  decay: Decay,
  passes: (score: number) => boolean,
  max: number,
): Outcome {
  const { order } = c;
  const scores = Float64Array.from(order, (row) => c.scores[row]);
  // Scores only fall, so a score that fails the threshold or is 0 need not be exact.
  const isOpen = (score: number): boolean => score !== 0 && passes(score);
  const near = new Strips(
    c,
    order.map((_, rank) => rank).filter((rank) => isOpen(scores[rank])),
  );
  const remaining = new ScoreHeap(scores, order);
  const rows: number[] = [];
  const keptScores: number[] = [];
  while (remaining.length > 0 && rows.length < max) {
    const rank = remaining.best;
    const row = order[rank];
    const score = scores[rank];
    if (!passes(score)) break;
    if (score === 0) {
      // All remaining scores are 0 and cannot change, for instance after some hundred rounds over boxes at the same
      // place. Order them by row.
      const rest = remaining
        .ranks()
        .map((other) => order[other])
        .sort();
      for (const other of rest.subarray(0, max - rows.length)) {
        rows.push(other);
        keptScores.push(0);
      }
      break;
    }
    rows.push(row);
    keptScores.push(score);
    remaining.takeBest();
    near.drop(rank);
    near.find(rank);
    const { ranks, overlaps, count } = near;
    for (let k = 0; k < count; k++) {
      const other = ranks[k];
      // Boxes without overlap have a decay of 1.
      const fallen = scores[other] * decay(overlaps[k]);
      scores[other] = fallen;
      if (!isOpen(fallen)) near.drop(other);
    }
  }
  return { rows, scores: keptScores, corners: null, members: null };
}
