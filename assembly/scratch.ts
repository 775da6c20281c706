/**
 * Addresses in the scratch memory of the scan. `src/core/abi.ts` draws it at COLUMN_BYTES.
 *
 * Only here: the whole file. `scan` of the TypeScript engine divides the scratch differently.
 */
import { COLUMN_BYTES, P_COLUMN, P_SCRATCH, ROW_BYTES } from "../src/core/abi";
import { ptr } from "./word";

/** Returns the bytes of a column. */
// @ts-ignore: decorator
@inline
function columnBytes(plan: usize): usize {
  return ASC_FEATURE_SIMD ? ptr(plan, P_COLUMN) : COLUMN_BYTES;
}

/** Returns the address of a column with a word for each cell. 0: list of rows; 1: best values; 2: best classes. */
// @ts-ignore: decorator
@inline
export function column(plan: usize, i: i32): usize {
  return ptr(plan, P_SCRATCH) + <usize>i * columnBytes(plan);
}

/**
 * Returns the address of the row with the maximum of each cell of a block. The rows of the groups follow. Vector kernel
 * only.
 */
// @ts-ignore: decorator
@inline
export function rows(plan: usize): usize {
  return column(plan, 3);
}

/**
 * Returns the address of a column with a word for every cell, in memory for the rows of groups. Heads with objectness
 * use it, since they have no groups.
 */
// @ts-ignore: decorator
@inline
export function spare(plan: usize, i: i32): usize {
  return rows(plan) + <usize>((1 + i) * ROW_BYTES);
}
