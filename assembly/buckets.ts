/**
 * The bits of the scores say which of some hundred buckets a candidate falls into; within a bucket a few are left to insert. Where scores
 * crowd in one bucket a radix sort does it instead, least significant digit first. Vector builds do the first of this four at a time
 * (buckets4.ts).
 */
import { BUCKET_BITS, BUCKET_CROWD } from "../src/core/abi";
import { clear, copy } from "./word";

const DIGIT = 8;
const RANGE = 1 << DIGIT;

/** Bits whose ascending order as unsigned integers is the descending order of the floats; -0 equals +0. */
// @ts-ignore: decorator
@inline
export function keyOf(scores: usize, row: u32): u32 {
  const bits = reinterpret<i32>(load<f32>(scores + ((<usize>row) << 2)) + 0);
  // positive: all bits but the sign turned over; negative: as they are, which puts them behind
  return <u32>(bits ^ (~(bits >> 31) & 0x7fffffff));
}

/** Writes the rows whose key lies in [low, low + span] to `to`, of which there are at most `most`, and returns how many. */
export function gather(scores: usize, n: i32, low: u32, span: u32, to: usize, most: i32): i32 {
  if (span == u32.MAX_VALUE) {
    for (let i = 0; i < n; i++) store<i32>(to + ((<usize>i) << 2), i);
    return n;
  }
  // always written, and counted if it counts: a branch would be guessed wrong as often as right
  let out = to;
  const end = to + ((<usize>most) << 2);
  for (let i = 0; i < n && out < end; i++) {
    store<i32>(out, i);
    out += (<usize>(keyOf(scores, i) - low <= span)) << 2;
  }
  return <i32>((out - to) >> 2);
}

/** Sorts the m rows at `from`, which stand in order of their number, into `order`. */
export function bucketed(scores: usize, from: usize, order: usize, counts: usize, m: i32): void {
  let low = u32.MAX_VALUE;
  let high: u32 = 0;
  for (let i = 0; i < m; i++) {
    const k = keyOf(scores, load<u32>(from + ((<usize>i) << 2)));
    low = min(low, k);
    high = max(high, k);
  }
  const shift = shiftOf(high - low, m);
  const buckets = <i32>((high - low) >> shift) + 1;
  if (count(scores, from, counts, m, low, shift, buckets, u32.MAX_VALUE) > BUCKET_CROWD && shift > 0)
    return byDigits(scores, from, order, counts, m, low, high);
  scatter(scores, from, order, counts, m, low, shift, u32.MAX_VALUE);
  if (shift > 0) insertion(scores, order, m);
}

/** The same by digits of the keys, which lie in [low, high], from the lowest digit on. */
export function byDigits(
  scores: usize,
  from: usize,
  order: usize,
  counts: usize,
  m: i32,
  low: u32,
  high: u32,
): void {
  let to = order;
  for (let digit = 0; digit < 32 - <i32>clz(high - low); digit += DIGIT) {
    count(scores, from, counts, m, low, digit, RANGE, RANGE - 1);
    scatter(scores, from, to, counts, m, low, digit, RANGE - 1);
    const next = from;
    from = to;
    to = next;
  }
  if (from != order) copy(order, from, (<usize>m) << 2);
}

/** Inserts rows that are nearly in order, or few. */
export function insertion(scores: usize, order: usize, n: i32): void {
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

/** Low bits of a key that do not say its bucket, with about twice as many buckets as candidates. */
// @ts-ignore: decorator
@inline
export function shiftOf(span: u32, m: i32): i32 {
  return max(0, 32 - <i32>clz(span) - min(33 - <i32>clz(m), BUCKET_BITS));
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

/** Where the bucket of a key is counted. */
// @ts-ignore: decorator
@inline
export function bucketAt(counts: usize, key: u32, low: u32, shift: i32, mask: u32): usize {
  return counts + ((<usize>(((key - low) >> shift) & mask)) << 2);
}

/** Counts of buckets to where each begins; returns the largest count. */
export function starts(counts: usize, buckets: i32): i32 {
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
