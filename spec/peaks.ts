/**
 * Decodes networks that mark the centres of objects in one map, in plain doubles. A map is rows of numbers; a cell is
 * its column x and its row y.
 */
export type CellMap = readonly (readonly number[])[];

/** A box of cells, and the largest value in it. */
export interface Cube {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly value: number;
}

/** Returns the cells whose value is at least the threshold, row by row. */
const passing = (map: CellMap, threshold: number): Cube[] =>
  map.flatMap((row, y) =>
    row.flatMap((value, x) => (value >= threshold ? [{ x, y, width: 1, height: 1, value }] : [])),
  );

/** True if two boxes touch, even if only at a corner. */
const touches = (a: Cube, b: Cube): boolean =>
  a.x + a.width >= b.x && a.y + a.height >= b.y && a.x <= b.x + b.width && a.y <= b.y + b.height;

/**
 * Returns the cube after it took up a part. First the upper left corner moves, which keeps width and height. Then width
 * and height grow to the end of the part.
 */
function grown(cube: Cube, part: Cube): Cube {
  const x = Math.min(cube.x, part.x);
  const y = Math.min(cube.y, part.y);
  return {
    x,
    y,
    width: Math.max(cube.width, part.x + part.width - x),
    height: Math.max(cube.height, part.y + part.height - y),
    value: Math.max(cube.value, part.value),
  };
}

/**
 * Lets each part join the first cube that it touches. Returns the cubes, and each cube as it began, with a single part.
 */
function join(parts: readonly Cube[]): { readonly cubes: readonly Cube[]; readonly begun: readonly Cube[] } {
  const cubes: Cube[] = [];
  const begun: Cube[] = [];
  for (const part of parts) {
    const first = cubes.findIndex((cube) => touches(cube, part));
    if (first >= 0) cubes[first] = grown(cubes[first], part);
    else {
      cubes.push(part);
      begun.push(part);
    }
  }
  return { cubes, begun };
}

/**
 * Returns the objects of FOMO as Edge Impulse's C++ SDK reads them from the map of one class:
 * `ei_fill_result_struct.h`, `ei_cube_check_overlap`, `ei_handle_cube`, `fill_result_struct_from_cubes`. The second
 * pass returns each cube as it was before it grew again.
 */
export const cubesOfSdk = (map: CellMap, threshold: number): readonly Cube[] =>
  join(join(passing(map, threshold)).cubes).begun;

/** Returns the box around each group of touching cells, for FOMO. Cells touch at an edge or a corner. */
export function enclosingBoxes(map: CellMap, threshold: number): readonly Cube[] {
  let groups: Cube[][] = [];
  for (const cell of passing(map, threshold)) {
    const mine = groups.filter((group) =>
      group.some(({ x, y }) => Math.abs(x - cell.x) <= 1 && Math.abs(y - cell.y) <= 1),
    );
    groups = [...groups.filter((group) => !mine.includes(group)), [...mine.flat(), cell]];
  }
  return groups.map((group) => {
    const x = Math.min(...group.map((cell) => cell.x));
    const y = Math.min(...group.map((cell) => cell.y));
    return {
      x,
      y,
      width: Math.max(...group.map((cell) => cell.x)) + 1 - x,
      height: Math.max(...group.map((cell) => cell.y)) + 1 - y,
      value: Math.max(...group.map(({ value }) => value)),
    };
  });
}

/** True if no cell of the 3 x 3 around (x, y) has a larger value: CenterNet's `_nms` of models/decode.py. */
export const isPeak = (map: CellMap, x: number, y: number): boolean =>
  [-1, 0, 1].every((dy) => [-1, 0, 1].every((dx) => !((map[y + dy]?.[x + dx] ?? -Infinity) > map[y][x])));

/** Returns the corners of a CenterNet box in cells. Source: xingyizhou/CenterNet, models/decode.py, `ctdet_decode`. */
export const boxOfCentre = (
  [x, y]: readonly [number, number],
  [dx, dy]: readonly [number, number],
  [width, height]: readonly [number, number],
): readonly number[] => [x + dx - width / 2, y + dy - height / 2, x + dx + width / 2, y + dy + height / 2];

/** Returns the corners of a face_det_lite box in cells. Source: quic/ai-hub-models, models/face_det_lite/utils.py. */
export const boxOfFace = (
  [x, y]: readonly [number, number],
  [left, top, right, bottom]: readonly [number, number, number, number],
): readonly number[] => [x - left, y - top, x + right, y + bottom];

/** Returns the points of face_det_lite in cells. The channels hold all x, then all y. */
export const pointsOfFace = (
  [x, y]: readonly [number, number],
  channels: readonly number[],
): readonly (readonly [number, number])[] =>
  Array.from({ length: channels.length / 2 }, (_, k) => [
    x + channels[k],
    y + channels[channels.length / 2 + k],
  ]);
