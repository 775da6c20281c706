/** Large inputs take other ways than small ones: they give what one short loop over all pairs gives. */
import { describe, expect, test } from "vitest";
import { fuse, suppress } from "../../../src/entries/index.ts";
import type { Candidates } from "../../../src/tasks/suppression/candidates.ts";
import { groupTransitively } from "../../../src/tasks/suppression/groups.ts";
import { ScoreHeap } from "../../../src/tasks/suppression/score-heap.ts";
import { mulberry32 } from "../../../bench/random.ts";

interface Scene {
  readonly boxes: Float64Array;
  readonly scores: number[];
  readonly classIds: number[];
}

/** Boxes of about `size` whose first corners lie in a square of `spread`. */
function sceneOf(n: number, spread: number, size: number, seed = 1): Scene {
  const random = mulberry32(seed);
  const boxes = new Float64Array(4 * n);
  for (let i = 0; i < n; i++) {
    const [x, y] = [random() * spread, random() * spread];
    boxes.set([x, y, x + size * (0.5 + random()), y + size * (0.5 + random())], 4 * i);
  }
  // A few scores are equal.
  const scores = Array.from({ length: n }, () => Math.ceil(random() * 200) / 200);
  return { boxes, scores, classIds: scores.map(() => (random() < 0.8 ? 0 : 1)) };
}

const CROWD = sceneOf(700, 40, 60);
const SPREAD = sceneOf(700, 400, 30);
const scenes = [
  ["a crowd", CROWD],
  ["few neighbours", SPREAD],
  [
    "one large box among small ones",
    { ...SPREAD, boxes: SPREAD.boxes.map((v, i) => (i < 4 ? [-9, -9, 900, 900][i] : v)) },
  ],
] as const;

function iou(b: ArrayLike<number>, i: number, c: ArrayLike<number>, j: number): number {
  const width = Math.min(b[4 * i + 2], c[4 * j + 2]) - Math.max(b[4 * i], c[4 * j]);
  const height = Math.min(b[4 * i + 3], c[4 * j + 3]) - Math.max(b[4 * i + 1], c[4 * j + 1]);
  if (!(width > 0 && height > 0)) return 0;
  const area = (d: ArrayLike<number>, k: number): number =>
    (d[4 * k + 2] - d[4 * k]) * (d[4 * k + 3] - d[4 * k + 1]);
  return (width * height) / (area(b, i) + area(c, j) - width * height);
}

/** Rows best first, ties by row. */
const orderOf = ({ scores }: Scene): number[] =>
  scores.map((_, row) => row).sort((a, b) => scores[b] - scores[a] || a - b);

const overlapOf = ({ boxes, classIds }: Scene, a: number, b: number): number =>
  classIds[a] === classIds[b] ? iou(boxes, a, boxes, b) : 0;

/** Matrix suppression by its formula. */
function matrixOf(scene: Scene, decay: (iou: number) => number): Map<number, number> {
  const order = orderOf(scene);
  const covered = order.map((row, j) =>
    Math.max(0, ...order.slice(0, j).map((better) => overlapOf(scene, better, row))),
  );
  return new Map(
    order.map((row, j) => {
      const factors = order.slice(0, j).flatMap((better, i) => {
        const overlap = overlapOf(scene, better, row);
        return overlap > 0 && decay(covered[i]) > 0 ? decay(overlap) / decay(covered[i]) : [];
      });
      return [row, Math.fround(scene.scores[row] * Math.min(1, ...factors))] as const;
    }),
  );
}

/** No score is equal to it. */
const LEAST = 0.0517;

/** Soft suppression by its definition. */
function softOf(scene: Scene, decay: (iou: number) => number): [row: number, score: number][] {
  const scores = [...scene.scores];
  const remaining = new Set(orderOf(scene));
  const kept: [number, number][] = [];
  while (remaining.size > 0) {
    const [best] = [...remaining].sort((a, b) => scores[b] - scores[a] || a - b);
    if (scores[best] < LEAST) break;
    remaining.delete(best);
    kept.push([best, Math.fround(scores[best])]);
    for (const row of remaining) scores[row] *= decay(overlapOf(scene, best, row));
  }
  return kept;
}

describe.each(scenes)("%s", (_, scene) => {
  const { boxes, scores, classIds } = scene;

  test.each([
    ["linear", 2, (x: number) => (x > 0 ? 1 - x : 1)],
    ["gaussian", 2, (x: number) => Math.exp((-x * x) / (1 / 2))],
    ["gaussian", 700, (x: number) => Math.exp((-x * x) / (1 / 700))],
  ] as const)("matrix, %s, sigma %d", (kernel, sigma, decay) => {
    const settings = kernel === "linear" ? { kernel } : { kernel, sigma };
    const found = suppress(boxes, scores, { method: "matrix", classIds, ...settings });
    const expected = matrixOf(scene, decay);
    expect(new Map([...found.indices].map((row, i) => [row, found.scores[i]]))).toEqual(expected);
  });

  test.each([
    ["soft-linear", (x: number) => (x > 0.3 ? 1 - x : 1)],
    ["soft-gaussian", (x: number) => Math.exp((-x * x) / 0.5)],
  ] as const)("%s", (method, decay) => {
    const found = suppress(boxes, scores, { method, classIds, scoreThreshold: LEAST });
    expect([...found.indices].map((row, i) => [row, found.scores[i]])).toEqual(softOf(scene, decay));
  });

  test.each([0, 0.55, 0.95])("fuse at %d", (iouThreshold) => {
    const other = sceneOf(700, scene === CROWD ? 40 : 400, 40, 2);
    const models = [scene, other];
    const sorted = models
      .flatMap((m, model) => orderOf(m).map((row) => ({ m, model, row, score: m.scores[row] })))
      .sort((a, b) => b.score - a.score);
    const clusters: {
      classId: number;
      sums: number[];
      sum: number;
      mean: number[];
      members: [number, number][];
    }[] = [];
    for (const { m, model, row, score } of sorted) {
      let best = -1;
      let largest = iouThreshold;
      clusters.forEach(({ classId, mean }, i) => {
        const overlap = classId === m.classIds[row] ? iou(mean, 0, m.boxes, row) : 0;
        if (overlap > largest) [best, largest] = [i, overlap];
      });
      if (best < 0)
        best =
          clusters.push({ classId: m.classIds[row], sums: [0, 0, 0, 0], sum: 0, mean: [], members: [] }) - 1;
      const cluster = clusters[best];
      cluster.members.push([model, row]);
      cluster.sum += score;
      cluster.sums.forEach((_v, k) => (cluster.sums[k] += m.boxes[4 * row + k] * score));
      cluster.mean = cluster.sums.map((v) => v / cluster.sum);
    }
    const { members } = fuse(models, { iouThreshold });
    const text = (all: readonly (readonly (readonly [number, number])[])[]): string[] =>
      all.map((one) => JSON.stringify(one)).sort();
    expect(text(members)).toEqual(text(clusters.map((cluster) => cluster.members)));
  });

  test.each([
    ["iou", 0.3],
    ["ios", 0.6],
    ["ios", 0],
  ] as const)("groups that pass on, %s at %d", (metric, threshold) => {
    const order = Int32Array.from(orderOf(scene));
    const c: Candidates = {
      corners: boxes,
      scores: Float64Array.from(scores),
      classIds: Int32Array.from(classIds),
      order,
      offset: 0,
    };
    const area = (row: number): number =>
      (boxes[4 * row + 2] - boxes[4 * row]) * (boxes[4 * row + 3] - boxes[4 * row + 1]);
    const overlap = (a: number, b: number): number => {
      const value = iou(boxes, a, boxes, b);
      const shared = (value * (area(a) + area(b))) / (1 + value);
      return metric === "iou" ? value : shared / Math.min(area(a), area(b));
    };
    const groupOf = new Map<number, number[]>();
    const groups: number[][] = [];
    order.forEach((row, place) => {
      const group = groupOf.get(row) ?? [row];
      if (!groupOf.has(row)) groups.push(group);
      groupOf.set(row, group);
      const claims = [...order.slice(place + 1)].filter(
        (other) =>
          !groupOf.has(other) && classIds[other] === classIds[row] && overlap(row, other) >= threshold,
      );
      for (const other of claims.sort((a, b) => a - b)) {
        group.push(other);
        groupOf.set(other, group);
      }
    });
    expect(groupTransitively(c, { metric, threshold })).toEqual(groups);
  });
});

test.each(["linear", "gaussian"] as const)(
  "matrix, %s: a pixel more on each box is pixelOffset",
  (kernel) => {
    const { scores, classIds } = CROWD;
    const boxes = CROWD.boxes.map(Math.round);
    const wider = boxes.map((v, i) => v + ((i & 3) > 1 ? 1 : 0));
    const found = suppress(boxes, scores, { method: "matrix", kernel, classIds, pixelOffset: 1 });
    const same = suppress(wider, scores, { method: "matrix", kernel, classIds });
    expect(found.indices).toEqual(same.indices);
    expect(found.scores).toEqual(same.scores);
    expect(found.scores.some((score, i) => score < scores[found.indices[i]])).toBe(true);
  },
);

test("the heap of scores gives the best rank after any falls", () => {
  const random = mulberry32(5);
  const n = 200;
  const scores = Float64Array.from({ length: n }, (_, i) => 1 - i / n);
  const order = Int32Array.from({ length: n }, (_, i) => (i * 7) % n);
  const heap = new ScoreHeap(scores, order);
  const remaining = new Set(scores.keys());
  while (remaining.size > 0) {
    const [best] = [...remaining].sort((a, b) => scores[b] - scores[a] || order[a] - order[b]);
    expect(heap.best).toBe(best);
    heap.takeBest();
    remaining.delete(best);
    expect(heap.has(best)).toBe(false);
    // Now few fall, now many; some to the same score.
    const share = random() < 0.5 ? 0.05 : 0.6;
    const fallen = Int32Array.from([...remaining].filter(() => random() < share));
    for (const rank of fallen) scores[rank] = Math.floor(scores[rank] * 20 * random()) / 20;
  }
  expect(heap.length).toBe(0);
});

/** Adds each box to the group whose first box it overlaps most, by the definition of "nmw". */
function nmwGroups(scene: Scene, threshold: number): number[][] {
  const groups: number[][] = [];
  for (const row of orderOf(scene)) {
    let [best, largest] = [null as number[] | null, threshold];
    for (const group of groups) {
      const overlap = overlapOf(scene, group[0], row);
      if (overlap > largest) [best, largest] = [group, overlap];
    }
    if (best) best.push(row);
    else groups.push([row]);
  }
  return groups;
}

// Put corners on a coarse raster: many boxes overlap several better ones equally, and join the best of these.
const RASTER: Scene = {
  ...sceneOf(1500, 300, 24, 3),
  boxes: sceneOf(1500, 300, 24, 3).boxes.map((v) => 6 * Math.round(v / 6)),
};

test.each([...scenes, ["many groups, equal overlaps", RASTER] as const])('"nmw" groups %s', (_, scene) => {
  for (const iouThreshold of [0.2, 1 / 3, 0.5]) {
    const { members } = suppress(scene.boxes, scene.scores, {
      method: "nmw",
      classIds: scene.classIds,
      iouThreshold,
    });
    expect(members?.map((rows) => [...rows])).toEqual(nmwGroups(scene, iouThreshold));
  }
});

test("more groups than are compared one by one", () => {
  expect(nmwGroups(RASTER, 0.5).length).toBeGreaterThan(400);
});
