/** Loops over tensor values for the checks of a first frame. Twin of `assembly/checks.ts`. */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { value } from "./value.ts";

/** Returns the first index, from `from` on, of a value outside C_LOW..C_HIGH or NaN; else the count of values. */
export function within(m: Memory, at: number, from: number): number {
  const { i32 } = m;
  const column = at >> 2;
  const run = i32[column + A.C_RUN];
  const runs = i32[column + A.C_RUNS];
  let r = Math.floor(from / run);
  let i = from - r * run;
  for (; r < runs; r++) {
    i = withinRun(m, column, i32[column + A.C_AT] + r * i32[column + A.C_RUN_STEP], i, run);
    if (i < run) return r * run + i;
    i = 0;
  }
  return run * runs;
}

/** Returns the index of the first of `n` values at `at` outside C_LOW..C_HIGH, searched from index `i` on. */
function withinRun(m: Memory, column: number, at: number, i: number, n: number): number {
  const { i32, f32 } = m;
  const type = i32[column + A.C_TYPE];
  const step = i32[column + A.C_STEP];
  const scale = f32[column + A.C_SCALE];
  const zero = f32[column + A.C_ZERO];
  const low = f32[column + A.C_LOW];
  const high = f32[column + A.C_HIGH];
  // Avoid calls: this code mostly runs once, before V8 compiles it.
  if (type === A.TYPE_F32)
    for (let word = (at + i * step) >> 2; i < n; word += step >> 2, i++) {
      const x = f32[word];
      if (!(x >= low && x <= high)) return i;
    }
  for (; i < n; i++) {
    const x = value(m, type, at + i * step, scale, zero);
    if (!(x >= low && x <= high)) return i;
  }
  return n;
}

/**
 * Compares each value with two others: one C_READ bytes and one C_OTHER bytes further on. Writes a normalised
 * difference for each of the two: the mean squared difference divided by twice the variance. It is 0 for equal
 * neighbours, 1 for unrelated ones, Infinity if all values are the same. Ignores values that are not finite.
 * @returns the count of values that differ from at least one of the two
 */
export function compare(m: Memory, record: number): number {
  const { i32, f32 } = m;
  const column = record >> 2;
  const type = i32[column + A.C_TYPE];
  const step = i32[column + A.C_STEP];
  const scale = f32[column + A.C_SCALE];
  const zero = f32[column + A.C_ZERO];
  const read = i32[column + A.C_READ];
  const other = i32[column + A.C_OTHER];
  let at = i32[column + A.C_AT];
  let n = 0;
  let differing = 0;
  let sum = 0;
  let squares = 0;
  let byRead = 0;
  let byOther = 0;
  for (let i = i32[column + A.C_RUN]; i > 0; i--) {
    const x = value(m, type, at, scale, zero);
    const a = x - value(m, type, at + read, scale, zero);
    const b = x - value(m, type, at + other, scale, zero);
    at += step;
    if (a + b - (a + b) !== 0) continue;
    n++;
    if (a !== 0 || b !== 0) differing++;
    sum += x;
    squares += x * x;
    byRead += a * a;
    byOther += b * b;
  }
  const mean = sum / n;
  const twice = 2 * (squares - sum * mean);
  i32[column + A.C_COMPARED] = n;
  f32[column + A.C_BY_READ] = twice > 0 ? byRead / twice : Infinity;
  f32[column + A.C_BY_OTHER] = twice > 0 ? byOther / twice : Infinity;
  return differing;
}
