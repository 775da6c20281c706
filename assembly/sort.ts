/**
 * Candidates in order: best score first, ties by candidate number (head, anchor, cell, class).
 *
 * A radix sort on the bits of the score, least significant digit first: stable, so ties need no comparison;
 * linear, so a low threshold costs no more per candidate than a high one. A digit in which all scores agree
 * (the exponent, usually) is skipped.
 */
import { P_CANDIDATES, P_COUNTS, P_MAX_CANDIDATES, P_ORDER, P_ORDERED, P_SCORES, P_SPARE } from "../src/abi";
import { int, ptr, setInt } from "./word";

/** Below this, insertion; from `WIDE` on, three digits of 11 bits instead of four of 8. */
const SMALL = 24;
const WIDE = 3000;

export function sort(plan: usize): i32 {
  const n = int(plan, P_CANDIDATES);
  const scores = ptr(plan, P_SCORES);
  const order = ptr(plan, P_ORDER);
  if (n <= SMALL) insertion(scores, order, n);
  else if (n < WIDE) radix(scores, order, ptr(plan, P_SPARE), ptr(plan, P_COUNTS), n, 8, 4);
  else radix(scores, order, ptr(plan, P_SPARE), ptr(plan, P_COUNTS), n, 11, 3);
  const ordered = min(n, int(plan, P_MAX_CANDIDATES));
  setInt(plan, P_ORDERED, ordered);
  return ordered;
}

function insertion(scores: usize, order: usize, n: i32): void {
  for (let i = 0; i < n; i++) {
    const score = load<f32>(scores + ((<usize>i) << 2));
    let j = i;
    for (; j > 0; j--) {
      const before = load<u32>(order + ((<usize>j - 1) << 2));
      if (load<f32>(scores + ((<usize>before) << 2)) >= score) break;
      store<u32>(order + ((<usize>j) << 2), before);
    }
    store<u32>(order + ((<usize>j) << 2), i);
  }
}

/** Bits whose ascending order as unsigned integers is the descending order of the floats; -0 equals +0. */
// @ts-ignore: decorator
@inline
function descending(score: f32): u32 {
  const bits = reinterpret<i32>(score + 0);
  // positive: all bits but the sign turned over; negative: as they are, which puts them behind
  return <u32>(bits < 0 ? bits : bits ^ 0x7fffffff);
}

function radix(
  scores: usize,
  order: usize,
  spare: usize,
  counts: usize,
  n: i32,
  bits: i32,
  digits: i32,
): void {
  const buckets = 1 << bits;
  const mask = <u32>(buckets - 1);
  memory.fill(counts, 0, ((<usize>buckets) << 2) * digits);
  for (let i = 0; i < n; i++) {
    let k = descending(load<f32>(scores + ((<usize>i) << 2)));
    let table = counts;
    for (let d = 0; d < digits; d++) {
      const at = table + ((<usize>(k & mask)) << 2);
      store<u32>(at, load<u32>(at) + 1);
      table += (<usize>buckets) << 2;
      k >>= bits;
    }
  }
  let from: usize = 0; // 0: the identity, not yet written anywhere
  for (let d = 0; d < digits; d++) {
    const table = counts + ((<usize>(d * buckets)) << 2);
    const shift = d * bits;
    const first = (descending(load<f32>(scores)) >> shift) & mask;
    if (load<u32>(table + ((<usize>first) << 2)) == <u32>n) continue;
    let sum: u32 = 0;
    for (let b = 0; b < buckets; b++) {
      const at = table + ((<usize>b) << 2);
      const c = load<u32>(at);
      store<u32>(at, sum);
      sum += c;
    }
    const to = from == order ? spare : order;
    for (let i = 0; i < n; i++) {
      const c = from != 0 ? load<u32>(from + ((<usize>i) << 2)) : <u32>i;
      const k = (descending(load<f32>(scores + ((<usize>c) << 2))) >> shift) & mask;
      const at = table + ((<usize>k) << 2);
      const place = load<u32>(at);
      store<u32>(at, place + 1);
      store<u32>(to + ((<usize>place) << 2), c);
    }
    from = to;
  }
  if (from == 0) {
    for (let i = 0; i < n; i++) store<u32>(order + ((<usize>i) << 2), i);
  } else if (from != order) memory.copy(order, from, (<usize>n) << 2);
}
