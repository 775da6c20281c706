/** Keeps the best candidates of a multi-label plan with more candidates than rows. Twin of `assembly/overflow.ts`. */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { sort, sortMore } from "./sort.ts";

/** Drops the worst quarter of the candidates, rounded up. Multi-label plans have separate scratch for the sort. */
export function makeRoom(m: Memory, plan: number): void {
  const { i32, f32 } = m;
  const n = i32[plan + A.P_CANDIDATES];
  const wanted = n - (n >> 2) - 1;
  sort(m, plan << 2);
  while (i32[plan + A.P_SORTED] < wanted) sortMore(m, plan << 2);

  // Find the worst candidate that stays, by score and then by index. A single candidate is dropped.
  const scores = i32[plan + A.P_SCORES] >> 2;
  const last = i32[(i32[plan + A.P_ORDER] >> 2) + wanted - 1];
  const floor = wanted > 0 ? f32[scores + last] : Infinity;

  // Move the candidates that stay to the front.
  let k = 0;
  for (let i = 0; i < n; i++) {
    const score = f32[scores + i];
    if (score > floor || (score === floor && i <= last)) {
      for (let column = A.P_SCORES; column <= A.P_BOXES; column++) {
        const words = column === A.P_BOXES ? 4 : 1;
        const from = (i32[plan + column] >> 2) + words * i;
        i32.copyWithin(from - words * (i - k), from, from + words);
      }
      k++;
    }
  }
  i32[plan + A.P_CANDIDATES] = k;
  i32[plan + A.P_OVERFLOW] += n - k;
}
