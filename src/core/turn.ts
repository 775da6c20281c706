/** Rotates pictures, and positions in pictures, by quarter turns. Phones may deliver frames that are not upright. */
import { show } from "./tensor.ts";

/**
 * Count of clockwise quarter turns that turn a picture upright. 1 is 90 degrees, as in CameraX's and ML Kit's
 * `rotationDegrees`, WebCodecs' `VideoFrame.rotation` and EXIF's orientation 6. 2 is orientation 3, and 3 is
 * orientation 8.
 */
export type QuarterTurns = 0 | 1 | 2 | 3;

/** Returns the problem of a rotation as [got, expected]. Returns null if there is none. */
export function rotationProblem(rotation: unknown): readonly [got: string, expected: string] | null {
  if (rotation === undefined || [0, 1, 2, 3].includes(rotation as number)) return null;
  const turns = typeof rotation === "number" && rotation % 90 === 0 ? (rotation / 90) & 3 : null;
  const hint = turns === null ? "" : `: ${String(rotation)} degrees are ${turns}`;
  return [show(rotation), `0, 1, 2 or 3 quarter turns clockwise that bring the picture upright${hint}`];
}

/** Returns width and height after the given count of quarter turns. */
export const turnedSize = (
  [width, height]: readonly [number, number],
  turns: QuarterTurns,
): readonly [number, number] => (turns & 1 ? [height, width] : [width, height]);

/** Returns the count of clockwise quarter turns that undoes `turns`. */
export const turnsBack = (turns: QuarterTurns): QuarterTurns => ((4 - turns) & 3) as QuarterTurns;

/** Turns points of a picture clockwise in place. A point is x, y in 0..1. Points begin every `step` values. */
export function turnPoints(
  points: { [at: number]: number },
  end: number,
  step: number,
  turns: QuarterTurns,
): void {
  for (let at = 0; at < end; at += step) {
    const x = points[at];
    const y = points[at + 1];
    points[at] = turns === 1 ? 1 - y : turns === 2 ? 1 - x : turns === 3 ? y : x;
    points[at + 1] = turns === 1 ? x : turns === 2 ? 1 - y : turns === 3 ? 1 - x : y;
  }
}

/** Turns boxes of a picture clockwise in place. A box is x_min, y_min, x_max, y_max, 0..1 across the picture. */
export function turnBoxes(boxes: { [at: number]: number }, count: number, turns: QuarterTurns): void {
  turnPoints(boxes, count * 4, 2, turns);
  for (let at = 0; at < count * 4; at += 4) {
    // Exchange corners that the turn has mirrored: left and right if x was mirrored, top and bottom if y was.
    if (turns === 1 || turns === 2) swap(boxes, at, at + 2);
    if (turns === 2 || turns === 3) swap(boxes, at + 1, at + 3);
  }
}

function swap(values: { [at: number]: number }, a: number, b: number): void {
  const value = values[a];
  values[a] = values[b];
  values[b] = value;
}

type Pixels = Uint8Array | Int16Array | Uint16Array | Uint32Array | Float32Array;

/**
 * Copies some rows of a picture to `to`, turned clockwise.
 * @param from the rows, whose starts are `stride` elements apart
 * @param size width and height of the whole picture before the turn
 * @param first index of the first of the rows
 * @param to the whole turned picture
 */
export function turnRows<T extends Pixels>(
  from: T,
  stride: number,
  size: readonly [number, number],
  turns: QuarterTurns,
  to: T,
  first: number,
  rows: number,
): void {
  const [width, height] = size;
  const [turnedWidth] = turnedSize(size, turns);
  const last = turns === 0 ? 0 : turns === 1 ? height - 1 : width * height - (turns === 2 ? 1 : height);
  const across = turns === 0 ? 1 : turns === 2 ? -1 : turns === 1 ? turnedWidth : -turnedWidth;
  const down = turns === 0 ? turnedWidth : turns === 2 ? -turnedWidth : turns === 1 ? -1 : 1;
  // Read column by column, and write each column as one run of adjacent elements: the few rows stay in the cache.
  for (let x = 0, start = last + first * down; x < width; x++, start += across)
    for (let y = 0, at = x, out = start; y < rows; y++, at += stride, out += down) to[out] = from[at];
}

/** Returns a picture turned clockwise, with its own memory. */
export function turnPicture<T extends Pixels>(
  from: T,
  size: readonly [number, number],
  turns: QuarterTurns,
): T {
  const to = from.slice() as T;
  turnRows(from, size[0], size, turns, to, 0, size[1]);
  return to;
}
