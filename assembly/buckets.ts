/**
 * Sorts candidates by buckets. The high bits of a score choose one of at most 2,048 buckets; insertion then orders the
 * few candidates of a bucket. If scores crowd in one bucket, a radix sort takes over, lowest digit first. Vector
 * kernels make keys and words four at a time (buckets4.ts).
 *
 * Only here: bucketAt. The TypeScript engine writes the expression out.
 */
import { BUCKET_BITS, BUCKET_CROWD, P_COUNTS, P_SCORES } from "../src/core/abi";
import { clear, copy, ptr } from "./word";

/** Count of bits in a digit of the radix sort. */
const DIGIT = 8;
const RANGE = 1 << DIGIT;

/** Returns bits whose ascending order, as unsigned integers, is the descending order of the floats. -0 equals +0. */
// @ts-ignore: decorator
@inline
export function keyOf(scores: usize, candidate: u32): u32 {
  const bits = reinterpret<i32>(load<f32>(scores + ((<usize>candidate) << 2)) + 0);
  // Invert all bits but the sign of positive numbers. Leave the bits of negative numbers, which sorts them behind.
  return <u32>(bits ^ (~(bits >> 31) & 0x7fffffff));
}

/** Writes the candidates with keys in [low, low + span] to `to`, `most` at most. Returns their count. */
export function gather(scores: usize, n: i32, low: u32, span: u32, to: usize, most: i32): i32 {
  if (span == u32.MAX_VALUE) {
    for (let i = 0; i < n; i++) store<i32>(to + ((<usize>i) << 2), i);
    return n;
  }
  // Write every index and advance only if it passes. A branch here would be mispredicted half of the time.
  let out = to;
  const end = to + ((<usize>most) << 2);
  for (let i = 0; i < n && out < end; i++) {
    store<i32>(out, i);
    out += (<usize>(keyOf(scores, i) - low <= span)) << 2;
  }
  return <i32>((out - to) >> 2);
}

/** Sorts `n` candidates at `from` into `order`. The candidates at `from` must be in the order of their index. */
export function bucketed(plan: usize, from: usize, order: usize, n: i32): void {
  const scores = ptr(plan, P_SCORES);
  let low = u32.MAX_VALUE;
  let high: u32 = 0;
  for (let i = 0; i < n; i++) {
    const key = keyOf(scores, load<u32>(from + ((<usize>i) << 2)));
    low = min(low, key);
    high = max(high, key);
  }
  const shift = shiftOf(high - low, n);
  const buckets = <i32>((high - low) >> shift) + 1;
  if (count(plan, from, n, low, shift, u32.MAX_VALUE, buckets) > BUCKET_CROWD && shift > 0)
    return byDigits(plan, from, order, n, low, high);
  scatter(plan, from, order, n, low, shift, u32.MAX_VALUE);
  if (shift > 0) insertion(scores, order, n);
}

/** Sorts by the digits of the keys, which lie in [low, high], from the lowest digit on. */
export function byDigits(plan: usize, from: usize, order: usize, n: i32, low: u32, high: u32): void {
  let to = order;
  for (let digit = 0; digit < 32 - <i32>clz(high - low); digit += DIGIT) {
    count(plan, from, n, low, digit, RANGE - 1, RANGE);
    scatter(plan, from, to, n, low, digit, RANGE - 1);
    const next = from;
    from = to;
    to = next;
  }
  if (from != order) copy(order, from, (<usize>n) << 2);
}

/** Sorts by insertion: for few candidates, or for many that are nearly in order. */
export function insertion(scores: usize, order: usize, n: i32): void {
  const end = order + ((<usize>n) << 2);
  for (let at = order + 4; at < end; at += 4) {
    const candidate = load<u32>(at);
    const score = load<f32>(scores + ((<usize>candidate) << 2));
    let to = at;
    for (; to > order; to -= 4) {
      const before = load<u32>(to - 4);
      if (load<f32>(scores + ((<usize>before) << 2)) >= score) break;
      store<u32>(to, before);
    }
    store<u32>(to, candidate);
  }
}

/** Returns how many low bits of a key do not choose its bucket. There are about twice as many buckets as candidates. */
// @ts-ignore: decorator
@inline
export function shiftOf(span: u32, n: i32): i32 {
  return max(0, 32 - <i32>clz(span) - min(33 - <i32>clz(n), BUCKET_BITS));
}

/** Counts the candidates before each bucket. Returns the size of the largest bucket. */
function count(plan: usize, from: usize, n: i32, low: u32, shift: i32, mask: u32, buckets: i32): i32 {
  const scores = ptr(plan, P_SCORES);
  const counts = ptr(plan, P_COUNTS);
  clear(counts, (<usize>buckets) << 2);
  for (let i = 0; i < n; i++) {
    const at = bucketAt(counts, keyOf(scores, load<u32>(from + ((<usize>i) << 2))), low, shift, mask);
    store<i32>(at, load<i32>(at) + 1);
  }
  return starts(counts, buckets);
}

/** Returns the address of the count of a key's bucket. */
// @ts-ignore: decorator
@inline
export function bucketAt(counts: usize, key: u32, low: u32, shift: i32, mask: u32): usize {
  return counts + ((<usize>(((key - low) >> shift) & mask)) << 2);
}

/** Replaces the count of each bucket by the place where the bucket begins. Returns the largest count. */
export function starts(counts: usize, buckets: i32): i32 {
  let sum = 0;
  let most = 0;
  for (let b = 0; b < buckets; b++) {
    const at = counts + ((<usize>b) << 2);
    const size = load<i32>(at);
    store<i32>(at, sum);
    sum += size;
    most = max(most, size);
  }
  return most;
}

/** Writes each candidate to the next place of its bucket. */
function scatter(plan: usize, from: usize, to: usize, n: i32, low: u32, shift: i32, mask: u32): void {
  const scores = ptr(plan, P_SCORES);
  const counts = ptr(plan, P_COUNTS);
  for (let i = 0; i < n; i++) {
    const candidate = load<u32>(from + ((<usize>i) << 2));
    const at = bucketAt(counts, keyOf(scores, candidate), low, shift, mask);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(to + ((<usize>place) << 2), candidate);
  }
}
