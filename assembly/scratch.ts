/** Places in scratch, drawn in abi.ts (`P_SCRATCH`). */
import { COLUMN_BYTES, MAXIMA, P_SCRATCH, ROW_BYTES } from "../src/abi";
import { ptr } from "./word";

/** The list of rows, their best scores, their labels: each a word for every cell of a block. */
// @ts-ignore: decorator
@inline
export function column(plan: usize, i: i32): usize {
  return ptr(plan, P_SCRATCH) + <usize>(i * COLUMN_BYTES);
}

/** The maxima of the i-th group of classes; once they are used, room for what comes after. */
// @ts-ignore: decorator
@inline
export function groupRow(plan: usize, i: i32): usize {
  return ptr(plan, P_SCRATCH) + <usize>(MAXIMA + (1 + i) * ROW_BYTES);
}
