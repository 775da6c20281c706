/** Methods that merge several boxes into one. */
import { type Candidates, type Outcome, iouOf, isSameClass } from "./candidates.ts";
import { byOverlap, keepGreedily } from "./greedy.ts";
import { groupByBest } from "./groups.ts";

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
const outcomeOfGroups = (
  c: Candidates,
  groups: readonly (readonly number[])[],
  boxOf: (rows: readonly number[]) => readonly number[],
): Outcome => ({
  rows: groups.map(([first]) => first),
  scores: groups.map(([first]) => c.scores[first]),
  corners: groups.flatMap(boxOf),
  members: groups,
});

/** Averages the best box and all boxes whose IoU with it is above the threshold, by score (MediaPipe). */
export const mergeWeighted = (c: Candidates, threshold: number, max: number): Outcome =>
  outcomeOfGroups(
    c,
    groupByBest(c, max, (best, row) => iouOf(c, best, row) > threshold),
    (rows) => meanBox(c, rows, (row) => c.scores[row]),
  );

/**
 * Suppresses greedily, then averages each kept box with every box whose IoU with it is above the threshold (YOLOv5 with
 * --merge). A box may take part in several averages.
 */
export function mergeIntoKept(c: Candidates, threshold: number, max: number): Outcome {
  const kept = keepGreedily(c.order, max, byOverlap(c, threshold, false));
  const groups = kept.map((row) => [
    row,
    ...Array.from(c.order).filter(
      (other) => other !== row && isSameClass(c, row, other) && iouOf(c, row, other) > threshold,
    ),
  ]);
  return outcomeOfGroups(c, groups, (rows) => meanBox(c, rows, (row) => c.scores[row]));
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
  return outcomeOfGroups(c, groups.slice(0, max), ([first, ...others]) =>
    meanBox(c, [first, ...others], (row) => c.scores[row] * (row === first ? 1 : iouOf(c, first, row))),
  );
}
