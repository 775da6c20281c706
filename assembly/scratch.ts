/** Places in scratch, drawn in abi.ts (`P_SCRATCH`). */
import { COLUMN_BYTES, P_COLUMN, P_SCRATCH, ROW_BYTES } from "../src/core/abi";
import { ptr } from "./word";

/** Bytes of a column. */
// @ts-ignore: decorator
@inline
export function columnBytes(plan: usize): usize {
  return ASC_FEATURE_SIMD ? ptr(plan, P_COLUMN) : COLUMN_BYTES;
}

/** The list of rows, their best scores, their labels: each a word for every cell of a block. */
// @ts-ignore: decorator
@inline
export function column(plan: usize, i: i32): usize {
  return ptr(plan, P_SCRATCH) + <usize>i * columnBytes(plan);
}

/** The maxima of the cells of a block, and behind them those of the groups. */
// @ts-ignore: decorator
@inline
export function rows(plan: usize): usize {
  return column(plan, 3);
}

/** Room for a word for every cell of a block of floats with an objectness, once the maxima are used. */
// @ts-ignore: decorator
@inline
export function spare(plan: usize, i: i32): usize {
  return rows(plan) + <usize>((1 + i) * ROW_BYTES);
}
