/** Oriented boxes in `suppressDetections` and `mergeTiles`: rows that are left keep their angles and corners. */
import { expect, test } from "vitest";
import type { Detections } from "../../../src/decode/detections.ts";
import {
  type Tile,
  createDecoderSync,
  createTileMerger,
  mergeTiles,
  suppressDetections,
  tiles,
} from "../../../src/entries/index.ts";

/** Centre, size, score, angle in pixels of an input of 100 x 100. */
type Row = readonly [cx: number, cy: number, w: number, h: number, score: number, angle: number];

function decode(rows: readonly Row[]): Detections {
  const decoder = createDecoderSync(
    { family: "yolov8", classes: 1, task: "oriented", inputSize: [100, 100], reading: "class-rows" },
    { engine: "ts", rules: { suppress: "none" } },
  );
  return decoder.decode({
    o: { data: Float32Array.from(rows.flat()), dims: [1, rows.length, 6], order: "rows" },
  });
}

const ROWS: readonly Row[] = [
  [30, 30, 40, 10, 0.9, 0.5],
  [31, 31, 40, 10, 0.8, 0.6],
  [70, 70, 20, 10, 0.7, 1.2],
];

test("hard and soft suppression keep the angle and the corners of a row", () => {
  const found = decode(ROWS);
  const all = found.toArray();
  expect(all).toHaveLength(3);
  const hard = suppressDetections(found, { method: "hard", iouThreshold: 0.5 });
  expect(hard.toArray()).toEqual([all[0], all[2]]);
  const soft = suppressDetections(found, { method: "soft-gaussian" });
  expect(soft.toArray().map(({ angle }) => angle)).toEqual(
    [all[0], all[2], all[1]].map(({ angle }) => angle),
  );
  // A copy and a merged result of nothing have the columns too.
  expect(hard.copy().at(1)?.corners).toEqual(all[2].corners);
  expect(suppressDetections(decode([[50, 50, 9, 9, 0, 0]])).length).toBe(0);
});

test.each(["weighted", "merge", "nmw"] as const)("%s averages boxes and is refused", (method) => {
  expect(() => suppressDetections(decode(ROWS), { method })).toThrow(
    `method: got "${method}", which averages boxes, for oriented ones, expected a method that leaves boxes as they are`,
  );
});

/** An object at 80, 50 of a picture of 160 x 100, and one at 130, 40, as each tile sees them. */
function* parts(): Generator<readonly [Tile, Detections]> {
  for (const tile of tiles([160, 100], { tile: 100, overlap: 0.4 })) {
    const seen: Row[] = [[80 - tile.x, 50, 30, 10, tile.x === 0 ? 0.9 : 0.8, 0.5]];
    if (tile.x > 0) seen.push([130 - tile.x, 40, 20, 8, 0.7, 1]);
    yield [tile, decode(seen)];
  }
}

test("tiles move corners and leave angles", () => {
  const merged = mergeTiles([160, 100], parts(), { method: "nms" });
  expect(merged.length).toBe(2);
  const [first, second] = merged;
  expect(first.angle).toBeCloseTo(0.5, 6);
  expect(second.angle).toBeCloseTo(1, 6);
  const [c, s] = [Math.cos(0.5), Math.sin(0.5)];
  const corner = (w: number, h: number): readonly number[] => [80 + w * c - h * s, 50 + w * s + h * c];
  const expected = [corner(15, 5), corner(-15, 5), corner(-15, -5), corner(15, -5)];
  const got = (first.corners ?? []).map(({ x, y }) => [x * 160, y * 100]);
  for (const [x, y] of expected) expect(got.some(([a, b]) => Math.hypot(a - x, b - y) < 1e-3)).toBe(true);
  expect(merged.copy().toArray()).toEqual(merged.toArray());
  // Rows that the cap drops take their angles along.
  const [[tile, many]] = [...parts()].slice(1);
  const merger = createTileMerger([160, 100], { method: "nms", maxCandidates: 1 });
  for (const [t, d] of parts()) merger.add(t, d);
  expect([...merger.merge()].map(({ angle }) => angle)).toEqual([first.angle]);
  merger.clear();
  merger.add(tile, many);
  expect([...merger.merge()][0].corners?.[0].x).toBeCloseTo((first.corners ?? [])[0].x, 5);
});

test.each(["greedy-nmm", "nmm"] as const)("%s merges boxes and is refused", (method) => {
  expect(() => mergeTiles([160, 100], parts(), { method })).toThrow(
    `method: got "${method}", which merges boxes, for oriented ones, expected "nms"`,
  );
});
