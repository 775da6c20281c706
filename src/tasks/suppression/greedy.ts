/** Methods that keep or drop a box and change neither box nor score: greedy suppression, Fast NMS and DIoU-NMS. */
import { type Candidates, type Outcome, diouOf, iouOf, isSameClass } from "./candidates.ts";

/** True if `better`, the row with the higher score, suppresses `row`. */
export type Suppresses = (better: number, row: number) => boolean;

/** Returns the test by IoU, or by DIoU if `beta` is given. */
export function byOverlap(c: Candidates, threshold: number, orEqual: boolean, beta?: number): Suppresses {
  return (better, row) => {
    if (!isSameClass(c, better, row)) return false;
    const overlap = beta === undefined ? iouOf(c, better, row) : diouOf(c, better, row, beta);
    return orEqual ? overlap >= threshold : overlap > threshold;
  };
}

/** Keeps a row unless a better row that was kept suppresses it. */
export function keepGreedily(order: ArrayLike<number>, max: number, suppresses: Suppresses): number[] {
  const kept: number[] = [];
  for (let i = 0; i < order.length && kept.length < max; i++) {
    const row = order[i];
    let k = 0;
    while (k < kept.length && !suppresses(kept[k], row)) k++;
    if (k === kept.length) kept.push(row);
  }
  return kept;
}

/** Keeps a row unless any better row suppresses it, kept or not (Fast NMS of YOLACT). */
export function keepFast(order: ArrayLike<number>, max: number, suppresses: Suppresses): number[] {
  const kept: number[] = [];
  for (let i = 0; i < order.length && kept.length < max; i++) {
    const row = order[i];
    let k = 0;
    while (k < i && !suppresses(order[k], row)) k++;
    if (k === i) kept.push(row);
  }
  return kept;
}

/** Returns the outcome of kept rows whose boxes and scores did not change. */
export const unchanged = (c: Candidates, rows: readonly number[]): Outcome => ({
  rows,
  scores: rows.map((row) => c.scores[row]),
  corners: null,
  members: null,
});
