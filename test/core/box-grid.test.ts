/** The grid finds what comparing every pair finds. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { BoxGrid } from "../../src/core/box-grid.ts";

/** Small boxes, boxes over everything, boxes without area, and boxes far away. */
const side = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constantFrom(0, 1, 500, 1e6));
const corner = fc.oneof(
  fc.integer({ min: -100, max: 400 }),
  fc.double({ min: 0, max: 1 }),
  fc.constantFrom(1e9),
);
const boxes = fc.array(
  fc.tuple(corner, corner, side, side).map(([x, y, w, h]) => [x, y, x + w, y + h] as const),
  { maxLength: 90 },
);

const shared = (a: readonly number[], b: readonly number[], offset: number): boolean =>
  Math.min(a[2], b[2]) - Math.max(a[0], b[0]) + offset > 0 &&
  Math.min(a[3], b[3]) - Math.max(a[1], b[1]) + offset > 0;

test("every box that shares an area is found, once, in order, and none that is apart", () => {
  const grid = new BoxGrid();
  fc.assert(
    fc.property(boxes, fc.constantFrom(0, 1, 2.5), fc.boolean(), (list, offset, isReversed) => {
      const corners = Float64Array.from(list.flat());
      const rows = isReversed ? Int32Array.from(list, (_, i) => list.length - 1 - i) : null;
      grid.fill(corners, rows, list.length, offset);
      list.forEach((box, i) => {
        grid.findInOrder(corners, i * 4);
        const found = Array.from(grid.places.subarray(0, grid.count));
        expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
        const wanted = list
          .map((_, place) => place)
          .filter((place) => shared(box, list[rows === null ? place : rows[place]], offset));
        expect(found).toEqual(expect.arrayContaining(wanted));
        for (const place of found)
          expect(shared(box, list[rows === null ? place : rows[place]], offset + 1e-6)).toBe(true);
      });
    }),
  );
});

test("NaN overlaps nothing, and coordinates whose differences are infinite are found", () => {
  const grid = new BoxGrid();
  const corners = Float64Array.of(NaN, 0, 9, 9, -1e308, 0, 1e308, 9, 5, 5, 6, 6, -9e307, 2, -8e307, 3);
  grid.fill(corners, null, 4, 0);
  const found = (at: number): number[] => {
    grid.findInOrder(corners, at * 4);
    return Array.from(grid.places.subarray(0, grid.count));
  };
  expect([found(0), found(1), found(2), found(3)]).toEqual([[], [1, 2, 3], [1, 2], [1, 3]]);
});

test("a thousand boxes over everything do not fill a fine grid", () => {
  const many = 20_000;
  const corners = Float64Array.from({ length: many * 4 }, (_, i) => {
    const place = i >> 2;
    if (place % 100 === 0) return i & 2 ? 1000 : 0;
    return ((place * 37 + (i & 1) * 11) % 1000) + (i & 2 ? 1 : 0);
  });
  const grid = new BoxGrid();
  grid.fill(corners, null, many, 0);
  grid.find(corners, 4);
  expect(grid.count).toBeGreaterThanOrEqual(many / 100);
  expect((grid as unknown as { members: Int32Array }).members.length).toBeLessThanOrEqual(24 * many);
});
