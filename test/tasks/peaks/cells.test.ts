/** Groups of cells against spec/peaks.ts, and cells that can be checked by hand. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type CellMap, type Cube, cubesOfSdk, enclosingBoxes } from "../../../spec/peaks.ts";
import { type Cells, CELL_GROUPS, type CellGroups, groupCells } from "../../../src/tasks/peaks/cells.ts";

/** The cells of maps of several classes, as the decoder hands them over. */
function cellsOf(maps: readonly (readonly (readonly number[])[])[], threshold: number): Cells {
  const all = maps[0].flatMap((row, y) =>
    row.flatMap((_, x) =>
      maps.flatMap((map, classId) => (map[y][x] >= threshold ? [{ x, y, classId, score: map[y][x] }] : [])),
    ),
  );
  return {
    x: Int32Array.from(all, ({ x }) => x),
    y: Int32Array.from(all, ({ y }) => y),
    classIds: Int32Array.from(all, ({ classId }) => classId),
    scores: Float32Array.from(all, ({ score }) => score),
    count: all.length,
  };
}

const RULES: { readonly [R in CellGroups]: (map: CellMap, threshold: number) => readonly Cube[] } = {
  "edge-impulse": cubesOfSdk,
  enclosing: enclosingBoxes,
};

const sorted = (boxes: readonly string[]): string[] => [...boxes].sort();

/** Values that f32 holds exactly, so that the two ways can be compared as text. */
const value = fc.constantFrom(0, 0.25, 0.5, 0.625, 0.75, 0.875);
const maps = fc
  .record({
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 9 }),
    classes: fc.integer({ min: 1, max: 3 }),
  })
  .chain(({ width, height, classes }) => {
    const row = fc.array(value, { minLength: width, maxLength: width });
    const map = fc.array(row, { minLength: height, maxLength: height });
    return fc.array(map, { minLength: classes, maxLength: classes });
  });

test.each(CELL_GROUPS)("%s: as the specification groups random maps", (groups) => {
  fc.assert(
    fc.property(maps, (all) => {
      const got = groupCells(cellsOf(all, 0.5), groups).map(
        ({ x, y, width, height, classId, score }) => `${classId}: ${x} ${y} ${width} ${height} ${score}`,
      );
      const expected = all.flatMap((map, classId) =>
        RULES[groups](map, 0.5).map(
          ({ x, y, width, height, value: v }) => `${classId}: ${x} ${y} ${width} ${height} ${v}`,
        ),
      );
      expect(sorted(got)).toEqual(sorted(expected));
    }),
    { numRuns: 300 },
  );
});

test("a cube that grows to the left moves and keeps its width", () => {
  // Row 0 begins a cube at column 2; row 1 joins it from the left.
  const map = [
    [0, 0, 1, 0],
    [0, 1, 0, 0],
  ];
  const [cube] = groupCells(cellsOf([map], 0.5), "edge-impulse");
  expect(cube).toMatchObject({ x: 1, y: 0, width: 1, height: 2 });
  const [box] = groupCells(cellsOf([map], 0.5), "enclosing");
  expect(box).toMatchObject({ x: 1, y: 0, width: 2, height: 2 });
});

test("cells of two classes in one place are two boxes", () => {
  const boxes = groupCells(cellsOf([[[0.75]], [[0.5]]], 0.5), "enclosing");
  expect(boxes.map(({ classId, score }) => [classId, score])).toEqual([
    [0, 0.75],
    [1, 0.5],
  ]);
});
