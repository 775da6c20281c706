/**
 * Finds the best class of a cell.
 *
 * Only here: bestOf. `bestClass` of the TypeScript engine takes all element types.
 */
import { TYPE_F16, TYPE_F32, TYPE_I8, TYPE_U8 } from "../src/core/abi";
import { ONE_BY_ONE, bestClass4 } from "./classes4";
import { f16, key, lowest, size, wideInteger } from "./value";

/** Returns the i-th class in use. `list` is the address of the class list, or 0 if all classes are in use. */
// @ts-ignore: decorator
@inline
export function classAt(list: usize, i: i32): usize {
  return list != 0 ? <usize>load<u32>(list + ((<usize>i) << 2)) : <usize>i;
}

/** Returns the index, in the class list, of the first class with the largest value. Returns -1 if no class can pass. */
export function bestOf(type: i32, head: usize, at: usize, step: usize, classes: i32, classList: usize): i32 {
  if (type == TYPE_F32) return bestClass<f32, f32>(head, at, step, classes, classList);
  if (type == TYPE_F16) return bestClass<f16, i32>(head, at, step, classes, classList);
  if (type == TYPE_I8) return bestClass<i8, i32>(head, at, step, classes, classList);
  if (type == TYPE_U8) return bestClass<u8, i32>(head, at, step, classes, classList);
  // i16 and i32. The lowest i32 is a usual value here and must be found, so compare with >=. Go backwards, so that the
  // first of equal values is found last.
  let best = lowest<i32>();
  let found = -1;
  for (let i = classes; i-- > 0;) {
    const k = wideInteger(type, at + classAt(classList, i) * step);
    if (k >= best) {
      best = k;
      found = i;
    }
  }
  return found;
}

/** Does `bestOf` for one element type. Returns -1 also if no value is above the lowest key. */
export function bestClass<T, K>(head: usize, at: usize, step: usize, classes: i32, classList: usize): i32 {
  if (ASC_FEATURE_SIMD) {
    if (step == size<T>() && classList == 0 && classes >= 16 / <i32>size<T>()) {
      const best = bestClass4<T, K>(head, at, classes);
      if (best != ONE_BY_ONE) return best;
    }
  }
  let best = lowest<K>();
  let found = -1;
  for (let i = 0; i < classes; i++) {
    const k = key<T, K>(at + classAt(classList, i) * step);
    if (k > best) {
      best = k;
      found = i;
    }
  }
  return found;
}

/**
 * Returns the index of the largest among `n` floats that are `step` bytes apart; -1 if the largest is below `least`.
 * Goes backwards, so that the first of equal floats is found last.
 */
export function largest(at: usize, step: usize, n: i32, least: f32): i32 {
  let found = -1;
  let i = n;
  at += <usize>n * step;
  while (i > 0) {
    // Most floats are below `least`: test four in a round.
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

/** Does the same as `largest` for adjacent floats and a `least` above 0. There, bits have the order of floats. */
export function largestInRow(at: usize, n: i32, least: f32): i32 {
  let below = reinterpret<i32>(least) - 1;
  let found = -1;
  const end = at + ((<usize>n) << 2);
  for (let p = at; (p = nextAbove(p, end, below)) < end;) {
    for (const stop = min(p + 32, end); p < stop; p += 4) {
      // The bits of a NaN are above those of all floats.
      if (load<i32>(p) > below && load<f32>(p) >= 0) {
        below = load<i32>(p);
        found = <i32>((p - at) >> 2);
      }
    }
  }
  return found;
}

/**
 * Goes in steps of eight floats. Returns the address of the first eight that contain a float with bits above `below`.
 * If there are none, returns the address where fewer than eight are left before `end`.
 * This is a function of its own, with one exit for each float, so that compilers compare with the value in memory.
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
