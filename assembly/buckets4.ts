/**
 * The buckets of buckets.ts, four candidates at a time. Without this file, decoding takes 1.00 to 1.09 times as long,
 * `nms` alone 1.08 to 1.16 times.
 *
 * The keys of all scores are made first, in the order of memory. A wave then makes one word of each candidate it
 * takes, so that only the insertion looks up a score again:
 *
 *     | bucket | index of the candidate |
 */
import {
  BUCKET_CROWD,
  ONE_WAVE,
  P_CANDIDATES,
  P_COUNTS,
  P_ORDER,
  P_SCORES,
  P_SORTED,
  P_SPARE,
} from "../src/core/abi";
import { bucketAt, byDigits, insertion, keyOf, shiftOf, starts } from "./buckets";
import { clear, int, ptr } from "./word";

/**
 * Puts the candidates with keys in [low, high] in order. `expected` is their approximate count. Returns their count.
 */
export function wave4(plan: usize, low: u32, high: u32, expected: i32): i32 {
  const scores = ptr(plan, P_SCORES);
  const counts = ptr(plan, P_COUNTS);
  const words = ptr(plan, P_SPARE);
  const sorted = int(plan, P_SORTED);
  const order = ptr(plan, P_ORDER) + ((<usize>sorted) << 2);
  const n = int(plan, P_CANDIDATES);
  const range = writeKeys(scores, n, words);
  low = max(low, <u32>(range >> 32));
  high = min(high, <u32>range);

  // The index takes as many bits as it needs. All other bits of a word are for the bucket.
  const free = <i32>clz(n);
  const shift = max(shiftOf(high - low, expected), 32 - free - <i32>clz(high - low));
  const buckets = <i32>((high - low) >> shift) + 1;

  // If one wave takes all candidates, their keys serve as words, and the place of a key is the candidate's index.
  const takesAll = n <= ONE_WAVE;
  const first: u32 = takesAll ? low : 0;
  const bucketShift = takesAll ? shift : 32 - free;
  const indexMask: u32 = u32.MAX_VALUE >> free;
  const count = takesAll ? n : takeWords(words, n, low, high - low, shift, bucketShift, n - sorted, counts);

  // Count the candidates of each bucket.
  const end = (<usize>count) << 2;
  clear(counts, (<usize>buckets) << 2);
  for (let i: usize = 0; i < end; i += 4) {
    const at = bucketAt(counts, load<u32>(words + i), first, bucketShift, u32.MAX_VALUE);
    store<i32>(at, load<i32>(at) + 1);
  }
  if (starts(counts, buckets) > BUCKET_CROWD && shift > 0) {
    for (let i: usize = 0; i < end; i += 4)
      store<u32>(words + i, takesAll ? <u32>(i >> 2) : load<u32>(words + i) & indexMask);
    byDigits(plan, words, order, count, low, high);
    return count;
  }

  // Write each candidate to the next place of its bucket.
  for (let i: usize = 0; i < end; i += 4) {
    const word = load<u32>(words + i);
    const at = bucketAt(counts, word, first, bucketShift, u32.MAX_VALUE);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(order + ((<usize>place) << 2), takesAll ? <u32>(i >> 2) : word & indexMask);
  }
  if (shift > 0) insertion(scores, order, count);
  return count;
}

/**
 * Writes the keys of all candidates. Returns the smallest key in the upper 32 bits, the largest in the lower 32 bits.
 */
function writeKeys(scores: usize, n: i32, to: usize): u64 {
  const end = (<usize>n) << 2;
  let lows = i32x4.splat(-1);
  let highs = i32x4.splat(0);
  let i: usize = 0;
  for (; i + 16 <= end; i += 16) {
    const bits = f32x4.add(v128.load(scores + i), f32x4.splat(0));
    const keys = v128.xor(bits, v128.andnot(i32x4.splat(0x7fffffff), i32x4.shr_s(bits, 31)));
    v128.store(to + i, keys);
    lows = i32x4.min_u(lows, keys);
    highs = i32x4.max_u(highs, keys);
  }
  lows = i32x4.min_u(lows, v128.shuffle<u32>(lows, lows, 2, 3, 0, 1));
  highs = i32x4.max_u(highs, v128.shuffle<u32>(highs, highs, 2, 3, 0, 1));
  let low = min(<u32>i32x4.extract_lane(lows, 0), <u32>i32x4.extract_lane(lows, 1));
  let high = max(<u32>i32x4.extract_lane(highs, 0), <u32>i32x4.extract_lane(highs, 1));
  for (; i < end; i += 4) {
    const key = keyOf(scores, <u32>(i >> 2));
    store<u32>(to + i, key);
    low = min(low, key);
    high = max(high, key);
  }
  return ((<u64>low) << 32) | (<u64>high);
}

/**
 * Turns `n` keys into words in place, for the candidates with keys in [low, low + span], `most` at most. Returns their
 * count. `table` has room for 256 bytes.
 */
function takeWords(
  words: usize,
  n: i32,
  low: u32,
  span: u32,
  shift: i32,
  bucketShift: i32,
  most: i32,
  table: usize,
): i32 {
  // Write, for each mask of four lanes, the byte indices that move the lanes of the mask to the front.
  for (let mask = 0; mask < 16; mask++) {
    let at = table + ((<usize>mask) << 4);
    for (let lane = 0; lane < 4; lane++) {
      store<u32>(at, 0x03020100 + 0x04040404 * lane);
      at += ((mask >> lane) & 1) << 2;
    }
  }
  const lows = i32x4.splat(low);
  const spans = i32x4.splat(span);
  let indices = i32x4(0, 1, 2, 3);
  let to = words;
  const end = to + ((<usize>most) << 2);
  let i = 0;
  for (; i + 4 <= n && to + 16 <= end; i += 4) {
    const keys = i32x4.sub(v128.load(words + ((<usize>i) << 2)), lows);
    const word = v128.or(i32x4.shl(i32x4.shr_u(keys, shift), bucketShift), indices);
    const mask = <usize>i32x4.bitmask(i32x4.le_u(keys, spans));
    indices = i32x4.add(indices, i32x4.splat(4));
    v128.store(to, i8x16.swizzle(word, v128.load(table + (mask << 4))));
    to += (<usize>popcnt(<u32>mask)) << 2;
  }
  // Write every word and advance only if it passes. A branch here would be mispredicted half of the time.
  for (; i < n && to < end; i++) {
    const key = load<u32>(words + ((<usize>i) << 2)) - low;
    store<u32>(to, ((key >> shift) << bucketShift) | i);
    to += (<usize>(key <= span)) << 2;
  }
  return <i32>((to - words) >> 2);
}
