/** Orders candidates: best first, ties by index. `assembly/sort.ts`, its twin, explains the waves. */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { FIRST_KEY, LAST_KEY, bucketed, gather, insertion, keyOf } from "./buckets.ts";

/** Count of parts into which the range of a sample is divided. */
const PARTS = 256;

/** Orders the first wave. Returns how many candidates suppression may read. */
export function sort(m: Memory, at: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  const ordered = Math.min(i32[plan + A.P_CANDIDATES], i32[plan + A.P_MAX_CANDIDATES]);
  i32[plan + A.P_ORDERED] = ordered;
  i32[plan + A.P_SORTED] = 0;
  if (ordered > 0) sortMore(m, at);
  return ordered;
}

/** Orders the next wave. Returns how many candidates are in order so far. */
export function sortMore(m: Memory, at: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  const n = i32[plan + A.P_CANDIDATES];
  const scores = i32[plan + A.P_SCORES] >> 2;
  const sorted = i32[plan + A.P_SORTED];
  const order = (i32[plan + A.P_ORDER] >> 2) + sorted;
  let added = 0;
  if (n <= A.SORT_SMALL) {
    for (; added < n; added++) i32[order + added] = added;
    insertion(m, scores, order, n);
  } else {
    const low = sorted > 0 ? keyOf(i32[scores + i32[order - 1]]) + 1 : FIRST_KEY;
    const wanted = Math.max(A.FIRST_WAVE, Math.min(n >> 3, 4 * A.FIRST_WAVE), 4 * sorted);
    if (n > A.ONE_WAVE && wanted < n - (n >> 2)) {
      const high = quantile(m, plan, wanted);
      if (high >= low) added = wave(m, plan, low, high);
    }
    // If the sample was not representative, order all remaining candidates: waves would be small or empty.
    if (added * 4 < wanted - sorted) added = wave(m, plan, low, LAST_KEY);
  }
  i32[plan + A.P_SORTED] = sorted + added;
  return sorted + added;
}

/** Orders the candidates with keys in [low, high]. Returns their count. */
function wave(m: Memory, plan: number, low: number, high: number): number {
  const { i32 } = m;
  const sorted = i32[plan + A.P_SORTED];
  const n = i32[plan + A.P_CANDIDATES];
  const spare = i32[plan + A.P_SPARE] >> 2;
  const count = gather(i32, i32[plan + A.P_SCORES] >> 2, n, low, high, spare, n - sorted);
  bucketed(m, plan, spare, (i32[plan + A.P_ORDER] >> 2) + sorted, count);
  return count;
}

/**
 * Returns a key that about `wanted` candidates do not exceed. The key is exact for the sample, up to a 256th of the
 * sample's range.
 */
function quantile({ i32 }: Memory, plan: number, wanted: number): number {
  const scores = i32[plan + A.P_SCORES] >> 2;
  const counts = i32[plan + A.P_COUNTS] >> 2;
  const step = (i32[plan + A.P_CANDIDATES] / A.SORT_SAMPLE) | 0;

  // Find the range of the sample.
  let low = LAST_KEY;
  let high = FIRST_KEY;
  for (let i = 0; i < A.SORT_SAMPLE; i++) {
    const key = keyOf(i32[scores + i * step]);
    if (key < low) low = key;
    if (key > high) high = key;
  }

  // Count the sample's keys in parts of that range.
  const shift = Math.max(0, 24 - Math.clz32(high - low));
  i32.fill(0, counts, counts + PARTS);
  for (let i = 0; i < A.SORT_SAMPLE; i++) i32[counts + ((keyOf(i32[scores + i * step]) - low) >>> shift)]++;

  // Take parts until they hold at least one candidate, and the same share of the sample as `wanted` is of all
  // candidates.
  const rank = Math.max(1, (wanted / step) | 0);
  let part = 0;
  for (let seen = 0; seen < rank; part++) seen += i32[counts + part];
  return part < PARTS ? (low + (part << shift) - 1) | 0 : LAST_KEY;
}
