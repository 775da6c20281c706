/**
 * The buckets of buckets.ts four candidates at a time. Vector builds only.
 *
 * Keys are made of all scores, in the order of memory. Where only those of one wave are wanted, each of these is one word, so that no score is
 * looked up again but to insert:
 *
 *     bucket | number of the candidate
 */
import { ONE_WAVE } from "../src/core/abi";
import { BUCKET_CROWD } from "../src/core/abi";
import { bucketAt, byDigits, insertion, keyOf, shiftOf, starts } from "./buckets";
import { clear } from "./word";

/**
 * Puts the candidates with keys in [low, high] in order, about `expected` and at most `most` of them, and returns how many they are. At
 * `words` there is room for all n.
 */
export function bucketed4(
  scores: usize,
  n: i32,
  low: u32,
  high: u32,
  expected: i32,
  most: i32,
  words: usize,
  order: usize,
  counts: usize,
): i32 {
  const ends = keys(scores, n, words);
  low = max(low, <u32>(ends >> 32));
  high = min(high, <u32>ends);
  // a word has room for so many buckets
  const free = <i32>clz(n);
  const shift = max(shiftOf(high - low, expected), 32 - free - <i32>clz(high - low));
  const buckets = <i32>((high - low) >> shift) + 1;
  // where all are wanted their keys do
  const all = n <= ONE_WAVE;
  const first: u32 = all ? low : 0;
  const up = all ? shift : 32 - free;
  const number: u32 = u32.MAX_VALUE >> free;
  const m = all ? n : gather(words, n, low, high - low, shift, up, most, counts);
  const end = (<usize>m) << 2;
  clear(counts, (<usize>buckets) << 2);
  for (let i: usize = 0; i < end; i += 4) {
    const at = bucketAt(counts, load<u32>(words + i), first, up, u32.MAX_VALUE);
    store<i32>(at, load<i32>(at) + 1);
  }
  if (starts(counts, buckets) > BUCKET_CROWD && shift > 0) {
    for (let i: usize = 0; i < end; i += 4)
      store<u32>(words + i, all ? <u32>(i >> 2) : load<u32>(words + i) & number);
    byDigits(scores, words, order, counts, m, low, high);
    return m;
  }
  for (let i: usize = 0; i < end; i += 4) {
    const word = load<u32>(words + i);
    const at = bucketAt(counts, word, first, up, u32.MAX_VALUE);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(order + ((<usize>place) << 2), all ? <u32>(i >> 2) : word & number);
  }
  if (shift > 0) insertion(scores, order, m);
  return m;
}

/** Writes the keys of all candidates; returns the smallest, and in the lower half the largest. */
function keys(scores: usize, n: i32, to: usize): u64 {
  const end = (<usize>n) << 2;
  let lows = i32x4.splat(-1);
  let highs = i32x4.splat(0);
  let i: usize = 0;
  for (; i + 16 <= end; i += 16) {
    const bits = f32x4.add(v128.load(scores + i), f32x4.splat(0));
    const k = v128.xor(bits, v128.andnot(i32x4.splat(0x7fffffff), i32x4.shr_s(bits, 31)));
    v128.store(to + i, k);
    lows = i32x4.min_u(lows, k);
    highs = i32x4.max_u(highs, k);
  }
  lows = i32x4.min_u(lows, v128.shuffle<u32>(lows, lows, 2, 3, 0, 1));
  highs = i32x4.max_u(highs, v128.shuffle<u32>(highs, highs, 2, 3, 0, 1));
  let low = min(<u32>i32x4.extract_lane(lows, 0), <u32>i32x4.extract_lane(lows, 1));
  let high = max(<u32>i32x4.extract_lane(highs, 0), <u32>i32x4.extract_lane(highs, 1));
  for (; i < end; i += 4) {
    const k = keyOf(scores, <u32>(i >> 2));
    store<u32>(to + i, k);
    low = min(low, k);
    high = max(high, k);
  }
  return ((<u64>low) << 32) | (<u64>high);
}

/** Keys of n candidates to words of those in [low, low + span], of which there are at most `most`; returns how many. */
function gather(
  words: usize,
  n: i32,
  low: u32,
  span: u32,
  shift: i32,
  up: i32,
  most: i32,
  table: usize,
): i32 {
  // of four lanes those that count, moved to the front: for each mask where its bytes come from
  for (let mask = 0; mask < 16; mask++) {
    let at = table + ((<usize>mask) << 4);
    for (let lane = 0; lane < 4; lane++) {
      store<u32>(at, 0x03020100 + 0x04040404 * lane);
      at += ((mask >> lane) & 1) << 2;
    }
  }
  const lows = i32x4.splat(low);
  const spans = i32x4.splat(span);
  let numbers = i32x4(0, 1, 2, 3);
  let to = words;
  const end = to + ((<usize>most) << 2);
  let i = 0;
  for (; i + 4 <= n && to + 16 <= end; i += 4) {
    const k = i32x4.sub(v128.load(words + ((<usize>i) << 2)), lows);
    const word = v128.or(i32x4.shl(i32x4.shr_u(k, shift), up), numbers);
    const mask = <usize>i32x4.bitmask(i32x4.le_u(k, spans));
    numbers = i32x4.add(numbers, i32x4.splat(4));
    v128.store(to, i8x16.swizzle(word, v128.load(table + (mask << 4))));
    to += (<usize>popcnt(<u32>mask)) << 2;
  }
  // always written, and counted if it counts: a branch would be guessed wrong as often as right
  for (; i < n && to < end; i++) {
    const k = load<u32>(words + ((<usize>i) << 2)) - low;
    store<u32>(to, ((k >> shift) << up) | i);
    to += (<usize>(k <= span)) << 2;
  }
  return <i32>((to - words) >> 2);
}
