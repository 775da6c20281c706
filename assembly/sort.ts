/**
 * Candidates in order: best score first, ties by candidate number (head, anchor, cell, class).
 *
 * The bits of the scores say which of some hundred buckets a candidate falls into; within a bucket a few are left to
 * insert. Where scores crowd in one bucket a radix sort does it instead, least significant digit first. Both are
 * stable, so ties need no comparison, and linear, so a low threshold costs no more per candidate than a high one.
 *
 * Of many candidates only the best are put in order at first, since suppression seldom looks further:
 *
 *     order   | first wave: about the best 1,024 | second: as many again | ...     P_SORTED: how far it has come
 *
 * A sample of the scores says where a wave ends. Wherever that is, the order is that of sorting them all: a wave
 * takes every candidate between its two scores.
 */
import {
  ONE_WAVE,
  P_CANDIDATES,
  P_COUNTS,
  P_MAX_CANDIDATES,
  P_ORDER,
  P_ORDERED,
  P_SCORES,
  P_SORTED,
  P_SPARE,
} from "../src/abi";
import { clear, copy, int, ptr, setInt } from "./word";

/** Up to so many candidates are inserted one by one. */
const SMALL = 24;
/** Up to so many go in one wave. */
const FIRST_WAVE = 1024;
const SAMPLE = 512;
const DIGIT = 8;
const RANGE = 1 << DIGIT;
/** A bucket with more than `CROWD` in it is too many to insert. */
const CROWD = 32;

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
  const sorted = int(plan, P_SORTED);
  const order = ptr(plan, P_ORDER) + ((<usize>sorted) << 2);
  const spare = ptr(plan, P_SPARE) + ((<usize>sorted) << 2);
  const low = sorted > 0 ? keyOf(scores, load<u32>(order - 4)) + 1 : 0;
  const wanted = max(FIRST_WAVE, 2 * sorted);
  let high = u32.MAX_VALUE;
  if (n > ONE_WAVE && wanted < n - (n >> 2)) {
    high = quantile(scores, counts, n, wanted);
    // a wave that the sample would leave empty takes all that is left
    if (high < low) high = u32.MAX_VALUE;
  }
  let m: i32;
  if (n <= SMALL) {
    m = gather(scores, n, low, high - low, order, n - sorted);
    insertion(scores, order, m);
  } else if (ASC_FEATURE_SIMD && n <= ONE_WAVE && allBucketed(scores, n, spare, order, counts)) m = n;
  else {
    m = gather(scores, n, low, high - low, spare, n - sorted);
    // a sample that mistook the scores: all that is left, rather than many small waves or an empty one
    if (high != u32.MAX_VALUE && m * 4 < wanted - sorted)
      m = gather(scores, n, low, u32.MAX_VALUE - low, spare, n - sorted);
    bucketed(scores, spare, order, counts, m);
  }
  setInt(plan, P_SORTED, sorted + m);
  return sorted + m;
}

/** Inserts rows that are nearly in order, or few. */
function insertion(scores: usize, order: usize, n: i32): void {
  const end = order + ((<usize>n) << 2);
  for (let at = order + 4; at < end; at += 4) {
    const row = load<u32>(at);
    const score = load<f32>(scores + ((<usize>row) << 2));
    let to = at;
    for (; to > order; to -= 4) {
      const before = load<u32>(to - 4);
      if (load<f32>(scores + ((<usize>before) << 2)) >= score) break;
      store<u32>(to, before);
    }
    store<u32>(to, row);
  }
}

/** Bits whose ascending order as unsigned integers is the descending order of the floats; -0 equals +0. */
// @ts-ignore: decorator
@inline
function keyOf(scores: usize, row: u32): u32 {
  const bits = reinterpret<i32>(load<f32>(scores + ((<usize>row) << 2)) + 0);
  // positive: all bits but the sign turned over; negative: as they are, which puts them behind
  return <u32>(bits ^ (~(bits >> 31) & 0x7fffffff));
}

/** The same of four floats. */
// @ts-ignore: decorator
@inline
function keysOf(scores: usize): v128 {
  const bits = f32x4.add(v128.load(scores), f32x4.splat(0));
  return v128.xor(bits, v128.andnot(i32x4.splat(0x7fffffff), i32x4.shr_s(bits, 31)));
}

/** A key that about `wanted` of the n candidates do not exceed: exact for the sample, to a 256th of its range. */
function quantile(scores: usize, counts: usize, n: i32, wanted: i32): u32 {
  const step = n / SAMPLE;
  let low = u32.MAX_VALUE;
  let high: u32 = 0;
  for (let i = 0, row = 0; i < SAMPLE; i++, row += step) {
    const k = keyOf(scores, row);
    low = min(low, k);
    high = max(high, k);
  }
  const shift = max(0, 32 - DIGIT - <i32>clz(high - low));
  clear(counts, RANGE << 2);
  for (let i = 0, row = 0; i < SAMPLE; i++, row += step) {
    const at = counts + ((<usize>((keyOf(scores, row) - low) >> shift)) << 2);
    store<i32>(at, load<i32>(at) + 1);
  }
  // of the sample as many as `wanted` is of all; at least one
  const rank = max(1, wanted / step);
  let seen = 0;
  let bucket: u32 = 0;
  for (; seen < rank; bucket++) seen += load<i32>(counts + ((<usize>bucket) << 2));
  return bucket < <u32>RANGE ? low + (bucket << shift) - 1 : u32.MAX_VALUE;
}

/** Writes the rows whose key lies in [low, low + span] to `to`, of which there are at most `most`, and returns how many. */
function gather(scores: usize, n: i32, low: u32, span: u32, to: usize, most: i32): i32 {
  let out = to;
  let i = 0;
  if (span == u32.MAX_VALUE) {
    for (; i < n; i++) store<i32>(to + ((<usize>i) << 2), i);
    return n;
  }
  if (ASC_FEATURE_SIMD) {
    const lows = i32x4.splat(low);
    const spans = i32x4.splat(span);
    for (; i + 4 <= n; i += 4) {
      const k = keysOf(scores + ((<usize>i) << 2));
      let mask = i32x4.bitmask(i32x4.le_u(i32x4.sub(k, lows), spans));
      while (mask != 0) {
        store<i32>(out, i + ctz(mask));
        out += 4;
        mask &= mask - 1;
      }
    }
  }
  // always written, and counted if it counts: a branch would be guessed wrong as often as right
  const end = to + ((<usize>most) << 2);
  for (; i < n && out < end; i++) {
    store<i32>(out, i);
    out += (<usize>(keyOf(scores, i) - low <= span)) << 2;
  }
  return <i32>((out - to) >> 2);
}

/** Sorts the m rows at `from`, which stand in order of their number, into `order`. */
function bucketed(scores: usize, from: usize, order: usize, counts: usize, m: i32): void {
  let low = u32.MAX_VALUE;
  let high: u32 = 0;
  for (let i = 0; i < m; i++) {
    const k = keyOf(scores, load<u32>(from + ((<usize>i) << 2)));
    low = min(low, k);
    high = max(high, k);
  }
  const bits = 32 - <i32>clz(high - low);
  const shift = shiftOf(high - low, m);
  const buckets = <i32>((high - low) >> shift) + 1;
  const most = count(scores, from, counts, m, low, shift, buckets, u32.MAX_VALUE);
  if (most <= CROWD || shift == 0) {
    scatter(scores, from, order, counts, m, low, shift, u32.MAX_VALUE);
    if (shift > 0) insertion(scores, order, m);
    return;
  }
  let to = order;
  for (let digit = 0; digit < bits; digit += DIGIT) {
    count(scores, from, counts, m, low, digit, RANGE, RANGE - 1);
    scatter(scores, from, to, counts, m, low, digit, RANGE - 1);
    const next = from;
    from = to;
    to = next;
  }
  if (from != order) copy(order, from, (<usize>m) << 2);
}

/**
 * `bucketed` for all n candidates, whose keys are made once, four at a time, and stand at `keys` for a while. False where they crowd in one
 * bucket: then nothing is in order yet. Vector builds only.
 */
function allBucketed(scores: usize, n: i32, keys: usize, order: usize, counts: usize): bool {
  const end = (<usize>n) << 2;
  let lows = i32x4.splat(-1);
  let highs = i32x4.splat(0);
  let i: usize = 0;
  for (; i + 16 <= end; i += 16) {
    const k = keysOf(scores + i);
    v128.store(keys + i, k);
    lows = i32x4.min_u(lows, k);
    highs = i32x4.max_u(highs, k);
  }
  lows = i32x4.min_u(lows, v128.shuffle<u32>(lows, lows, 2, 3, 0, 1));
  highs = i32x4.max_u(highs, v128.shuffle<u32>(highs, highs, 2, 3, 0, 1));
  let low = min(<u32>i32x4.extract_lane(lows, 0), <u32>i32x4.extract_lane(lows, 1));
  let high = max(<u32>i32x4.extract_lane(highs, 0), <u32>i32x4.extract_lane(highs, 1));
  for (; i < end; i += 4) {
    const k = keyOf(scores, <u32>(i >> 2));
    store<u32>(keys + i, k);
    low = min(low, k);
    high = max(high, k);
  }
  const shift = shiftOf(high - low, n);
  const buckets = <i32>((high - low) >> shift) + 1;
  clear(counts, (<usize>buckets) << 2);
  for (i = 0; i < end; i += 4) {
    const at = bucketAt(counts, load<u32>(keys + i), low, shift, u32.MAX_VALUE);
    store<i32>(at, load<i32>(at) + 1);
  }
  if (starts(counts, buckets) > CROWD && shift > 0) return false;
  for (i = 0; i < end; i += 4) {
    const at = bucketAt(counts, load<u32>(keys + i), low, shift, u32.MAX_VALUE);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(order + ((<usize>place) << 2), <u32>(i >> 2));
  }
  if (shift > 0) insertion(scores, order, n);
  return true;
}

/** Low bits of a key that do not say its bucket, with about twice as many buckets as candidates. */
// @ts-ignore: decorator
@inline
function shiftOf(span: u32, m: i32): i32 {
  return max(0, 32 - <i32>clz(span) - min(33 - <i32>clz(m), 11));
}

/** How many candidates lie before each bucket; returns the most in one. */
function count(
  scores: usize,
  from: usize,
  counts: usize,
  m: i32,
  low: u32,
  shift: i32,
  buckets: i32,
  mask: u32,
): i32 {
  clear(counts, (<usize>buckets) << 2);
  for (let i = 0; i < m; i++) {
    const at = bucketAt(counts, keyOf(scores, load<u32>(from + ((<usize>i) << 2))), low, shift, mask);
    store<i32>(at, load<i32>(at) + 1);
  }
  return starts(counts, buckets);
}

/** Where the bucket of a key stands. */
// @ts-ignore: decorator
@inline
function bucketAt(counts: usize, key: u32, low: u32, shift: i32, mask: u32): usize {
  return counts + ((<usize>(((key - low) >> shift) & mask)) << 2);
}

/** Counts of buckets to where each begins; returns the largest count. */
function starts(counts: usize, buckets: i32): i32 {
  let sum = 0;
  let most = 0;
  for (let b = 0; b < buckets; b++) {
    const at = counts + ((<usize>b) << 2);
    const c = load<i32>(at);
    store<i32>(at, sum);
    sum += c;
    most = max(most, c);
  }
  return most;
}

function scatter(
  scores: usize,
  from: usize,
  to: usize,
  counts: usize,
  m: i32,
  low: u32,
  shift: i32,
  mask: u32,
): void {
  for (let i = 0; i < m; i++) {
    const row = load<u32>(from + ((<usize>i) << 2));
    const at = bucketAt(counts, keyOf(scores, row), low, shift, mask);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(to + ((<usize>place) << 2), row);
  }
}
