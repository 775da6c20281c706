/**
 * The function `resize`: bilinear resizing. Resizes the columns once for each row of logits, then mixes two results
 * for each row of the mask. src/tasks/masks/axis.ts writes the tables. With weights of 1 and 0, the tables resize to
 * the nearest pixel.
 */
import {
  M_COLUMNS,
  M_COLUMNS_SIZE,
  M_FIRST,
  M_END,
  M_LOGITS_ROW,
  M_OUT,
  M_OUT_WIDTH,
  M_RESIZED,
  M_ROWS,
  M_ROWS_SIZE,
  M_SCRATCH,
  M_SCRATCH_ROW,
  M_THRESHOLD,
} from "../../src/core/masks-abi";
import { flt, int, ptr } from "../word";
import { columns4, mixed4 } from "./resize4";

/** Writes rows of a mask. Scratch holds the two rows of logits whose columns were resized last. */
export function resize(job: usize): void {
  const width = int(job, M_OUT_WIDTH);
  const last = int(job, M_END);
  const threshold = flt(job, M_THRESHOLD);
  const even = ptr(job, M_SCRATCH);
  const odd = even + ptr(job, M_SCRATCH_ROW);
  const side = ptr(job, M_ROWS_SIZE);
  let heldEven = -1;
  let heldOdd = -1;
  let to = ptr(job, M_OUT);
  for (let y = int(job, M_FIRST); y < last; y++, to += width) {
    const table = ptr(job, M_ROWS) + ((<usize>y) << 2);
    // Even rows of logits use the first row of scratch, odd rows the second: two neighbours never evict each other.
    for (let k: usize = 0; k < 2; k++) {
      const row = load<i32>(table + k * side);
      if ((row & 1) == 0 && row != heldEven) columns(job, (heldEven = row), even, width);
      if ((row & 1) == 1 && row != heldOdd) columns(job, (heldOdd = row), odd, width);
    }
    const upper = load<i32>(table) & 1 ? odd : even;
    const lower = load<i32>(table + side) & 1 ? odd : even;
    mix(upper, lower, load<f32>(table + 2 * side), load<f32>(table + 3 * side), threshold, to, width);
  }
}

/** Resizes the columns of a row of logits. */
function columns(job: usize, row: i32, to: usize, width: i32): void {
  const from = ptr(job, M_RESIZED) + <usize>row * ptr(job, M_LOGITS_ROW);
  const size = ptr(job, M_COLUMNS_SIZE);
  const table = ptr(job, M_COLUMNS);
  let x = ASC_FEATURE_SIMD ? columns4(from, table, size, to, width) : 0;
  for (let t = table + (x << 2); x < width; x++, t += 4)
    store<f32>(
      to + (x << 2),
      load<f32>(from + (load<i32>(t) << 2)) * load<f32>(t + 2 * size) +
        load<f32>(from + (load<i32>(t + size) << 2)) * load<f32>(t + 3 * size),
    );
}

/** Writes 1 where the weighted sum of two rows is above the threshold, else 0. */
function mix(upper: usize, lower: usize, a: f32, b: f32, threshold: f32, to: usize, width: i32): void {
  let x = ASC_FEATURE_SIMD ? mixed4(upper, lower, a, b, threshold, to, width) : 0;
  for (; x < width; x++) {
    const at = x << 2;
    store<u8>(to + x, <u8>(load<f32>(upper + at) * a + load<f32>(lower + at) * b > threshold));
  }
}
