/** Multi-label plans with fewer rows than candidates: the best candidates stay, in the order of the scan. */
import { expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { engines } from "../support/engines.ts";
import { imageOf, planOf, runInStep } from "../support/memory-image.ts";
import { mulberry32 } from "../support/seeded-networks.ts";

const CLASSES = 5;
const ROW = 4 + CLASSES;

const KINDS = ["random", "ties", "rising", "falling", "equal"] as const;

/** Returns `count` scores, cell by cell, class by class. */
function scoresOf(kind: (typeof KINDS)[number], count: number, seed: number): number[] {
  const random = mulberry32(seed);
  return Array.from({ length: count }, (_, i) => {
    if (kind === "equal") return 0.5;
    if (kind === "rising") return (i + 1) / (count + 1);
    if (kind === "falling") return (count - i) / (count + 1);
    return kind === "ties" ? (1 + Math.floor(random() * 4)) / 8 : 0.01 + 0.98 * random();
  }).map(Math.fround);
}

/** Decodes a frame of so many cells with plans of each capacity. */
function decodeWith(kind: (typeof KINDS)[number], cells: number, capacities: readonly number[]): void {
  const config = {
    family: "yolov8",
    classes: CLASSES,
    coordinates: "normalised",
    reading: "class-rows",
    rules: { multiLabel: true, suppress: "none" },
  };
  const plan = planOf(config, [{ name: "o", dims: [1, cells, ROW], order: "rows" }]);
  expect(plan.capacity).toBe(cells * CLASSES);
  const scores = scoresOf(kind, cells * CLASSES, 5);
  const data = new Float32Array(cells * ROW);
  for (let cell = 0; cell < cells; cell++)
    data.set([cell, 0, 1, 1, ...scores.slice(cell * CLASSES, (cell + 1) * CLASSES)], cell * ROW);
  const thresholds = { confidenceThreshold: 0, iouThreshold: 0.5, maxDetections: 300 };

  for (const capacity of capacities) {
    const images = engines.map((engine) =>
      imageOf(engine, { ...plan, capacity }, thresholds, [1, 1, 0, 0], new Map([["o", data]])),
    );
    runInStep(images);
    const [{ engine, layout }] = images;
    const { i32, f32 } = engine.memory;
    const [block] = layout.imageBlocks.map((at) => at >> 2);
    const kept = i32[block + A.P_CANDIDATES];
    expect(kept + i32[block + A.P_OVERFLOW]).toBe(cells * CLASSES);
    const isFull = capacity < cells * CLASSES;
    expect(kept).toBeLessThanOrEqual(capacity);

    // By definition: from the best score down, ties in the order of the scan.
    const best = scores
      .map((score, index) => ({ score, index }))
      .sort((a, b) => b.score - a.score || a.index - b.index)
      .slice(0, isFull ? capacity - (capacity >> 2) - 1 : capacity);
    const found = Array.from({ length: kept }, (_, i) => ({
      score: f32[(layout.scores >> 2) + i],
      index: i32[(layout.sources >> 2) + i] * CLASSES + i32[(layout.classIds >> 2) + i],
    }));
    const indices = found.map(({ index }) => index);
    expect(indices.every((index, i) => i === 0 || index > indices[i - 1])).toBe(true);
    const scoreAt = new Map(found.map(({ index, score }) => [index, score]));
    const lost = best.filter(({ index, score }) => scoreAt.get(index) !== score);
    expect(lost, `capacity ${capacity}`).toEqual([]);
    // Boxes move with their candidates.
    const isMoved = ({ index }: { index: number }, i: number): boolean =>
      f32[(layout.boxes >> 2) + 4 * i + 2] === Math.floor(index / CLASSES) + 0.5;
    expect(found.every(isMoved)).toBe(true);
  }
}

test.each(KINDS)("%s scores", (kind) => {
  decodeWith(kind, 40, [1, 2, 3, 7, 8, 9, 25, 33, 100, 199, 200]);
});

test.each(KINDS)("%s scores, so many that the sort takes several waves", (kind) => {
  decodeWith(kind, 2000, [A.ONE_WAVE, A.ONE_WAVE + 1, 7000, 9999]);
});
