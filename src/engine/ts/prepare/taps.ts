/** Resamples as Pillow does: columns first, rounded to bytes, then rows. Twin of `assembly/prepare/taps.ts`. */
import * as A from "../../../core/prepare-abi.ts";
import type { PixelMemory } from "./memory.ts";
import { clampByte } from "./pixel.ts";

const HALF = 1 << (A.TAP_BITS - 1);

/** Resamples the rows of a job. Scratch holds every source row of the strip after its columns are resampled. */
export function tapRows(m: PixelMemory, job: number): void {
  const { i32 } = m;
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const scratch = i32[at + A.J_SCRATCH];
  for (let row = 0; row < i32[at + A.J_ROWS]; row++) tapColumns(m, job, row, scratch + row * (width << 2));
  let to = i32[at + A.J_RESAMPLED] >> 2;
  for (let y = i32[at + A.J_FIRST]; y < i32[at + A.J_LAST]; y++, to += width) tapRow(m, job, y, to);
}

/** Resamples the columns of a row of the strip. */
function tapColumns({ u8, i32 }: PixelMemory, job: number, row: number, to: number): void {
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const taps = i32[at + A.J_XTAPS];
  const from = i32[at + A.J_PIXELS] + row * i32[at + A.J_PIXEL_STRIDE];
  let weights = i32[at + A.J_XWEIGHTS] >> 2;
  for (let x = 0, table = i32[at + A.J_XTAB] >> 2; x < width; x++, table += 2) {
    let r = HALF;
    let g = HALF;
    let b = HALF;
    for (let k = 0, p = from + i32[table]; k < i32[table + 1]; k++, p += 4) {
      const weight = i32[weights + k];
      r += u8[p] * weight;
      g += u8[p + 1] * weight;
      b += u8[p + 2] * weight;
    }
    i32[(to >> 2) + x] = tapPixel(r, g, b);
    weights += taps;
  }
}

function tapRow({ u8, i32 }: PixelMemory, job: number, y: number, to: number): void {
  const at = job >> 2;
  const stride = i32[at + A.J_WIDTH] << 2;
  const table = (i32[at + A.J_YTAB] >> 2) + 2 * y;
  const first = i32[at + A.J_SCRATCH] + (i32[table] - i32[at + A.J_ORIGIN]) * stride;
  const weights = (i32[at + A.J_YWEIGHTS] >> 2) + y * i32[at + A.J_YTAPS];
  const count = i32[table + 1];
  for (let x = 0; x < stride; x += 4) {
    let r = HALF;
    let g = HALF;
    let b = HALF;
    for (let k = 0, p = first + x; k < count; k++, p += stride) {
      const weight = i32[weights + k];
      r += u8[p] * weight;
      g += u8[p + 1] * weight;
      b += u8[p + 2] * weight;
    }
    i32[to + (x >> 2)] = tapPixel(r, g, b);
  }
}

/** Returns the pixel of three weighted sums. */
function tapPixel(r: number, g: number, b: number): number {
  return clampByte(r >> A.TAP_BITS) | (clampByte(g >> A.TAP_BITS) << 8) | (clampByte(b >> A.TAP_BITS) << 16);
}
