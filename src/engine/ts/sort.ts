/**
 * Candidates in order: best score first, ties by candidate number. Of many only the best at first, in waves. Twin of
 * `assembly/sort.ts`, which says how; a wave ends at the same candidate in both.
 */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";

/** Keys that are before all and behind all. */
const FIRST = -0x80000000;
const LAST = 0x7fffffff;

export function sort(m: Memory, at: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  const ordered = Math.min(i32[plan + A.P_CANDIDATES], i32[plan + A.P_MAX_CANDIDATES]);
  i32[plan + A.P_ORDERED] = ordered;
  i32[plan + A.P_SORTED] = 0;
  if (ordered > 0) sortMore(m, at);
  return ordered;
}

/** Puts the next wave in order and returns how many are now. */
export function sortMore(m: Memory, at: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  const n = i32[plan + A.P_CANDIDATES];
  const scores = i32[plan + A.P_SCORES] >> 2;
  const counts = i32[plan + A.P_COUNTS] >> 2;
  const sorted = i32[plan + A.P_SORTED];
  const order = (i32[plan + A.P_ORDER] >> 2) + sorted;
  const spare = (i32[plan + A.P_SPARE] >> 2) + sorted;
  const low = sorted > 0 ? keyOf(i32[scores + i32[order - 1]]) + 1 : FIRST;
  const wanted = Math.max(A.FIRST_WAVE, Math.min(n >> 3, 4 * A.FIRST_WAVE), 4 * sorted);
  let high = LAST;
  if (n > A.ONE_WAVE && wanted < n - (n >> 2)) {
    high = quantile(i32, scores, counts, n, wanted);
    if (high < low) high = LAST;
  }
  let count: number;
  if (n <= A.SORT_SMALL) {
    count = gather(i32, scores, n, low, high, order, n - sorted);
    insertion(m, scores, order, count);
  } else {
    count = gather(i32, scores, n, low, high, spare, n - sorted);
    if (high !== LAST && count * 4 < wanted - sorted)
      count = gather(i32, scores, n, low, LAST, spare, n - sorted);
    bucketed(m, scores, spare, order, counts, count);
  }
  i32[plan + A.P_SORTED] = sorted + count;
  return sorted + count;
}

function insertion(m: Memory, scores: number, order: number, n: number): void {
  const { i32, f32 } = m;
  for (let at = order + 1; at < order + n; at++) {
    const row = i32[at];
    const score = f32[scores + row];
    let to = at;
    for (; to > order; to--) {
      const before = i32[to - 1];
      if (f32[scores + before] >= score) break;
      i32[to] = before;
    }
    i32[to] = row;
  }
}

/**
 * Bits whose ascending order is the descending order of the floats; -0 equals +0. As signed integers, which unlike the
 * unsigned ones of the twin are never doubles; they count from the other end of the range, so that differences agree.
 */
function keyOf(bits: number): number {
  return bits === -0x80000000 ? -1 : bits ^ (~(bits >> 31) | -0x80000000);
}

function quantile(i32: Int32Array, scores: number, counts: number, n: number, wanted: number): number {
  const step = (n / A.SORT_SAMPLE) | 0;
  let low = LAST;
  let high = FIRST;
  for (let i = 0; i < A.SORT_SAMPLE; i++) {
    const k = keyOf(i32[scores + i * step]);
    if (k < low) low = k;
    if (k > high) high = k;
  }
  const shift = Math.max(0, 24 - Math.clz32(high - low));
  i32.fill(0, counts, counts + 256);
  for (let i = 0; i < A.SORT_SAMPLE; i++) i32[counts + ((keyOf(i32[scores + i * step]) - low) >>> shift)]++;
  const rank = Math.max(1, (wanted / step) | 0);
  let bucket = 0;
  for (let seen = 0; seen < rank; bucket++) seen += i32[counts + bucket];
  return bucket < 256 ? (low + (bucket << shift) - 1) | 0 : LAST;
}

/** Writes the rows whose key lies in [low, high] to `to`, of which there are at most `most`, and returns how many. */
function gather(
  i32: Int32Array,
  scores: number,
  n: number,
  low: number,
  high: number,
  to: number,
  most: number,
): number {
  if (low === FIRST && high === LAST) {
    for (let i = 0; i < n; i++) i32[to + i] = i;
    return n;
  }
  let out = to;
  // always written, and counted if it counts: a branch would be guessed wrong as often as right
  for (let i = 0; i < n && out < to + most; i++) {
    const k = keyOf(i32[scores + i]);
    i32[out] = i;
    out += +(k >= low) & +(k <= high);
  }
  return out - to;
}

function bucketed(m: Memory, scores: number, from: number, order: number, counts: number, n: number): void {
  const { i32 } = m;
  let low = LAST;
  let high = FIRST;
  for (let i = from; i < from + n; i++) {
    const k = keyOf(i32[scores + i32[i]]);
    if (k < low) low = k;
    if (k > high) high = k;
  }
  const bits = 32 - Math.clz32(high - low);
  const shift = Math.max(0, bits - Math.min(33 - Math.clz32(n), A.BUCKET_BITS));
  const buckets = ((high - low) >>> shift) + 1;
  if (count(i32, scores, from, counts, n, low, shift, buckets, -1) <= A.BUCKET_CROWD || shift === 0) {
    scatter(i32, scores, from, order, counts, n, low, shift, -1);
    if (shift > 0) insertion(m, scores, order, n);
    return;
  }
  // digit by digit, from the lowest
  let to = order;
  for (let digit = 0; digit < bits; digit += 8) {
    count(i32, scores, from, counts, n, low, digit, 256, 255);
    scatter(i32, scores, from, to, counts, n, low, digit, 255);
    const next = from;
    from = to;
    to = next;
  }
  if (from !== order) i32.copyWithin(order, from, from + n);
}

/** How many candidates lie before each bucket; returns the most in one. */
function count(
  i32: Int32Array,
  scores: number,
  from: number,
  counts: number,
  n: number,
  low: number,
  shift: number,
  buckets: number,
  mask: number,
): number {
  i32.fill(0, counts, counts + buckets);
  for (let i = from; i < from + n; i++)
    i32[counts + (((keyOf(i32[scores + i32[i]]) - low) >>> shift) & mask)]++;
  let sum = 0;
  let most = 0;
  for (let b = counts; b < counts + buckets; b++) {
    const c = i32[b];
    i32[b] = sum;
    sum += c;
    if (c > most) most = c;
  }
  return most;
}

function scatter(
  i32: Int32Array,
  scores: number,
  from: number,
  to: number,
  counts: number,
  n: number,
  low: number,
  shift: number,
  mask: number,
): void {
  for (let i = from; i < from + n; i++) {
    const row = i32[i];
    i32[to + i32[counts + (((keyOf(i32[scores + row]) - low) >>> shift) & mask)]++] = row;
  }
}
