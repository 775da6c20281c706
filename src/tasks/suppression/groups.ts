/** Groups the rows of boxes that overlap. `merge.ts` averages such groups, `tiles/merge.ts` merges them over tiles. */
import { type Candidates, iosOf, iouOf, isSameClass } from "./candidates.ts";

/**
 * Groups the rows. The best row takes all rows of its class that match it, then the best of the remaining rows does.
 * @param takes true if a row joins the group of the best one
 */
export function groupByBest(
  c: Candidates,
  max: number,
  takes: (best: number, row: number) => boolean,
): number[][] {
  const groups: number[][] = [];
  let left = Array.from(c.order);
  while (left.length > 0 && groups.length < max) {
    const [best] = left;
    const group = [best];
    const rest: number[] = [];
    for (let i = 1; i < left.length; i++)
      (isSameClass(c, best, left[i]) && takes(best, left[i]) ? group : rest).push(left[i]);
    groups.push(group);
    left = rest;
  }
  return groups;
}

/** The overlap from which two boxes match: its measure, and the least value. */
export interface MatchRule {
  readonly metric: "iou" | "ios";
  readonly threshold: number;
}

/** Returns the overlap of two rows by a measure. */
export const overlapBy = (c: Candidates, metric: MatchRule["metric"], a: number, b: number): number =>
  metric === "iou" ? iouOf(c, a, b) : iosOf(c, a, b);

/** Groups the rows. The best row takes every free row that matches it, then the next free row does. */
export const groupGreedily = (c: Candidates, { metric, threshold }: MatchRule, max: number): number[][] =>
  groupByBest(c, max, (best, row) => overlapBy(c, metric, best, row) >= threshold);

/**
 * Groups the rows transitively: rows that match a member of a group join it too, not only those that match its first
 * row. A row that has begun a group never joins another.
 */
export function groupTransitively(c: Candidates, { metric, threshold }: MatchRule): number[][] {
  const groupOf = new Map<number, number[]>();
  const groups: number[][] = [];
  c.order.forEach((row, place) => {
    let group = groupOf.get(row);
    if (group === undefined) {
      group = [row];
      groups.push(group);
      groupOf.set(row, group);
    }
    // Claim only rows with lower scores.
    const claims: number[] = [];
    for (let i = place + 1; i < c.order.length; i++) {
      const other = c.order[i];
      if (groupOf.has(other) || !isSameClass(c, row, other)) continue;
      if (overlapBy(c, metric, row, other) >= threshold) claims.push(other);
    }
    // Add claims in the order of the rows, as the published method does: the order of a group changes the merged box.
    for (const other of claims.sort((x, y) => x - y)) {
      group.push(other);
      groupOf.set(other, group);
    }
  });
  return groups;
}
