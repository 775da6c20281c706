/** Methods that merge several boxes into one. */
import { type Candidates, type Outcome, iouOf, isSameClass } from "./candidates.ts";
import { byOverlap, keepGreedily } from "./greedy.ts";
import { groupByBest } from "./groups.ts";
import { Neighbours } from "./near.ts";
import { Strips } from "./strips.ts";

/** Returns the mean of the rows' corners, weighted by `weightOf`. */
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
  // Return the first row's box, which is the best one, if all weights are 0.
  return mean.map((v, k) => (sum > 0 ? v / sum : corners[rows[0] * 4 + k]));
}

/** Returns one box for each group: the score of the first row, and the corners that `boxOf` returns. */
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

/** Averages the best box with all boxes whose IoU with it is above the threshold, weighted by score (MediaPipe). */
export const mergeWeighted = (c: Candidates, threshold: number, max: number): Outcome =>
  outcomeOfGroups(
    c,
    groupByBest(c, max, new Neighbours(c), (best, row) => iouOf(c, best, row) > threshold),
    (rows) => meanBox(c, rows, (row) => c.scores[row]),
  );

/** Suppresses greedily, then averages each kept box with all boxes that overlap it too much (YOLOv5's --merge). */
export function mergeIntoKept(c: Candidates, threshold: number, max: number): Outcome {
  const kept = keepGreedily(c, max, byOverlap(c, threshold, false));
  const near = new Neighbours(c);
  const rankOf = new Int32Array(c.classIds.length);
  c.order.forEach((row, rank) => (rankOf[row] = rank));
  const groups = kept.map((row) => {
    near.findBestFirst(rankOf[row]);
    const group = [row];
    for (let k = 0; k < near.count; k++) {
      const other = c.order[near.ranks[k]];
      if (other !== row && isSameClass(c, row, other) && iouOf(c, row, other) > threshold) group.push(other);
    }
    return group;
  });
  return outcomeOfGroups(c, groups, (rows) => meanBox(c, rows, (row) => c.scores[row]));
}

/** Largest count of groups that are compared one by one. If there are more, a grid finds the groups that overlap. */
const FEW_GROUPS = 256;

/** Averages groups with weights score x IoU (NMW). Each box is in the group whose first box it overlaps most. */
export function mergeNmw(c: Candidates, threshold: number, max: number): Outcome {
  const near = new Strips(
    c,
    c.order.map((_, rank) => rank),
  );
  const groups: number[][] = [];
  /** The group that the row of each rank began. */
  const begunBy: (number[] | undefined)[] = [];
  c.order.forEach((row, rank) => {
    let best: number[] | null = null;
    let largest = threshold;
    if (groups.length <= FEW_GROUPS)
      for (const group of groups) {
        const overlap = isSameClass(c, group[0], row) ? iouOf(c, group[0], row) : 0;
        if (overlap > largest) [best, largest] = [group, overlap];
      }
    else {
      near.find(rank);
      const { ranks, overlaps, count } = near;
      let bestRank = -1;
      for (let k = 0; k < count; k++) {
        const group = begunBy[ranks[k]];
        if (group === undefined || !(overlaps[k] >= largest)) continue;
        // If overlaps are equal, take the better box, which has the lower rank. Ignore an overlap that only equals the
        // threshold.
        if (overlaps[k] === largest && (bestRank < 0 || ranks[k] > bestRank)) continue;
        [best, largest, bestRank] = [group, overlaps[k], ranks[k]];
      }
    }
    if (best === null) groups.push((begunBy[rank] = [row]));
    else {
      best.push(row);
      near.drop(rank);
    }
  });
  return outcomeOfGroups(c, groups.slice(0, max), ([first, ...others]) =>
    meanBox(c, [first, ...others], (row) => c.scores[row] * (row === first ? 1 : iouOf(c, first, row))),
  );
}
