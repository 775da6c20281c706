/** Touches candidates before their turn. Twin of `assembly/near.ts`, which says why. */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { sortMore } from "./sort.ts";

/** Touches the candidates that come next, from the i-th on, putting more in order where none are left, and returns where they end. */
export function bringNear(m: Memory, at: number, i: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  let sorted = i32[plan + A.P_SORTED];
  if (i === sorted) sorted = sortMore(m, at);
  if (i32[plan + A.P_ORDERED] <= A.ONE_WAVE) return sorted;
  const end = Math.min(sorted, i + A.NEAR);
  const order = i32[plan + A.P_ORDER] >> 2;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const labels = (i32[plan + A.P_FLAGS] & A.FLAG_NMS_CLASS) !== 0 ? i32[plan + A.P_CLASS_IDS] >> 2 : 0;
  let bits = 0;
  for (; i < end; i++) {
    const c = i32[order + i];
    bits |= i32[boxes + c * 4];
    if (labels !== 0) bits |= i32[labels + c];
  }
  // a word that nms writes at its end: what is stored nowhere a compiler need not load
  i32[plan + A.P_VISITED] = bits;
  return end;
}
