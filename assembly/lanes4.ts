/** Vectors of elements: sixteen bytes as lanes of f32, f16, i8 or u8. */
import { size } from "./value";

/** Returns the raw threshold in every lane of the element's own type. */
// @ts-ignore: decorator
@inline
export function splatThreshold<T, K>(threshold: K): v128 {
  if (isReference<T>()) return i16x8.splat(<i16>min(<i32>threshold, 0x7fff));
  else if (isFloat<T>()) return f32x4.splat(<f32>threshold);
  else if (isSigned<T>()) return i8x16.splat(<i8>max(min(<i32>threshold, 127), -128));
  else return i8x16.splat(<i8>max(min(<i32>threshold, 255), 0));
}

/** Returns a mask with bit i set if element i reaches the threshold. */
// @ts-ignore: decorator
@inline
export function passing<T>(v: v128, threshold: v128): i32 {
  if (isReference<T>()) {
    // A NaN with the sign clear passes here; `admit` drops it.
    return i16x8.bitmask(i16x8.ge_s(halfOrder(v), threshold));
  } else if (isFloat<T>()) return i32x4.bitmask(f32x4.ge(v, threshold));
  else return i8x16.bitmask(isSigned<T>() ? i8x16.ge_s(v, threshold) : i8x16.ge_u(v, threshold));
}

/**
 * Returns a mask with bit i set if element i reaches the threshold, for sixteen elements that are `step` bytes apart.
 * All results in one vector take few instructions per cell, so the core requests many cache lines at the same time.
 * Without this, YOLOv5 rows take 1.3 to 1.4 times as long.
 */
// @ts-ignore: decorator
@inline
export function passing16<T>(at: usize, step: usize, threshold: v128): i32 {
  if (size<T>() == 1) {
    let v = gatherEvery<T>(at, 4 * step);
    v = v128.or(v, i32x4.shl(gatherEvery<T>(at + step, 4 * step), 8));
    v = v128.or(v, i32x4.shl(gatherEvery<T>(at + 2 * step, 4 * step), 16));
    v = v128.or(v, i32x4.shl(gatherEvery<T>(at + 3 * step, 4 * step), 24));
    return passing<T>(v, threshold);
  } else if (isReference<T>()) {
    const low = v128.or(gatherEvery<T>(at, 2 * step), i32x4.shl(gatherEvery<T>(at + step, 2 * step), 16));
    at += 8 * step;
    const high = v128.or(gatherEvery<T>(at, 2 * step), i32x4.shl(gatherEvery<T>(at + step, 2 * step), 16));
    return passing<T>(low, threshold) | (passing<T>(high, threshold) << 8);
  } else {
    const a = f32x4.ge(gatherEvery<T>(at, step), threshold);
    at += 4 * step;
    const b = f32x4.ge(gatherEvery<T>(at, step), threshold);
    at += 4 * step;
    const c = f32x4.ge(gatherEvery<T>(at, step), threshold);
    at += 4 * step;
    const d = f32x4.ge(gatherEvery<T>(at, step), threshold);
    return i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d)));
  }
}

// @ts-ignore: decorator
@inline
function gatherEvery<T>(at: usize, step: usize): v128 {
  return gather4<T>(at, at + step, at + 2 * step, at + 3 * step);
}

/** Gathers four elements, each into the low bits of a 32-bit lane. The upper bits are 0. */
// @ts-ignore: decorator
@inline
export function gather4<T>(p0: usize, p1: usize, p2: usize, p3: usize): v128 {
  let v: v128;
  if (size<T>() == 4) {
    v = v128.load32_zero(p0);
    v = v128.load32_lane(p1, v, 1);
    v = v128.load32_lane(p2, v, 2);
    return v128.load32_lane(p3, v, 3);
  }
  v = i32x4.splat(0);
  if (size<T>() == 2) {
    v = v128.load16_lane(p0, v, 0);
    v = v128.load16_lane(p1, v, 2);
    v = v128.load16_lane(p2, v, 4);
    return v128.load16_lane(p3, v, 6);
  }
  v = v128.load8_lane(p0, v, 0);
  v = v128.load8_lane(p1, v, 4);
  v = v128.load8_lane(p2, v, 8);
  return v128.load8_lane(p3, v, 12);
}

/**
 * Returns f16 bits as integers that have the order of the numbers, except that -0 is below 0. Applied twice, it returns
 * the original bits.
 */
// @ts-ignore: decorator
@inline
export function halfOrder(v: v128): v128 {
  return v128.xor(v, v128.and(i16x8.shr_s(v, 15), i16x8.splat(0x7fff)));
}

/** Returns the elements as lanes that order like the numbers. Only f16 needs a conversion. */
// @ts-ignore: decorator
@inline
export function inOrder<T>(v: v128): v128 {
  if (isReference<T>()) return halfOrder(v);
  else return v;
}

/** Returns the maximum of each lane. For f32, a NaN in `v` leaves `acc` as it is. f32x4.max would be twice as slow. */
// @ts-ignore: decorator
@inline
export function larger<T>(acc: v128, v: v128): v128 {
  if (isReference<T>()) return i16x8.max_s(acc, v);
  else if (isFloat<T>()) return f32x4.pmax(acc, v);
  else return isSigned<T>() ? i8x16.max_s(acc, v) : i8x16.max_u(acc, v);
}

/** Returns the lowest value in every lane, with which a maximum starts. */
// @ts-ignore: decorator
@inline
export function lowestLanes<T>(): v128 {
  if (isReference<T>()) return i16x8.splat(i16.MIN_VALUE);
  else if (isFloat<T>()) return f32x4.splat(-Infinity);
  else return i8x16.splat(isSigned<T>() ? i8.MIN_VALUE : 0);
}

/**
 * Returns the maxima of a row, one per lane; f16 as bits that `halfOrder` converted. `last` is the offset of the last
 * whole vector of the row, which may overlap the one before.
 */
// @ts-ignore: decorator
@inline
export function rowMaximum<T>(at: usize, last: usize): v128 {
  let m = lowestLanes<T>();
  let other = m;
  let i: usize = 0;
  // Use two maxima: a single one would have to wait for its previous result.
  for (; i + 32 <= last; i += 32) {
    m = larger<T>(m, inOrder<T>(v128.load(at + i)));
    other = larger<T>(other, inOrder<T>(v128.load(at + i, 16)));
  }
  for (; i < last; i += 16) m = larger<T>(m, inOrder<T>(v128.load(at + i)));
  m = larger<T>(m, inOrder<T>(v128.load(at + last)));
  return larger<T>(m, other);
}

/** Returns the largest lane in every lane. */
// @ts-ignore: decorator
@inline
export function spreadMaximum<T>(m: v128): v128 {
  m = larger<T>(m, v128.shuffle<u8>(m, m, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  m = larger<T>(m, v128.shuffle<u8>(m, m, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  if (size<T>() <= 2)
    m = larger<T>(m, v128.shuffle<u8>(m, m, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  if (size<T>() == 1)
    m = larger<T>(m, v128.shuffle<u8>(m, m, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  return m;
}

/** Returns a mask with bit i set if element i of `a` equals element i of `b`. */
// @ts-ignore: decorator
@inline
export function equal<T>(a: v128, b: v128): i32 {
  if (isReference<T>()) return i16x8.bitmask(i16x8.eq(a, b));
  else if (isFloat<T>()) return i32x4.bitmask(f32x4.eq(a, b));
  else return i8x16.bitmask(i8x16.eq(a, b));
}

/** Returns a mask of the lanes whose elements, as put there by `gather4`, are equal. */
// @ts-ignore: decorator
@inline
export function equalLanes<T>(a: v128, b: v128): v128 {
  if (!isReference<T>() && isFloat<T>()) return f32x4.eq(a, b);
  return i32x4.eq(a, b);
}
