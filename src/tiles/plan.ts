/** Plans tiles: parts of a large picture, which are prepared and decoded one by one. */
import { refuseValue } from "../core/errors.ts";
import { FLAG, type OptionRules, type Rule, checkOptions, checkValue } from "../core/options.ts";

/** A part of a picture, in whole pixels from the upper left corner. */
export interface Tile {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Options of `tiles`. */
export interface TileOptions {
  /** Width and height of a tile in pixels, or one number for both. */
  readonly tile: number | readonly [number, number];
  /** Fraction of a tile that neighbours share, from 0 to below 1. A pair states it for x and y. Default 0.2. */
  readonly overlap?: number | readonly [number, number];
  /** True: adds the whole picture as the last of several tiles, for objects larger than a tile. Default false. */
  readonly whole?: boolean;
}

const isCount = (x: unknown): x is number => Number.isInteger(x) && (x as number) > 0 && (x as number) < 1e9;
const isPart = (x: unknown): x is number => typeof x === "number" && x >= 0 && x < 1;

const isPairOf = (x: unknown, isValid: (v: unknown) => boolean): boolean =>
  Array.isArray(x) && x.length === 2 && x.every(isValid);
const isOneOrTwo = (x: unknown, isValid: (v: unknown) => boolean): boolean =>
  isValid(x) || isPairOf(x, isValid);

const pairOf = (x: number | readonly [number, number]): readonly [number, number] =>
  typeof x === "number" ? [x, x] : x;

const PICTURE: Rule = ["[width, height] of the picture in whole pixels", (x) => isPairOf(x, isCount)];
const RULES: OptionRules = {
  tile: ["a whole number of pixels, or [width, height]", (x) => isOneOrTwo(x, isCount)],
  overlap: ["a part of a tile from 0 to below 1, or [x, y]", (x) => isOneOrTwo(x, isPart)],
  whole: FLAG,
};

/** Returns the size of a picture. Throws a RangeError unless it is two whole numbers of pixels. */
export function sizeOf(size: readonly [number, number]): readonly [number, number] {
  checkValue("size", size, PICTURE);
  return size;
}

/** Largest count of tiles. No picture needs more, and the list would take megabytes. */
const MOST_TILES = 100_000;

/** Returns the pixels from tile to tile, at least 1: with a step of 0, `beginnings` would never end. */
const stepOf = (tile: number, overlap: number): number => Math.max(1, tile - Math.floor(overlap * tile));

const countOf = (length: number, tile: number, overlap: number): number =>
  1 + Math.max(0, Math.ceil((length - tile) / stepOf(tile, overlap)));

/** Returns the starts of the tiles along an axis. The last tile is moved back to end at the picture's edge. */
function beginnings(length: number, tile: number, overlap: number): number[] {
  const step = stepOf(tile, overlap);
  const starts = [0];
  for (let end = tile; end < length; end = starts[starts.length - 1] + tile)
    starts.push(Math.min(starts[starts.length - 1] + step, length - tile));
  return starts;
}

/**
 * Plans tiles over a picture, row by row, as SAHI does: neighbours share the overlap, and the last tile of a row or
 * column is moved back to the border. A picture smaller than a tile is one tile of its own size.
 * @param size width and height of the picture in pixels
 * @throws RangeError for sizes that are not whole pixels, for overlaps outside 0..1, and for more than 100,000 tiles
 * @example
 * import { tiles } from "boxwright";
 *
 * const plan = tiles([1000, 700], { tile: 512 });
 * console.log(plan.length, plan.map(({ x }) => x)); // 6 [0,410,488,0,410,488]
 */
export function tiles(size: readonly [number, number], options: TileOptions): readonly Tile[] {
  const [width, height] = sizeOf(size);
  const { tile: side, overlap = 0.2, whole = false } = checkOptions(options, RULES);
  checkValue("tile", side, RULES.tile);
  const [tile, shared] = [pairOf(side), pairOf(overlap)];
  const count = countOf(width, tile[0], shared[0]) * countOf(height, tile[1], shared[1]);
  if (count > MOST_TILES)
    refuseValue(
      "tile",
      `${count} tiles of ${tile.join("x")} for ${width}x${height}`,
      `at most ${MOST_TILES}: larger tiles or less overlap`,
    );
  const columns = beginnings(width, tile[0], shared[0]);
  const rows = beginnings(height, tile[1], shared[1]);
  const plan: Tile[] = rows.flatMap((y) =>
    columns.map((x) => ({
      x,
      y,
      width: Math.min(tile[0], width),
      height: Math.min(tile[1], height),
    })),
  );
  if (whole && plan.length > 1) plan.push({ x: 0, y: 0, width, height });
  return plan;
}
