/** Loops over the values of a tensor for the checks of a first frame. `src/core/abi.ts` documents the column record. */
import {
  C_AT,
  C_BY_OTHER,
  C_BY_READ,
  C_COMPARED,
  C_HIGH,
  C_LOW,
  C_OTHER,
  C_READ,
  C_RUN,
  C_RUNS,
  C_RUN_STEP,
  C_SCALE,
  C_STEP,
  C_TYPE,
  C_ZERO,
  TYPE_F32,
} from "../src/core/abi";
import { within4 } from "./checks4";
import { value } from "./value";
import { flt, int, ptr, setInt } from "./word";

/**
 * Returns the index of the first value, from index `from` on, that lies outside C_LOW..C_HIGH. NaN lies outside.
 * Returns the count of values if all lie inside.
 */
export function within(column: usize, from: i32): i32 {
  const run = int(column, C_RUN);
  const runs = int(column, C_RUNS);
  let r = from / run;
  let i = from - r * run;
  for (; r < runs; r++) {
    i = withinRun(column, ptr(column, C_AT) + <usize>r * ptr(column, C_RUN_STEP), i, run);
    if (i < run) return r * run + i;
    i = 0;
  }
  return run * runs;
}

/** Returns the index of the first of `n` values at `at`, from index `i` on, that does not lie in C_LOW..C_HIGH. */
function withinRun(column: usize, at: usize, i: i32, n: i32): i32 {
  const type = int(column, C_TYPE);
  const step = ptr(column, C_STEP);
  const scale = flt(column, C_SCALE);
  const zero = flt(column, C_ZERO);
  const low = flt(column, C_LOW);
  const high = flt(column, C_HIGH);
  if (ASC_FEATURE_SIMD) {
    if (type == TYPE_F32 && step == 4) i = within4(at, i, n, low, high);
  }
  for (; i < n; i++) {
    const x = value(type, at + <usize>i * step, scale, zero);
    if (!(x >= low && x <= high)) return i;
  }
  return n;
}

/**
 * Compares each value with two others, C_READ and C_OTHER bytes further on. Writes a normalised difference for each of
 * the two: the mean squared difference divided by twice the variance. It is 0 for equal neighbours, 1 for unrelated
 * ones, Infinity if all values are the same. Values that are not finite do not count.
 * @returns how many values differ from at least one of the two
 */
export function compare(column: usize): i32 {
  const type = int(column, C_TYPE);
  const step = ptr(column, C_STEP);
  const scale = flt(column, C_SCALE);
  const zero = flt(column, C_ZERO);
  const read = ptr(column, C_READ);
  const other = ptr(column, C_OTHER);
  let at = ptr(column, C_AT);
  let n = 0;
  let differing = 0;
  let sum: f64 = 0;
  let squares: f64 = 0;
  let byRead: f64 = 0;
  let byOther: f64 = 0;
  for (let i = int(column, C_RUN); i > 0; i--) {
    const x = <f64>value(type, at, scale, zero);
    const a = x - <f64>value(type, at + read, scale, zero);
    const b = x - <f64>value(type, at + other, scale, zero);
    at += step;
    if (a + b - (a + b) != 0) continue;
    n++;
    if (a != 0 || b != 0) differing++;
    sum += x;
    squares += x * x;
    byRead += a * a;
    byOther += b * b;
  }
  const mean = sum / <f64>n;
  const twice = 2 * (squares - sum * mean);
  setInt(column, C_COMPARED, n);
  store<f32>(column + (C_BY_READ << 2), twice > 0 ? <f32>(byRead / twice) : Infinity);
  store<f32>(column + (C_BY_OTHER << 2), twice > 0 ? <f32>(byOther / twice) : Infinity);
  return differing;
}
