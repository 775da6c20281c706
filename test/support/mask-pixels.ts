/** Pixels of masks, to be compared with golden ones. */
import type { Mask } from "../../src/decode/mask.ts";

/** A mask as runs row by row, which begin with zeros. */
export interface GoldenMask {
  readonly size: readonly [height: number, width: number];
  readonly area: number;
  readonly rle: readonly number[];
}

/** Returns the pixels of a golden mask, one byte each. */
export function pixelsOf({ size: [height, width], rle }: GoldenMask): Uint8Array {
  const pixels = new Uint8Array(height * width);
  let at = 0;
  rle.forEach((run, i) => {
    if (i % 2 === 1) pixels.fill(1, at, at + run);
    at += run;
  });
  return pixels;
}

/** Returns a mask as pixels of its whole picture. */
export function wholePicture({ x, y, width, height, data, size }: Mask): Uint8Array {
  const all = new Uint8Array(size[0] * size[1]);
  for (let row = 0; row < height; row++)
    all.set(data.subarray(row * width, (row + 1) * width), (y + row) * size[0] + x);
  return all;
}

/** Counts the pixels in which two pictures differ. Pictures of different sizes differ everywhere. */
export const countDiffering = (a: Uint8Array, b: Uint8Array): number =>
  a.length === b.length ? a.reduce((sum, x, i) => sum + (x === b[i] ? 0 : 1), 0) : Infinity;
