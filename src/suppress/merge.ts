/** Methods that merge several boxes into one. */
import { type Candidates, type Outcome, iosOf, iouOf, isSameClass } from "./candidates.ts";
import { byOverlap, keepGreedily } from "./greedy.ts";

/** Returns the mean of the rows' corners by weight. */
function meanBox(
  { corners }: Candidates,
  rows: readonly number[],
  weightOf: (row: number) => number,
): number[] {
  const mean = [0, 0, 0, 0];
  let sum = 0;
  for (const row of rows) {
    const weight = weightOf(row);
    sum += weight;
    for (let k = 0; k < 4; k++) mean[k] += weight * corners[row * 4 + k];
  }
  // Return the first box, the best one, if all weights are 0.
  return mean.map((v, k) => (sum > 0 ? v / sum : corners[rows[0] * 4 + k]));
}

/** Returns one box for each group: the first row's score, and corners by `boxOf`. */
const merged = (
  c: Candidates,
  groups: readonly (readonly number[])[],
  boxOf: (rows: readonly number[]) => readonly number[],
): Outcome => ({
  rows: groups.map(([first]) => first),
  scores: groups.map(([first]) => c.scores[first]),
  corners: groups.flatMap(boxOf),
  members: groups,
});

/**
 * Groups the rows. The best row takes all rows of its class that match it, then the best of the remaining rows does.
 * @param takes true if a row joins the group of the best one
 */
function groupByBest(c: Candidates, max: number, takes: (best: number, row: number) => boolean): number[][] {
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

/** Averages the best box and all that it overlaps, by score (MediaPipe). */
export const mergeWeighted = (c: Candidates, threshold: number, max: number): Outcome =>
  merged(
    c,
    groupByBest(c, max, (best, row) => iouOf(c, best, row) > threshold),
    (rows) => meanBox(c, rows, (row) => c.scores[row]),
  );

/**
 * Suppresses greedily, then averages each kept box with every box above the threshold, suppressed by this one or by
 * another (YOLOv5 with --merge).
 */
export function mergeAfter(c: Candidates, threshold: number, max: number): Outcome {
  const kept = keepGreedily(c.order, max, byOverlap(c, threshold, false));
  const groups = kept.map((row) => [
    row,
    ...Array.from(c.order).filter(
      (other) => other !== row && isSameClass(c, row, other) && iouOf(c, row, other) > threshold,
    ),
  ]);
  return merged(c, groups, (rows) => meanBox(c, rows, (row) => c.scores[row]));
}

/**
 * Adds each box to the group whose first box it overlaps most, then averages each group. Weights are score x IoU with
 * the first box (NMW).
 */
export function mergeNmw(c: Candidates, threshold: number, max: number): Outcome {
  const groups: number[][] = [];
  for (const row of c.order) {
    let best: number[] | null = null;
    let largest = threshold;
    for (const group of groups) {
      const overlap = isSameClass(c, group[0], row) ? iouOf(c, group[0], row) : 0;
      if (overlap > largest) [best, largest] = [group, overlap];
    }
    if (best === null) groups.push([row]);
    else best.push(row);
  }
  return merged(c, groups.slice(0, max), ([first, ...others]) =>
    meanBox(c, [first, ...others], (row) => c.scores[row] * (row === first ? 1 : iouOf(c, first, row))),
  );
}

/** The overlap at which two boxes are merged: its measure and its threshold. */
export interface MatchRule {
  readonly metric: "iou" | "ios";
  readonly threshold: number;
}

export const matchOf = (c: Candidates, metric: MatchRule["metric"], a: number, b: number): number =>
  metric === "iou" ? iouOf(c, a, b) : iosOf(c, a, b);

/** Groups the rows. The best row takes every free row that matches it, then the next free row does. */
export const groupGreedily = (c: Candidates, { metric, threshold }: MatchRule, max: number): number[][] =>
  groupByBest(c, max, (best, row) => matchOf(c, metric, best, row) >= threshold);

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
      if (matchOf(c, metric, row, other) >= threshold) claims.push(other);
    }
    // Add claims in the order of the rows, as the published method does: the order of a group changes the merged box.
    for (const other of claims.sort((x, y) => x - y)) {
      group.push(other);
      groupOf.set(other, group);
    }
  });
  return groups;
}
