/**
 * Candidates in order: best score first, ties by candidate number (head, anchor, cell, class).
 *
 * They go into buckets by the bits of their scores (buckets.ts), or digit by digit where these crowd. Both are stable, so ties need no
 * comparison, and linear, so a low threshold costs no more per candidate than a high one.
 *
 * Of many candidates only the best are put in order at first, since suppression seldom looks further:
 *
 *     order   | first wave: about the best 1,024, or an eighth | second: three times as many | ...     P_SORTED: how far it has come
 *
 * A sample of the scores says where a wave ends. Wherever that is, the order is that of sorting them all: a wave
 * takes every candidate between its two scores.
 */
import {
  FIRST_WAVE,
  ONE_WAVE,
  P_CANDIDATES,
  P_COUNTS,
  P_MAX_CANDIDATES,
  P_ORDER,
  P_ORDERED,
  P_SCORES,
  P_SORTED,
  P_SPARE,
  SORT_SAMPLE,
  SORT_SMALL,
} from "../src/core/abi";
import { bucketed, gather, insertion, keyOf } from "./buckets";
import { bucketed4 } from "./buckets4";
import { clear, int, ptr, setInt } from "./word";

/** Parts of the sample's range. */
const PARTS = 256;

export function sort(plan: usize): i32 {
  const ordered = min(int(plan, P_CANDIDATES), int(plan, P_MAX_CANDIDATES));
  setInt(plan, P_ORDERED, ordered);
  setInt(plan, P_SORTED, 0);
  if (ordered > 0) sortMore(plan);
  return ordered;
}

/** Puts the next wave in order and returns how many are now. */
export function sortMore(plan: usize): i32 {
  const n = int(plan, P_CANDIDATES);
  const scores = ptr(plan, P_SCORES);
  const counts = ptr(plan, P_COUNTS);
  const spare = ptr(plan, P_SPARE);
  const sorted = int(plan, P_SORTED);
  const order = ptr(plan, P_ORDER) + ((<usize>sorted) << 2);
  let m = 0;
  if (n <= SORT_SMALL) {
    for (; m < n; m++) store<i32>(order + ((<usize>m) << 2), m);
    insertion(scores, order, n);
  } else {
    const low = sorted > 0 ? keyOf(scores, load<u32>(order - 4)) + 1 : 0;
    // each wave goes through all the scores, which takes as long as to sort an eighth of them; but suppression seldom asks for so many thousands
    const wanted = max(max(FIRST_WAVE, min(n >> 3, 4 * FIRST_WAVE)), 4 * sorted);
    if (n > ONE_WAVE && wanted < n - (n >> 2)) {
      const high = quantile(scores, counts, n, wanted);
      if (high >= low) m = wave(scores, n, low, high, wanted - sorted, n - sorted, spare, order, counts);
    }
    // a sample that mistook the scores: all that is left, rather than many small waves or an empty one
    if (m * 4 < wanted - sorted)
      m = wave(scores, n, low, u32.MAX_VALUE, n - sorted, n - sorted, spare, order, counts);
  }
  setInt(plan, P_SORTED, sorted + m);
  return sorted + m;
}

/** Puts the candidates with keys in [low, high] in order, about `expected` and at most `most` of them, and returns how many they are. */
function wave(
  scores: usize,
  n: i32,
  low: u32,
  high: u32,
  expected: i32,
  most: i32,
  spare: usize,
  order: usize,
  counts: usize,
): i32 {
  if (ASC_FEATURE_SIMD) return bucketed4(scores, n, low, high, expected, most, spare, order, counts);
  const m = gather(scores, n, low, high - low, spare, most);
  bucketed(scores, spare, order, counts, m);
  return m;
}

/** A key that about `wanted` of the n candidates do not exceed: exact for the sample, to a 256th of its range. */
function quantile(scores: usize, counts: usize, n: i32, wanted: i32): u32 {
  const step = n / SORT_SAMPLE;
  let low = u32.MAX_VALUE;
  let high: u32 = 0;
  for (let i = 0, row = 0; i < SORT_SAMPLE; i++, row += step) {
    const k = keyOf(scores, row);
    low = min(low, k);
    high = max(high, k);
  }
  const shift = max(0, 24 - <i32>clz(high - low));
  clear(counts, PARTS << 2);
  for (let i = 0, row = 0; i < SORT_SAMPLE; i++, row += step) {
    const at = counts + ((<usize>((keyOf(scores, row) - low) >> shift)) << 2);
    store<i32>(at, load<i32>(at) + 1);
  }
  // of the sample as many as `wanted` is of all; at least one
  const rank = max(1, wanted / step);
  let seen = 0;
  let bucket: u32 = 0;
  for (; seen < rank; bucket++) seen += load<i32>(counts + ((<usize>bucket) << 2));
  return bucket < <u32>PARTS ? low + (bucket << shift) - 1 : u32.MAX_VALUE;
}
