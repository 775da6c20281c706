/**
 * Keeps the best candidates of a multi-label plan that has more of them than rows. Twin of `assembly/overflow.ts`,
 * which says how.
 */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { sort, sortMore } from "./sort.ts";

/** Drops the worst eighth of the candidates. In a multi-label plan the scan and the sort share no scratch. */
export function makeRoom(m: Memory, plan: number): void {
  const { i32, f32 } = m;
  const n = i32[plan + A.P_CANDIDATES];
  const wanted = n - (n >> 3) - 1;
  sort(m, plan << 2);
  while (i32[plan + A.P_SORTED] < wanted) sortMore(m, plan << 2);

  // Find the worst that stays, by score and then by index. Of no more than one row nothing stays.
  const scores = i32[plan + A.P_SCORES] >> 2;
  const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
  const sources = i32[plan + A.P_SOURCES] >> 2;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const last = wanted > 0 ? i32[(i32[plan + A.P_ORDER] >> 2) + wanted - 1] : 0;
  const floor = wanted > 0 ? f32[scores + last] : Infinity;

  // Move forward what stays.
  let k = 0;
  for (let i = 0; i < n; i++) {
    const score = f32[scores + i];
    if (score > floor || (score === floor && i <= last)) {
      f32[scores + k] = score;
      i32[classIds + k] = i32[classIds + i];
      i32[sources + k] = i32[sources + i];
      i32.copyWithin(boxes + 4 * k++, boxes + 4 * i, boxes + 4 * i + 4);
    }
  }
  i32[plan + A.P_CANDIDATES] = k;
  i32[plan + A.P_OVERFLOW] += n - k;
  f32[plan + A.P_FLOOR] = floor;
}
