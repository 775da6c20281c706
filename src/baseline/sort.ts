/** Candidates in order: best score first, ties by candidate number. Twin of `assembly/sort.ts`. */
import * as A from "../abi.ts";
import type { Memory } from "../memory.ts";

const SMALL = 24;
const WIDE = 3000;

export function sort(m: Memory, at: number): number {
  const { i32 } = m;
  const plan = at >> 2;
  const n = i32[plan + A.P_CANDIDATES];
  const scores = i32[plan + A.P_SCORES] >> 2;
  const order = i32[plan + A.P_ORDER] >> 2;
  const spare = i32[plan + A.P_SPARE] >> 2;
  const counts = i32[plan + A.P_COUNTS] >> 2;
  if (n <= SMALL) insertion(m, scores, order, n);
  else if (n < WIDE) radix(i32, scores, order, spare, counts, n, 8, 4);
  else radix(i32, scores, order, spare, counts, n, 11, 3);
  const ordered = Math.min(n, i32[plan + A.P_MAX_CANDIDATES]);
  i32[plan + A.P_ORDERED] = ordered;
  return ordered;
}

function insertion(m: Memory, scores: number, order: number, n: number): void {
  const { i32, f32 } = m;
  for (let i = 0; i < n; i++) {
    const score = f32[scores + i];
    let j = i;
    for (; j > 0; j--) {
      const before = i32[order + j - 1];
      if (f32[scores + before] >= score) break;
      i32[order + j] = before;
    }
    i32[order + j] = i;
  }
}

/** Bits whose ascending order as unsigned integers is the descending order of the floats; -0 equals +0. */
function descending(bits: number): number {
  if (bits === -2147483648) return 0x7fffffff;
  return bits < 0 ? bits : bits ^ 0x7fffffff;
}

function radix(
  i32: Int32Array,
  scores: number,
  order: number,
  spare: number,
  counts: number,
  n: number,
  bits: number,
  digits: number,
): void {
  const buckets = 1 << bits;
  const mask = buckets - 1;
  i32.fill(0, counts, counts + buckets * digits);
  for (let i = 0; i < n; i++) {
    const k = descending(i32[scores + i]);
    for (let d = 0; d < digits; d++) i32[counts + d * buckets + ((k >>> (d * bits)) & mask)]++;
  }
  let from = 0; // 0: the identity, not yet written anywhere
  for (let d = 0; d < digits; d++) {
    const table = counts + d * buckets;
    const shift = d * bits;
    if (i32[table + ((descending(i32[scores]) >>> shift) & mask)] === n) continue;
    let sum = 0;
    for (let b = 0; b < buckets; b++) {
      const c = i32[table + b];
      i32[table + b] = sum;
      sum += c;
    }
    const to = from === order ? spare : order;
    for (let i = 0; i < n; i++) {
      const c = from === 0 ? i : i32[from + i];
      const place = i32[table + ((descending(i32[scores + c]) >>> shift) & mask)]++;
      i32[to + place] = c;
    }
    from = to;
  }
  if (from === 0) for (let i = 0; i < n; i++) i32[order + i] = i;
  else if (from !== order) i32.copyWithin(order, from, from + n);
}
