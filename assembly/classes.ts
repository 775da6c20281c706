/** The best class of a cell. */
import {
  FN_SOFTMAX,
  H_SCORE_FN,
  H_SCORE_RAW_THRESHOLD,
  TYPE_F16,
  TYPE_F32,
  TYPE_I8,
  TYPE_U8,
} from "../src/core/abi";
import { classAt, loadGate } from "./head";
import { equal, inOrder, passing, rowMaximum, splatGate, spreadMaximum } from "./lanes";
import { f16, integer, key, lowest, size } from "./value";
import { int } from "./word";

export function bestOf(type: i32, head: usize, at: usize, step: usize, classes: i32, classList: usize): i32 {
  if (type == TYPE_F32) return bestClass<f32, f32>(head, at, step, classes, classList);
  if (type == TYPE_F16) return bestClass<f16, i32>(head, at, step, classes, classList);
  if (type == TYPE_I8) return bestClass<i8, i32>(head, at, step, classes, classList);
  if (type == TYPE_U8) return bestClass<u8, i32>(head, at, step, classes, classList);
  // from behind: the lowest of 32 bits is a number like the others here, not the mark of a NaN, so what equals it has to be found
  let best = lowest<i32>();
  let found = -1;
  for (let i = classes; i-- > 0;) {
    const k = integer(type, at + classAt(classList, i, step));
    if (k >= best) {
      best = k;
      found = i;
    }
  }
  return found;
}

/** First of the classes with the largest value; -1 where none can pass, or none is above -Infinity. */
export function bestClass<T, K>(head: usize, at: usize, step: usize, classes: i32, classList: usize): i32 {
  if (ASC_FEATURE_SIMD) {
    const lanes = 16 / <i32>size<T>();
    if (step == size<T>() && classList == 0 && classes >= lanes) {
      const last = (<usize>classes - <usize>lanes) * size<T>();
      const m = spreadMaximum<T>(rowMaximum<T>(at, last));
      if (
        !isReference<T>() &&
        int(head, H_SCORE_FN) != FN_SOFTMAX &&
        passing<T>(m, splatGate<T, K>(loadGate<K>(head, H_SCORE_RAW_THRESHOLD))) == 0
      )
        return -1;
      for (let i: usize = 0; i < last; i += 16) {
        const mask = equal<T>(inOrder<T>(v128.load(at + i)), m);
        if (mask != 0) {
          if (isReference<T>()) {
            if (i16x8.extract_lane_s(m, 0) > 0x7c00) break; // a NaN on top: one by one, below
          }
          return <i32>(i / size<T>()) + ctz(mask);
        }
      }
      let careful = false;
      if (isReference<T>()) careful = i16x8.extract_lane_s(m, 0) > 0x7c00;
      if (!careful) {
        const mask = equal<T>(inOrder<T>(v128.load(at + last)), m);
        return mask != 0 ? classes - lanes + ctz(mask) : -1;
      }
    }
  }
  let best = lowest<K>();
  let found = -1;
  for (let i = 0; i < classes; i++) {
    const k = key<T, K>(at + classAt(classList, i, step));
    if (k > best) {
      best = k;
      found = i;
    }
  }
  return found;
}

/**
 * First of the largest of `n` floats, `step` apart, that reach `least`; -1: none does. From behind, so that of equals the first is what is left.
 */
export function largest(at: usize, step: usize, n: i32, least: f32): i32 {
  let found = -1;
  let i = n;
  at += <usize>n * step;
  while (i > 0) {
    // most do not: four to a round
    for (; i >= 4; i -= 4, at -= 4 * step) {
      if (load<f32>(at - step) >= least) break;
      if (load<f32>(at - 2 * step) >= least) break;
      if (load<f32>(at - 3 * step) >= least) break;
      if (load<f32>(at - 4 * step) >= least) break;
    }
    if (i == 0) break;
    i--;
    at -= step;
    if (load<f32>(at) >= least) {
      least = load<f32>(at);
      found = i;
    }
  }
  return found;
}

/** Of `n` floats side by side, the first of the largest if it reaches `least`, which is above zero; else -1. */
export function largestInRow(at: usize, n: i32, least: f32): i32 {
  let below = reinterpret<i32>(least) - 1;
  let found = -1;
  const end = at + ((<usize>n) << 2);
  for (let p = at; (p = nextAbove(p, end, below)) < end;) {
    for (const stop = min(p + 32, end); p < stop; p += 4) {
      if (load<i32>(p) > below && load<f32>(p) >= 0) {
        below = load<i32>(p);
        found = <i32>((p - at) >> 2);
      }
    }
  }
  return found;
}

/**
 * Where, going from `at` in steps of eight floats, the first group begins that holds one with bits above `below`, the bits of a number
 * from 0 up (those of a negative float are below zero); if none does, where fewer than eight are left before `end`. A function of its own with a
 * way out for each float, so that engines compare with the value in memory.
 */
function nextAbove(at: usize, end: usize, below: i32): usize {
  for (; at + 32 <= end; at += 32) {
    if (load<i32>(at) > below) break;
    if (load<i32>(at, 4) > below) break;
    if (load<i32>(at, 8) > below) break;
    if (load<i32>(at, 12) > below) break;
    if (load<i32>(at, 16) > below) break;
    if (load<i32>(at, 20) > below) break;
    if (load<i32>(at, 24) > below) break;
    if (load<i32>(at, 28) > below) break;
  }
  return at;
}

/** First of `classes` values that lie side by side which equals `top`; -1: none. */
export function firstEqual(at: usize, top: f32, classes: i32): i32 {
  const wanted = f32x4.splat(top);
  const last = (<usize>(classes - 4)) << 2;
  for (let i: usize = 0; i < last; i += 16) {
    const mask = i32x4.bitmask(f32x4.eq(v128.load(at + i), wanted));
    if (mask != 0) return <i32>(i >> 2) + ctz(mask);
  }
  const mask = i32x4.bitmask(f32x4.eq(v128.load(at + last), wanted));
  return mask != 0 ? classes - 4 + ctz(mask) : -1;
}
