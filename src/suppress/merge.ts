/** Methods that make one box of several. */
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
  // Without weight, as of scores of 0, the best box stays.
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
 * Groups the rows: the best takes all that are left and match it, itself first; then the best of the rest.
 * @param takes says if a row joins the group of the best one
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

/** Each box joins the best box that it overlaps most; weights are score x IoU with that one (NMW). */
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

/** How two boxes are compared for a merge. */
export interface MatchRule {
  readonly metric: "iou" | "ios";
  readonly threshold: number;
}

export const matchOf = (c: Candidates, metric: MatchRule["metric"], a: number, b: number): number =>
  metric === "iou" ? iouOf(c, a, b) : iosOf(c, a, b);

/** Groups the rows: the best box claims every box that matches it and is free, then the next free one does. */
export const groupGreedily = (c: Candidates, { metric, threshold }: MatchRule, max: number): number[][] =>
  groupByBest(c, max, (best, row) => matchOf(c, metric, best, row) >= threshold);

/** Groups the rows as above, but a claimed box passes on what matches it too. A box that keeps is never claimed. */
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
    // Only what stands behind in the order of scores can be claimed.
    const claims: number[] = [];
    for (let i = place + 1; i < c.order.length; i++) {
      const other = c.order[i];
      if (groupOf.has(other) || !isSameClass(c, row, other)) continue;
      if (matchOf(c, metric, row, other) >= threshold) claims.push(other);
    }
    // Claims go in the order of the rows, as published.
    for (const other of claims.sort((x, y) => x - y)) {
      group.push(other);
      groupOf.set(other, group);
    }
  });
  return groups;
}
