/** Feature maps: which maps an input has at its strides, and how many cells the maps have. */

/** One feature map of the input. Width, height and cells are in cells, the stride in pixels. */
export interface Grid {
  readonly w: number;
  readonly h: number;
  readonly cells: number;
  readonly stride: number;
}

/** The input of a network, as far as it is known. */
interface Input {
  readonly inputSize: readonly [number, number] | null;
  readonly strides: readonly number[] | null;
}

/** Returns the sum of the cell counts of all heads, or of all maps. */
export const cellsOf = (all: readonly { readonly cells: number }[]): number =>
  all.reduce((n, { cells }) => n + cells, 0);

/** Returns the input's maps at its known strides, else at the strides `usual`. Returns none without an input size. */
export function gridsOf(
  { inputSize, strides }: Input,
  usual: readonly number[] = [4, 8, 16, 32, 64, 128],
): Grid[] {
  if (!inputSize) return [];
  return (strides ?? usual).map((stride) => {
    const [w, h] = inputSize.map((n) => Math.ceil(n / stride));
    return { w, h, cells: w * h, stride };
  });
}

/** Strides of the maps of published networks, one list per kind of network. */
const STRIDES = [[8, 16, 32], [8, 16, 32, 64], [4, 8, 16, 32], [16, 32], [32], [16], [8]];

/** Returns the input's maps, at the first strides for which the cells add up to `cells`. Returns `null` if none fit. */
export const gridsOfRows = (input: Input, cells: number): Grid[] | null =>
  STRIDES.map((usual) => gridsOf(input, usual)).find(
    (grids) => grids.length > 0 && cellsOf(grids) === cells,
  ) ?? null;

/** True if the row count is the sum of the cells of two or more maps of the input. */
export const areCells = (input: Input, rows: number): boolean => (gridsOfRows(input, rows)?.length ?? 0) > 1;

/** Default row count of exporters' lists. An input may have as many cells by chance. */
export const USUAL_LIST = 300;

/** True if the rows are the cells of three or more maps of the input, and nothing was suppressed. */
export const areAllCells = (input: Input, rows: number): boolean =>
  rows !== USUAL_LIST && (gridsOfRows(input, rows)?.length ?? 0) > 2;

/** Usual sides of the square inputs on which networks are trained. */
export const SIDES: readonly number[] = [
  160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 736, 768, 960, 1024, 1280,
];

/**
 * Returns the side of the square input with this many cells, or with three anchors per cell. Returns `null` if there is
 * none.
 */
export const squareOfRows = (rows: number): number | null =>
  SIDES.find((side) =>
    [1, 3].some(
      (anchors) =>
        cellsOf(gridsOf({ inputSize: [side, side], strides: null }, STRIDES[0])) * anchors === rows,
    ),
  ) ?? null;

/** Side of a block in pixels. The maps at strides 8, 16 and 32 have 16 + 4 + 1 cells in a block. */
const BLOCK = 32;
const BLOCK_CELLS = 21;

/** Smallest usual side of an input, in pixels. */
const USUAL_SMALL = 320;

/** Usual width of an input that is not square, in pixels. */
const USUAL_WIDTH = 640;

/** Returns the likeliest input size with this many rows, `each` per cell, a square if possible. `null`: none fits. */
export function sizeOfRows(rows: number, each: number): readonly [number, number] | null {
  // Prefer the larger input: 2125 rows are the cells of 320 pixels at strides 8 to 64, or of 160 pixels at strides 4 to
  // 32.
  const side = [...SIDES.filter((side) => side >= USUAL_SMALL), ...SIDES].find((side) =>
    STRIDES.some(
      (strides) =>
        strides.length > 1 &&
        each * cellsOf(gridsOf({ inputSize: [side, side], strides: null }, strides)) === rows,
    ),
  );
  if (side !== undefined) return [side, side];
  const blocks = rows / each / BLOCK_CELLS;
  if (!Number.isInteger(blocks)) return null;
  const heights = Array.from({ length: Math.floor(Math.sqrt(blocks)) }, (_, i) => i + 1);
  const sizes = heights
    .filter((h) => blocks % h === 0 && blocks <= 3 * h * h)
    .map((h) => [BLOCK * (blocks / h), BLOCK * h] as const);
  const rank = ([width, height]: readonly [number, number]): number =>
    (width === USUAL_WIDTH ? 0 : SIDES.includes(width) ? 10 : 20) + width / height;
  return sizes.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** True if published networks have these strides. Some may be missing, but a network with stride 64 also has 8. */
export const areUsualStrides = (strides: readonly number[]): boolean =>
  strides.every((stride) => STRIDES[strides[0] === 8 ? 1 : 0].includes(stride)) ||
  strides.join() === STRIDES[2].join();

/**
 * Returns the columns and rows of a map in cells. If the side of the input is not a multiple of the stride, the last
 * cells extend over the edge: 416 pixels at stride 64 make 6.5 cells, in a map of 7. A small input may have several
 * maps of the same size, such as one cell. `earlier` counts those with smaller strides than this map.
 */
export function cellsAcross(
  query: Input,
  { w, h, earlier = 0 }: { readonly w: number; readonly h: number; readonly earlier?: number },
): readonly [number, number] {
  const { inputSize } = query;
  const grids = gridsOf(query).filter((g) => g.w === w && g.h === h);
  const grid = grids[earlier] ?? grids[0];
  return grid && inputSize ? [inputSize[0] / grid.stride, inputSize[1] / grid.stride] : [w, h];
}
