/**
 * Keeps the best candidates of a multi-label plan that has more candidates than rows.
 * When the columns are full, the best three quarters stay, in the order of the scan. A dropped candidate is thus worse
 * than three quarters of the columns. So at the end the columns hold at least this many of the best candidates; equal
 * ones in the order of the scan.
 */
import {
  P_BOXES,
  P_CANDIDATES,
  P_CLASS_IDS,
  P_ORDER,
  P_OVERFLOW,
  P_SCORES,
  P_SORTED,
  P_SOURCES,
} from "../src/core/abi";
import { sort, sortMore } from "./sort";
import { copy, int, ptr, setInt } from "./word";

/** Drops the worst quarter of the candidates, rounded up. Multi-label plans have separate scratch for the sort. */
export function makeRoom(plan: usize): void {
  const n = int(plan, P_CANDIDATES);
  const wanted = n - (n >> 2) - 1;
  sort(plan);
  while (int(plan, P_SORTED) < wanted) sortMore(plan);

  // Find the worst candidate that stays, by score and then by index. A single candidate is dropped.
  const scores = ptr(plan, P_SCORES);
  let last = 0;
  let floor: f32 = Infinity;
  if (wanted > 0) {
    last = load<i32>(ptr(plan, P_ORDER) + ((<usize>(wanted - 1)) << 2));
    floor = load<f32>(scores + ((<usize>last) << 2));
  }

  // Move forward the candidates that stay.
  let to: usize = 0;
  for (let i = 0; i < n; i++) {
    const from = (<usize>i) << 2;
    const score = load<f32>(scores + from);
    if (score > floor || (score == floor && i <= last)) {
      store<f32>(scores + to, score);
      copy(ptr(plan, P_CLASS_IDS) + to, ptr(plan, P_CLASS_IDS) + from, 4);
      copy(ptr(plan, P_SOURCES) + to, ptr(plan, P_SOURCES) + from, 4);
      copy(ptr(plan, P_BOXES) + (to << 2), ptr(plan, P_BOXES) + (from << 2), 16);
      to += 4;
    }
  }
  const kept = <i32>(to >> 2);
  setInt(plan, P_CANDIDATES, kept);
  setInt(plan, P_OVERFLOW, int(plan, P_OVERFLOW) + n - kept);
}
