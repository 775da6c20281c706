/** Groups the rows of boxes that overlap. `merge.ts` averages groups, `tiles/merge.ts` merges groups across tiles. */
import { type Candidates, iosOf, iouOf, isSameClass } from "./candidates.ts";
import { Neighbours } from "./near.ts";
import { Crowd, type RankedBoxes } from "./ranked.ts";

/** Groups the rows: the best row takes all rows of its class that match, then the best remaining row, and so on. */
export function groupByBest(
  c: Candidates,
  max: number,
  near: Neighbours,
  takes: (best: number, row: number) => boolean,
): number[][] {
  const groups: number[][] = [];
  const isTaken = new Uint8Array(c.order.length);
  for (let rank = 0; rank < c.order.length && groups.length < max; rank++) {
    if (isTaken[rank] === 1) continue;
    const best = c.order[rank];
    const group = [best];
    near.findBestFirst(rank);
    for (let k = 0; k < near.count; k++) {
      const other = near.ranks[k];
      const row = c.order[other];
      if (other <= rank || isTaken[other] === 1 || !isSameClass(c, best, row) || !takes(best, row)) continue;
      isTaken[other] = 1;
      group.push(row);
    }
    groups.push(group);
  }
  return groups;
}

/** Rule for the match of two boxes: a measure of overlap, and its smallest value. */
export interface MatchRule {
  readonly metric: "iou" | "ios";
  readonly threshold: number;
}

/** Returns the overlap of two rows by a measure. */
export const overlapBy = (c: Candidates, metric: MatchRule["metric"], a: number, b: number): number =>
  metric === "iou" ? iouOf(c, a, b) : iosOf(c, a, b);

/** Returns the neighbours of rows under a rule. With a threshold of 0, all rows are: rows without overlap match too. */
const neighboursFor = (c: Candidates, { threshold }: MatchRule): Neighbours =>
  new Neighbours(c, threshold <= 0);

/**
 * Groups the rows. The best row takes every free row that matches it. Then the next free row takes its matches, and so
 * on.
 */
export const groupGreedily = (c: Candidates, rule: MatchRule, max: number): number[][] =>
  groupByBest(
    c,
    max,
    neighboursFor(c, rule),
    (best, row) => overlapBy(c, rule.metric, best, row) >= rule.threshold,
  );

/** Groups the rows transitively: a row joins a group if it matches any member. A row that began a group stays there. */
export function groupTransitively(c: Candidates, rule: MatchRule): number[][] {
  const { metric, threshold } = rule;
  const { order } = c;
  const near = neighboursFor(c, rule);
  const crowd = new Crowd(c);
  const overlaps = new Float64Array(order.length);
  let ranked: RankedBoxes | null = null;
  /** Group of each rank. */
  const groupOf: (number[] | undefined)[] = Array(order.length).fill(undefined);
  const groups: number[][] = [];
  /** Ranks after the current one that have no group yet. */
  let free = Int32Array.from(order, (_, rank) => rank);
  for (let place = 0; place < order.length; place++) {
    const row = order[place];
    let group = groupOf[place];
    if (group === undefined) groups.push((groupOf[place] = group = [row]));
    // A row may take only rows with lower scores into its group.
    const claims: number[] = [];
    if (ranked) {
      free = free.filter((rank) => rank > place && groupOf[rank] === undefined);
      if (free.length === 0) break;
      ranked.overlapsWith(place, free, free.length, metric, overlaps);
      for (let k = 0; k < free.length; k++) if (overlaps[k] >= threshold) claims.push(free[k]);
    } else {
      near.find(place);
      for (let k = 0; k < near.count; k++) {
        const rank = near.ranks[k];
        if (rank <= place || groupOf[rank] !== undefined || !isSameClass(c, row, order[rank])) continue;
        if (overlapBy(c, metric, row, order[rank]) >= threshold) claims.push(rank);
      }
      ranked = crowd.count(near.count);
    }
    // Add the lowest row number first, as SAHI does: in `tiles/merge.ts`, the order changes the box of the second test.
    for (const rank of claims.sort((x, y) => order[x] - order[y])) {
      group.push(order[rank]);
      groupOf[rank] = group;
    }
  }
  return groups;
}
