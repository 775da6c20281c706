/**
 * Bilinear resampling in the integers of `cv2.resize`: 11 bits of weight for columns, a result of 15 bits, then 11 bits
 * for rows.
 */
import {
  J_FIRST,
  J_LAST,
  J_ORIGIN,
  J_PIXELS,
  J_PIXEL_STRIDE,
  J_RESAMPLED,
  J_SCRATCH,
  J_WIDTH,
  J_XTAB,
  J_YTAB,
} from "../../src/core/prepare-abi";
import { int, ptr } from "../word";
import { blendRows4, linearColumns4 } from "./linear4";

/** Resamples the rows of a job. Two rows of scratch hold the resampled columns of the last two source rows. */
export function linearRows(job: usize): void {
  const width = int(job, J_WIDTH);
  const first = ptr(job, J_SCRATCH);
  const second = first + (width << 3);
  const last = int(job, J_LAST);
  let to = ptr(job, J_RESAMPLED);
  let heldEven = -1;
  let heldOdd = -1;
  let table = ptr(job, J_YTAB) + 12 * int(job, J_FIRST);
  for (let y = int(job, J_FIRST); y < last; y++, table += 12, to += width << 2) {
    const upper = int(table, 0);
    const lower = int(table, 1);
    // Even rows use the first row of scratch, odd rows the second: two neighbours never evict each other.
    for (let k = 0; k < 2; k++) {
      const row = int(table, k);
      if ((row & 1) == 0 && row != heldEven) linearColumns(job, (heldEven = row), first);
      if ((row & 1) == 1 && row != heldOdd) linearColumns(job, (heldOdd = row), second);
    }
    blendRows(upper & 1 ? second : first, lower & 1 ? second : first, int(table, 2), to, width);
  }
}

/** Resamples the columns of a source row: for each pixel three values of 15 bits, and one that is ignored. */
function linearColumns(job: usize, row: i32, to: usize): void {
  const width = int(job, J_WIDTH);
  const from = ptr(job, J_PIXELS) + <usize>(row - int(job, J_ORIGIN)) * ptr(job, J_PIXEL_STRIDE);
  let x = ASC_FEATURE_SIMD ? linearColumns4(from, ptr(job, J_XTAB), to, width) : 0;
  let table = ptr(job, J_XTAB) + (x << 3);
  for (let out = to + (x << 3); x < width; x++, table += 8, out += 8) {
    const place = from + int(table, 0);
    const a = <u32>load<u16>(table + 4);
    const b = <u32>load<u16>(table + 6);
    const p = load<u32>(place);
    const q = load<u32>(place + 4);
    store<u16>(out, ((p & 255) * a + (q & 255) * b) >> 4);
    store<u16>(out + 2, (((p >> 8) & 255) * a + ((q >> 8) & 255) * b) >> 4);
    store<u16>(out + 4, (((p >> 16) & 255) * a + ((q >> 16) & 255) * b) >> 4);
  }
}

/** Blends two rows of 15 bits into pixels. */
function blendRows(upper: usize, lower: usize, weights: i32, to: usize, width: i32): void {
  const a = <u32>(weights & 0xffff);
  const b = (<u32>weights) >> 16;
  let x = ASC_FEATURE_SIMD ? blendRows4(upper, lower, a, b, to, width) : 0;
  for (let p = upper + (x << 3), q = lower + (x << 3); x < width; x++, p += 8, q += 8)
    store<u32>(
      to + (x << 2),
      blend(load<u16>(p), load<u16>(q), a, b) |
        (blend(load<u16>(p + 2), load<u16>(q + 2), a, b) << 8) |
        (blend(load<u16>(p + 4), load<u16>(q + 4), a, b) << 16),
    );
}

// @ts-ignore: decorator
@inline
function blend(p: u32, q: u32, a: u32, b: u32): u32 {
  return (((p * a) >> 16) + ((q * b) >> 16) + 2) >> 2;
}
