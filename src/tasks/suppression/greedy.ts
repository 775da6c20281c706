/** Methods that keep or drop a box, but change neither box nor score: greedy suppression, Fast NMS and DIoU-NMS. */
import { type Candidates, type Outcome, diouOf, iouOf, isSameClass } from "./candidates.ts";
import { Neighbours } from "./near.ts";

/** True if `better`, the row with the higher score, suppresses `row`. */
export type Suppresses = (better: number, row: number) => boolean;

/** A test of two rows. `matchApart` is true if rows without overlap can pass the test. */
export interface Test {
  readonly suppresses: Suppresses;
  readonly matchApart: boolean;
}

/** Returns the test by IoU, or by DIoU if `beta` is given. */
export const byOverlap = (c: Candidates, threshold: number, orEqual: boolean, beta?: number): Test => ({
  suppresses: (better, row) => {
    if (!isSameClass(c, better, row)) return false;
    const overlap = beta === undefined ? iouOf(c, better, row) : diouOf(c, better, row, beta);
    return orEqual ? overlap >= threshold : overlap > threshold;
  },
  // Rows without overlap have an IoU of 0, and a DIoU of at most 0.
  matchApart: orEqual ? threshold <= 0 : threshold < 0,
});

/** Keeps a row unless a kept row with a higher score suppresses it. */
export function keepGreedily(c: Candidates, max: number, test: Test): number[] {
  const isKept = new Uint8Array(c.order.length);
  const kept: number[] = [];
  const isSuppressed = suppressedIn(c, test, kept, (rank) => isKept[rank] === 1);
  for (let rank = 0; rank < c.order.length && kept.length < max; rank++) {
    if (isSuppressed(rank)) continue;
    kept.push(c.order[rank]);
    isKept[rank] = 1;
  }
  return kept;
}

/** Keeps a row unless any row with a higher score suppresses it, kept or not (Fast NMS of YOLACT). */
export function keepFast(c: Candidates, max: number, test: Test): number[] {
  const kept: number[] = [];
  const better: number[] = [];
  const isSuppressed = suppressedIn(c, test, better, () => true);
  for (let rank = 0; rank < c.order.length && kept.length < max; rank++) {
    if (!isSuppressed(rank)) kept.push(c.order[rank]);
    better.push(c.order[rank]);
  }
  return kept;
}

/** Count of listed rows that are compared without a grid. With it, 8,400 boxes of 100 objects need no grid. */
const TRIED_FIRST = 256;

/** Returns a test: true if a row of `list` suppresses the row of a rank. `isListed`: true for the ranks in `list`. */
function suppressedIn(
  c: Candidates,
  { suppresses, matchApart }: Test,
  list: readonly number[],
  isListed: (rank: number) => boolean,
): (rank: number) => boolean {
  let near: Neighbours | null = null;
  return (rank) => {
    const row = c.order[rank];
    for (let i = 0; i < list.length && i < TRIED_FIRST; i++) if (suppresses(list[i], row)) return true;
    if (list.length <= TRIED_FIRST) return false;
    near ??= new Neighbours(c, matchApart);
    near.find(rank);
    for (let k = 0; k < near.count; k++) {
      const better = near.ranks[k];
      if (better < rank && isListed(better) && suppresses(c.order[better], row)) return true;
    }
    return false;
  };
}

/** Returns the outcome for kept rows, with unchanged boxes and scores. */
export const unchanged = (c: Candidates, rows: readonly number[]): Outcome => ({
  rows,
  scores: rows.map((row) => c.scores[row]),
  corners: null,
  members: null,
});
