/** Sorts candidates by buckets, or by radix sort if one is crowded. `assembly/buckets.ts`, the twin, explains both. */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";

const DIGIT = 8;
const RANGE = 1 << DIGIT;

/** The key that comes before all others, and the key that comes after all others. */
export const FIRST_KEY = -0x80000000;
export const LAST_KEY = 0x7fffffff;

/**
 * Returns bits whose ascending order is the descending order of the floats. -0 equals +0. The kernel's keys are
 * unsigned. The keys here are signed, since V8 keeps unsigned numbers above 2^31 as doubles. Differences between keys
 * are the same.
 */
export function keyOf(bits: number): number {
  return bits === -0x80000000 ? -1 : bits ^ (~(bits >> 31) | -0x80000000);
}

/** Writes candidates with keys in [low, high] to `to`, at most `most` of them. Returns their count. */
export function gather(
  i32: Int32Array,
  scores: number,
  n: number,
  low: number,
  high: number,
  to: number,
  most: number,
): number {
  if (low === FIRST_KEY && high === LAST_KEY) {
    for (let i = 0; i < n; i++) i32[to + i] = i;
    return n;
  }
  let out = to;
  // Write every index and advance only if it passes. A branch here would be mispredicted half of the time.
  for (let i = 0; i < n && out < to + most; i++) {
    const key = keyOf(i32[scores + i]);
    i32[out] = i;
    out += +(key >= low) & +(key <= high);
  }
  return out - to;
}

/** Sorts the `n` candidates at `from`, which are ordered by index, into `order`. */
export function bucketed(m: Memory, plan: number, from: number, order: number, n: number): void {
  const { i32 } = m;
  const scores = i32[plan + A.P_SCORES] >> 2;
  let low = LAST_KEY;
  let high = FIRST_KEY;
  for (let i = from; i < from + n; i++) {
    const key = keyOf(i32[scores + i32[i]]);
    if (key < low) low = key;
    if (key > high) high = key;
  }
  const shift = shiftOf(high - low, n);
  const buckets = ((high - low) >>> shift) + 1;
  if (count(m, plan, from, n, low, shift, -1, buckets) > A.BUCKET_CROWD && shift > 0) {
    byDigits(m, plan, from, order, n, low, high);
    return;
  }
  scatter(m, plan, from, order, n, low, shift, -1);
  if (shift > 0) insertion(m, scores, order, n);
}

/** Sorts by the digits of the keys in [low, high], beginning with the lowest digit. */
function byDigits(
  m: Memory,
  plan: number,
  from: number,
  order: number,
  n: number,
  low: number,
  high: number,
): void {
  let to = order;
  for (let digit = 0; digit < 32 - Math.clz32(high - low); digit += DIGIT) {
    count(m, plan, from, n, low, digit, RANGE - 1, RANGE);
    scatter(m, plan, from, to, n, low, digit, RANGE - 1);
    const next = from;
    from = to;
    to = next;
  }
  if (from !== order) m.i32.copyWithin(order, from, from + n);
}

/** Sorts by insertion, for few candidates or for an order that is nearly right. */
export function insertion({ i32, f32 }: Memory, scores: number, order: number, n: number): void {
  for (let at = order + 1; at < order + n; at++) {
    const candidate = i32[at];
    const score = f32[scores + candidate];
    let to = at;
    for (; to > order; to--) {
      const before = i32[to - 1];
      if (f32[scores + before] >= score) break;
      i32[to] = before;
    }
    i32[to] = candidate;
  }
}

/** Returns how many low bits of a key do not affect its bucket. There are about twice as many buckets as candidates. */
function shiftOf(span: number, n: number): number {
  return Math.max(0, 32 - Math.clz32(span) - Math.min(33 - Math.clz32(n), A.BUCKET_BITS));
}

/** Counts the candidates before each bucket. Returns the size of the largest bucket. */
function count(
  { i32 }: Memory,
  plan: number,
  from: number,
  n: number,
  low: number,
  shift: number,
  mask: number,
  buckets: number,
): number {
  const scores = i32[plan + A.P_SCORES] >> 2;
  const counts = i32[plan + A.P_COUNTS] >> 2;
  i32.fill(0, counts, counts + buckets);
  for (let i = from; i < from + n; i++)
    i32[counts + (((keyOf(i32[scores + i32[i]]) - low) >>> shift) & mask)]++;
  return starts(i32, counts, buckets);
}

/** Replaces the count of each bucket by the bucket's first place. Returns the largest count. */
function starts(i32: Int32Array, counts: number, buckets: number): number {
  let sum = 0;
  let most = 0;
  for (let at = counts; at < counts + buckets; at++) {
    const size = i32[at];
    i32[at] = sum;
    sum += size;
    if (size > most) most = size;
  }
  return most;
}

/** Writes each candidate to the next place of its bucket. */
function scatter(
  { i32 }: Memory,
  plan: number,
  from: number,
  to: number,
  n: number,
  low: number,
  shift: number,
  mask: number,
): void {
  const scores = i32[plan + A.P_SCORES] >> 2;
  const counts = i32[plan + A.P_COUNTS] >> 2;
  for (let i = from; i < from + n; i++) {
    const candidate = i32[i];
    i32[to + i32[counts + (((keyOf(i32[scores + candidate]) - low) >>> shift) & mask)]++] = candidate;
  }
}
