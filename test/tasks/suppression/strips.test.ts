/** Strips find what a loop over all pairs finds, with the same IoU. */
import { expect, test } from "vitest";
import { type Candidates, iouOf } from "../../../src/tasks/suppression/candidates.ts";
import { Strips } from "../../../src/tasks/suppression/strips.ts";
import { mulberry32 } from "../../../bench/random.ts";

type Draw = (random: () => number) => readonly [x: number, y: number, width: number, height: number];

const SCENES: Record<string, Draw> = {
  "one size": (r) => [300 * r(), 300 * r(), 20 + 40 * r(), 20 + 40 * r()],
  "sizes from 1 to 10,000": (r) => [1000 * r(), 1000 * r(), 10_000 ** r(), 10_000 ** r()],
  "long ones": (r) => [500 * r(), 500 * r(), ...(r() < 0.5 ? ([400, 2] as const) : ([2, 400] as const))],
  "whole pixels, some without area, some turned": (r) =>
    [40, 40, 9, 9].map((v, i) => Math.floor(v * r()) - (i > 1 ? 2 : 0)) as unknown as ReturnType<Draw>,
  "one spot": () => [5, 5, 10, 10],
  // Bounds of searches fall on borders of cells, and some boxes share the last bit of a double.
  tenths: (r) =>
    [41, 41, 8, 8].map(
      (v, i) => 0.1 * (Math.floor(v * r()) + (i > 1 ? 1 : 0)),
    ) as unknown as ReturnType<Draw>,
  "points on a line": (r) => [10 * r(), 3, 0, 0],
  "where doubles are 2 apart": (r) => [1e16 + 40 * r(), -1e16 + 40 * r(), 20 * r(), 20 * r()],
  "less than the least double": (r) => [9 * r(), 9 * r(), 1e-320 * r(), r()],
  "one of an infinite width": (r) =>
    r() < 0.01 ? [-1e308, -1e308, 1.9e308, 1.9e308] : [9 * r(), 9 * r(), r(), r()],
};

function candidatesOf(draw: Draw, n: number, offset: number): Candidates {
  const random = mulberry32(3);
  const corners = Float64Array.from(
    Array.from({ length: n }, () => draw(random)).flatMap(([x, y, w, h]) => [x, y, x + w, y + h]),
  );
  const order = Int32Array.from({ length: n }, (_, i) => (i * 7) % n);
  return {
    corners,
    scores: new Float64Array(n),
    classIds: Int32Array.from({ length: n }, () => 2 * random()),
    order,
    offset,
  };
}

test.each(
  Object.entries(SCENES).flatMap(([name, draw]) => [0, 1].map((offset) => [name, offset, draw] as const)),
)("%s, pixelOffset %d", (_, offset, draw) => {
  const n = 400;
  const c = candidatesOf(draw, n, offset);
  // Some are not listed from the start, others are taken out between the searches.
  const listed = new Set([...c.order.keys()].filter((rank) => rank % 9 !== 0));
  const strips = new Strips(c, Int32Array.from(listed));
  for (let rank = 0; rank < n; rank++) {
    strips.find(rank);
    const found = [...strips.ranks.subarray(0, strips.count)].map((other, k) => [other, strips.overlaps[k]]);
    const row = c.order[rank];
    const expected = [...listed]
      .filter((other) => c.classIds[c.order[other]] === c.classIds[row])
      .map((other) => [other, iouOf(c, row, c.order[other])])
      .filter(([, overlap]) => overlap !== 0);
    expect(found.sort((a, b) => a[0] - b[0])).toEqual(expected);
    for (const gone of [rank, (rank * 13) % n, 0]) {
      listed.delete(gone);
      strips.drop(gone);
    }
  }
  expect(listed.size).toBe(0);
});

test("no box", () => {
  const c = candidatesOf(SCENES["one size"], 5, 0);
  const strips = new Strips(c, new Int32Array(0));
  strips.find(0);
  expect(strips.count).toBe(0);
});
