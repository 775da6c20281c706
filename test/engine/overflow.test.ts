/** Multi-label plans with fewer rows than candidates: the best candidates stay, in the order of the scan. */
import { expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { engines } from "../support/engines.ts";
import { imageOf, planOf, runInStep } from "../support/memory-image.ts";
import { mulberry32 } from "../support/seeded-networks.ts";

const CELLS = 40;
const CLASSES = 5;
const ROW = 4 + CLASSES;

/** Returns scores cell by cell, class by class. */
function scoresOf(kind: "random" | "ties" | "rising" | "falling" | "equal", seed: number): number[] {
  const random = mulberry32(seed);
  const count = CELLS * CLASSES;
  return Array.from({ length: count }, (_, i) => {
    if (kind === "equal") return 0.5;
    if (kind === "rising") return (i + 1) / (count + 1);
    if (kind === "falling") return (count - i) / (count + 1);
    return kind === "ties" ? (1 + Math.floor(random() * 4)) / 8 : 0.01 + 0.98 * random();
  }).map(Math.fround);
}

test.each(["random", "ties", "rising", "falling", "equal"] as const)("%s scores", (kind) => {
  const config = {
    family: "yolov8",
    classes: CLASSES,
    coordinates: "normalised",
    reading: "class-rows",
    conventions: { multiLabel: true, nms: "none" },
  };
  const plan = planOf(config, [{ name: "o", dims: [1, CELLS, ROW], order: "rows" }]);
  expect(plan.capacity).toBe(CELLS * CLASSES);
  const scores = scoresOf(kind, 5);
  const data = new Float32Array(CELLS * ROW);
  for (let cell = 0; cell < CELLS; cell++)
    data.set([cell, 0, 1, 1, ...scores.slice(cell * CLASSES, (cell + 1) * CLASSES)], cell * ROW);
  const thresholds = { confidenceThreshold: 0, iouThreshold: 0.5, maxDetections: 300 };

  for (const capacity of [1, 2, 3, 7, 8, 9, 25, 33, 100, CELLS * CLASSES - 1, CELLS * CLASSES]) {
    const images = engines.map((engine) =>
      imageOf(engine, { ...plan, capacity }, thresholds, [1, 1, 0, 0], new Map([["o", data]])),
    );
    runInStep(images);
    const [{ engine, layout }] = images;
    const { i32, f32 } = engine.memory;
    const [block] = layout.imageBlocks.map((at) => at >> 2);
    const kept = i32[block + A.P_CANDIDATES];
    expect(kept + i32[block + A.P_OVERFLOW]).toBe(CELLS * CLASSES);
    const isFull = capacity < CELLS * CLASSES;
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
    expect(indices).toEqual([...new Set(indices)].sort((a, b) => a - b));
    expect(found, `capacity ${capacity}`).toEqual(expect.arrayContaining(best));
    // Boxes move with their candidates.
    found.forEach(({ index }, i) =>
      expect(f32[(layout.boxes >> 2) + 4 * i + 2]).toBe(Math.floor(index / CLASSES) + 0.5),
    );
  }
});
