/** Finds the best class of a cell whose classes are adjacent, with vectors. */
import { FN_SOFTMAX, H_SCORE_FN, H_SCORE_RAW_THRESHOLD } from "../src/core/abi";
import { equal, inOrder, passing, rowMaximum, splatThreshold, spreadMaximum } from "./lanes4";
import { size } from "./value";
import { int, loadThreshold } from "./word";

/** Result if a NaN or a zero of f16 hides the best class from vectors: the caller must search one value at a time. */
export const ONE_BY_ONE: i32 = -2;

/** The bits of an infinite f16. Larger bits mean NaN. */
const INFINITE_HALF: i32 = 0x7c00;

/**
 * Returns the first class with the largest value; -1 if none can pass; or ONE_BY_ONE. The classes must fill a vector.
 */
export function bestClass4<T, K>(head: usize, at: usize, classes: i32): i32 {
  const last = <usize>classes * size<T>() - 16;
  const m = spreadMaximum<T>(rowMaximum<T>(at, last));
  if (isReference<T>()) {
    const top = i16x8.extract_lane_s(m, 0);
    // Vectors order -0 below 0, although both are equal. So another class with a zero may stand before the found one.
    if (top > INFINITE_HALF || top == 0) return ONE_BY_ONE;
  } else if (int(head, H_SCORE_FN) != FN_SOFTMAX) {
    const threshold = splatThreshold<T, K>(loadThreshold<K>(head, H_SCORE_RAW_THRESHOLD));
    if (passing<T>(m, threshold) == 0) return -1;
  }
  for (let i: usize = 0; i < last; i += 16) {
    const mask = equal<T>(inOrder<T>(v128.load(at + i)), m);
    if (mask != 0) return <i32>(i / size<T>()) + ctz(mask);
  }
  // The last vector may overlap the one before.
  const mask = equal<T>(inOrder<T>(v128.load(at + last)), m);
  return mask != 0 ? <i32>(last / size<T>()) + ctz(mask) : -1;
}

/**
 * Returns the index of the first float that equals `top`; -1 if there is none. There must be at least four adjacent
 * floats.
 */
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
