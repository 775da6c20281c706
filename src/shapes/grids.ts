/** Feature maps: the maps that a network input has at its strides, and how many cells they have. */

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

/** Returns the number of cells of all heads, or of all maps. */
export const cellsOf = (all: readonly { readonly cells: number }[]): number =>
  all.reduce((n, { cells }) => n + cells, 0);

/**
 * Returns the input's maps at the strides of the config, else at those given. None where nobody states the input size.
 */
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

/** Strides that published networks have. */
const STRIDES = [[8, 16, 32], [8, 16, 32, 64], [4, 8, 16, 32], [16, 32], [32], [16], [8]];

/** Returns the maps that add up to so many cells, `null` if none do. */
export const gridsOfRows = (input: Input, cells: number): Grid[] | null =>
  STRIDES.map((usual) => gridsOf(input, usual)).find(
    (grids) => grids.length > 0 && cellsOf(grids) === cells,
  ) ?? null;

/** True if there are as many rows as two or more maps of the input have cells. */
export const areCells = (input: Input, rows: number): boolean => (gridsOfRows(input, rows)?.length ?? 0) > 1;

/** Rows that exporters list unless they are told otherwise. Some input may have as many cells. */
export const USUAL_LIST = 300;

/** True if rows are the cells of three maps or more: a list of all cells, from which nothing was suppressed. */
export const areAllCells = (input: Input, rows: number): boolean =>
  rows !== USUAL_LIST && (gridsOfRows(input, rows)?.length ?? 0) > 2;

/** Sides of square inputs that networks are trained with. */
export const SIDES: readonly number[] = [
  160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 736, 768, 960, 1024, 1280,
];

/** Returns the square input that has so many cells, or three times as many with anchors; `null` if none has. */
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

/** Smallest side of most inputs. */
const USUAL_SMALL = 320;

/** Width of most inputs that are not square. */
const USUAL_WIDTH = 640;

/**
 * Returns the size of the input whose maps have so many rows, `each` for a cell. Prefers a square. Else returns the
 * rectangle that is most like the inputs of published networks, or `null` if there is none.
 */
export function sizeOfRows(rows: number, each: number): readonly [number, number] | null {
  // 2125 rows are rather the cells of 320 pixels at strides 8 to 64 than those of 160 pixels at strides 4 to 32.
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

/**
 * True if published networks have maps at these strides, smallest first, or leave some of these maps out. One that has
 * a map at 64 has one at 8 too.
 */
export const areUsualStrides = (strides: readonly number[]): boolean =>
  strides.every((stride) => STRIDES[strides[0] === 8 ? 1 : 0].includes(stride)) ||
  strides.join() === STRIDES[2].join();

/**
 * Returns how many cells of a map lie across the input, and down. The last cells reach over the edge of an input that
 * is no multiple of the stride: 416 pixels are six and a half cells of 64, in a map of seven. Small inputs have several
 * maps of one size, such as one cell: `earlier` of them have smaller strides.
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
