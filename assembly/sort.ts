/**
 * Puts candidates in order: best score first, ties by candidate index (head, anchor, cell, class).
 *
 * Candidates are sorted into buckets by the bits of their scores, or digit by digit if many scores are close
 * (buckets.ts). Both sorts are stable, so ties need no comparison. Both are linear, so a low threshold costs no more
 * per candidate than a high one.
 *
 * Suppression seldom looks at all candidates. A large set of candidates is therefore put in order in waves:
 *
 *     order   | first wave: about the best 1,024, or an eighth | second: three times as many | ...
 *             0                                          P_SORTED: the candidates in order so far
 *
 * A sample of the scores decides where a wave ends. A wave takes every candidate between its two keys, so its end does
 * not change the order. Sorting all candidates at once took 3.1 to 7.7 times as long.
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
import { wave4 } from "./buckets4";
import { clear, int, ptr, setInt } from "./word";

/** Count of parts into which the range of a sample is divided. */
const PARTS = 256;

/** Sorts the first wave. Returns how many candidates suppression may compare in total. */
export function sort(plan: usize): i32 {
  const ordered = min(int(plan, P_CANDIDATES), int(plan, P_MAX_CANDIDATES));
  setInt(plan, P_ORDERED, ordered);
  setInt(plan, P_SORTED, 0);
  if (ordered > 0) sortMore(plan);
  return ordered;
}

/** Sorts the next wave. Returns how many candidates are in order now. */
export function sortMore(plan: usize): i32 {
  const n = int(plan, P_CANDIDATES);
  const scores = ptr(plan, P_SCORES);
  const sorted = int(plan, P_SORTED);
  const order = ptr(plan, P_ORDER) + ((<usize>sorted) << 2);
  let added = 0;
  if (n <= SORT_SMALL) {
    for (; added < n; added++) store<i32>(order + ((<usize>added) << 2), added);
    insertion(scores, order, n);
  } else {
    const low = sorted > 0 ? keyOf(scores, load<u32>(order - 4)) + 1 : 0;
    // The first wave takes an eighth of many candidates, since reading all scores takes as long as sorting an eighth.
    // It takes at most 4 * FIRST_WAVE, since suppression seldom asks for more.
    const wanted = max(max(FIRST_WAVE, min(n >> 3, 4 * FIRST_WAVE)), 4 * sorted);
    if (n > ONE_WAVE && wanted < n - (n >> 2)) {
      const high = quantile(plan, wanted);
      if (high >= low) added = wave(plan, low, high, wanted - sorted);
    }
    // If the sample was misleading, sort all remaining candidates at once, rather than many small waves or an empty
    // one.
    if (added * 4 < wanted - sorted) added = wave(plan, low, u32.MAX_VALUE, n - sorted);
  }
  setInt(plan, P_SORTED, sorted + added);
  return sorted + added;
}

/** Puts the candidates with keys in [low, high], about `expected` of them, in order. Returns their count. */
function wave(plan: usize, low: u32, high: u32, expected: i32): i32 {
  if (ASC_FEATURE_SIMD) return wave4(plan, low, high, expected);
  const sorted = int(plan, P_SORTED);
  const n = int(plan, P_CANDIDATES);
  const spare = ptr(plan, P_SPARE);
  const count = gather(ptr(plan, P_SCORES), n, low, high - low, spare, n - sorted);
  bucketed(plan, spare, ptr(plan, P_ORDER) + ((<usize>sorted) << 2), count);
  return count;
}

/**
 * Returns a key that about `wanted` candidates do not exceed. The key is exact for the sample, up to a 256th of the
 * sample's range.
 */
function quantile(plan: usize, wanted: i32): u32 {
  const scores = ptr(plan, P_SCORES);
  const counts = ptr(plan, P_COUNTS);
  const step = int(plan, P_CANDIDATES) / SORT_SAMPLE;

  // Find the range of the sample.
  let low = u32.MAX_VALUE;
  let high: u32 = 0;
  for (let i = 0, candidate = 0; i < SORT_SAMPLE; i++, candidate += step) {
    const key = keyOf(scores, candidate);
    low = min(low, key);
    high = max(high, key);
  }

  // Count the sample in parts of that range.
  const shift = max(0, 24 - <i32>clz(high - low));
  clear(counts, PARTS << 2);
  for (let i = 0, candidate = 0; i < SORT_SAMPLE; i++, candidate += step) {
    const at = counts + ((<usize>((keyOf(scores, candidate) - low) >> shift)) << 2);
    store<i32>(at, load<i32>(at) + 1);
  }

  // Take parts until they hold at least one candidate, and the same share of the sample as `wanted` is of all
  // candidates.
  const rank = max(1, wanted / step);
  let seen = 0;
  let part: u32 = 0;
  for (; seen < rank; part++) seen += load<i32>(counts + ((<usize>part) << 2));
  return part < <u32>PARTS ? low + (part << shift) - 1 : u32.MAX_VALUE;
}
