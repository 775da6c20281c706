/** Resampling with a window of weights, as Pillow does: columns first, rounded to bytes, then rows. */
import {
  J_FIRST,
  J_LAST,
  J_ORIGIN,
  J_PIXELS,
  J_PIXEL_STRIDE,
  J_RESAMPLED,
  J_ROWS,
  J_SCRATCH,
  J_WIDTH,
  J_XTAB,
  J_XTAPS,
  J_XWEIGHTS,
  J_YTAB,
  J_YTAPS,
  J_YWEIGHTS,
  TAP_BITS,
} from "../../src/core/prepare-abi";
import { int, ptr } from "../word";
import { tapColumn4, tapRow4 } from "./taps4";
import { clampByte } from "./pixel";

const HALF = 1 << (TAP_BITS - 1);

/** Resamples the rows of a job. Scratch holds the resampled columns of every source row of the strip. */
export function tapRows(job: usize): void {
  const width = int(job, J_WIDTH);
  const rows = int(job, J_ROWS);
  const last = int(job, J_LAST);
  for (let row = 0; row < rows; row++) tapColumns(job, row, ptr(job, J_SCRATCH) + row * (width << 2));
  let to = ptr(job, J_RESAMPLED);
  for (let y = int(job, J_FIRST); y < last; y++, to += width << 2) tapRow(job, y, to);
}

/** Resamples the columns of a row of the strip. */
function tapColumns(job: usize, row: i32, to: usize): void {
  const width = int(job, J_WIDTH);
  const taps = int(job, J_XTAPS);
  const from = ptr(job, J_PIXELS) + <usize>row * ptr(job, J_PIXEL_STRIDE);
  let weights = ptr(job, J_XWEIGHTS);
  let table = ptr(job, J_XTAB);
  for (let x = 0; x < width; x++, table += 8, weights += taps << 2) {
    const count = int(table, 1);
    let p = from + int(table, 0);
    if (ASC_FEATURE_SIMD) {
      store<u32>(to + (x << 2), tapColumn4(p, weights, count));
      continue;
    }
    let r = HALF;
    let g = HALF;
    let b = HALF;
    for (let k = 0; k < count; k++, p += 4) {
      const weight = int(weights, k);
      r += load<u8>(p) * weight;
      g += load<u8>(p + 1) * weight;
      b += load<u8>(p + 2) * weight;
    }
    store<u32>(to + (x << 2), tapPixel(r, g, b));
  }
}

/** Makes one row of pixels of the rows in scratch. */
function tapRow(job: usize, y: i32, to: usize): void {
  const stride = int(job, J_WIDTH) << 2;
  const table = ptr(job, J_YTAB) + (y << 3);
  const first = ptr(job, J_SCRATCH) + (int(table, 0) - int(job, J_ORIGIN)) * stride;
  const weights = ptr(job, J_YWEIGHTS) + ((y * int(job, J_YTAPS)) << 2);
  const count = int(table, 1);
  let x = ASC_FEATURE_SIMD ? tapRow4(first, stride, weights, count, to) : 0;
  for (; x < stride; x += 4) {
    let r = HALF;
    let g = HALF;
    let b = HALF;
    for (let k = 0, p = first + x; k < count; k++, p += stride) {
      const weight = int(weights, k);
      r += load<u8>(p) * weight;
      g += load<u8>(p + 1) * weight;
      b += load<u8>(p + 2) * weight;
    }
    store<u32>(to + x, tapPixel(r, g, b));
  }
}

/** Returns the pixel of three sums. */
function tapPixel(r: i32, g: i32, b: i32): i32 {
  return clampByte(r >> TAP_BITS) | (clampByte(g >> TAP_BITS) << 8) | (clampByte(b >> TAP_BITS) << 16);
}
