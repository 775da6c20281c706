/**
 * Candidates are met in the order of their scores, and those stand anywhere in memory. Beyond what the caches hold, each would be waited for
 * by itself, since suppression branches on it before the next is looked at. So the next few are touched first, one right after the
 * other, and come at the same time.
 */
import {
  FLAG_NMS_CLASS,
  NEAR,
  ONE_WAVE,
  P_BOXES,
  P_CLASS_IDS,
  P_FLAGS,
  P_ORDER,
  P_ORDERED,
  P_SORTED,
  P_VISITED,
} from "../src/core/abi";
import { sortMore } from "./sort";
import { int, ptr, setInt } from "./word";

/** Touches the candidates that come next, from the i-th on, putting more in order where none are left, and returns where they end. */
export function bringNear(plan: usize, i: i32): i32 {
  let sorted = int(plan, P_SORTED);
  if (i == sorted) sorted = sortMore(plan);
  if (int(plan, P_ORDERED) <= ONE_WAVE) return sorted;
  const end = min(sorted, i + NEAR);
  const order = ptr(plan, P_ORDER);
  const boxes = ptr(plan, P_BOXES);
  const labels = int(plan, P_FLAGS) & FLAG_NMS_CLASS ? ptr(plan, P_CLASS_IDS) : 0;
  let bits = 0;
  for (; i < end; i++) {
    const c = <usize>load<u32>(order + ((<usize>i) << 2));
    bits |= load<i32>(boxes + (c << 4));
    if (labels != 0) bits |= load<i32>(labels + (c << 2));
  }
  // a word that nms writes at its end: what is stored nowhere a compiler need not load
  setInt(plan, P_VISITED, bits);
  return end;
}
