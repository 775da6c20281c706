/** Sixteen bytes of elements as lanes, of the types f32, f16, i8 and u8. Vector builds only. */
import { gather4, size } from "./value";

/** The gate in every lane of the element's own type. */
// @ts-ignore: decorator
@inline
export function splatGate<T, K>(gate: K): v128 {
  if (isReference<T>()) return i16x8.splat(<i16>min(<i32>gate, 0x7fff));
  else if (isFloat<T>()) return f32x4.splat(<f32>gate);
  else if (isSigned<T>()) return i8x16.splat(<i8>max(min(<i32>gate, 127), -128));
  else return i8x16.splat(<i8>max(min(<i32>gate, 255), 0));
}

/** Bit i: element i is at or above the gate. Lane types are those of `T`. */
// @ts-ignore: decorator
@inline
export function passing<T>(v: v128, wanted: v128): i32 {
  if (isReference<T>()) {
    // f16 bits in sign-fixed order; a NaN that passes here is turned away by `admit`
    return i16x8.bitmask(i16x8.ge_s(halfOrder(v), wanted));
  } else if (isFloat<T>()) return i32x4.bitmask(f32x4.ge(v, wanted));
  else return i8x16.bitmask(isSigned<T>() ? i8x16.ge_s(v, wanted) : i8x16.ge_u(v, wanted));
}

/** Bit i: element i of sixteen, `step` bytes apart, is at or above the gate. */
// @ts-ignore: decorator
@inline
export function passing16<T>(at: usize, step: usize, wanted: v128): i32 {
  if (size<T>() == 1) {
    let v = every<T>(at, 4 * step);
    v = v128.or(v, i32x4.shl(every<T>(at + step, 4 * step), 8));
    v = v128.or(v, i32x4.shl(every<T>(at + 2 * step, 4 * step), 16));
    v = v128.or(v, i32x4.shl(every<T>(at + 3 * step, 4 * step), 24));
    return passing<T>(v, wanted);
  } else if (isReference<T>()) {
    const low = v128.or(every<T>(at, 2 * step), i32x4.shl(every<T>(at + step, 2 * step), 16));
    at += 8 * step;
    const high = v128.or(every<T>(at, 2 * step), i32x4.shl(every<T>(at + step, 2 * step), 16));
    return passing<T>(low, wanted) | (passing<T>(high, wanted) << 8);
  } else {
    const a = f32x4.ge(every<T>(at, step), wanted);
    at += 4 * step;
    const b = f32x4.ge(every<T>(at, step), wanted);
    at += 4 * step;
    const c = f32x4.ge(every<T>(at, step), wanted);
    at += 4 * step;
    const d = f32x4.ge(every<T>(at, step), wanted);
    return i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d)));
  }
}

// @ts-ignore: decorator
@inline
function every<T>(at: usize, step: usize): v128 {
  return gather4<T>(at, at + step, at + 2 * step, at + 3 * step);
}

/** Bits of f16 as integers in the order of the numbers: the low 15 bits of negative ones turned over. Twice gives the bits back. */
// @ts-ignore: decorator
@inline
export function halfOrder(v: v128): v128 {
  return v128.xor(v, v128.and(i16x8.shr_s(v, 15), i16x8.splat(0x7fff)));
}

// @ts-ignore: decorator
@inline
export function inOrder<T>(v: v128): v128 {
  if (isReference<T>()) return halfOrder(v);
  else return v;
}

/** Lane-wise maximum. For f32 `acc < v ? v : acc`: a NaN in `v` leaves `acc`, and `f32x4.max` is twice as slow. */
// @ts-ignore: decorator
@inline
export function larger<T>(acc: v128, v: v128): v128 {
  if (isReference<T>()) return i16x8.max_s(acc, v);
  else if (isFloat<T>()) return f32x4.pmax(acc, v);
  else return isSigned<T>() ? i8x16.max_s(acc, v) : i8x16.max_u(acc, v);
}

/** What `larger` begins from. */
// @ts-ignore: decorator
@inline
export function lowestLanes<T>(): v128 {
  if (isReference<T>()) return i16x8.splat(i16.MIN_VALUE);
  else if (isFloat<T>()) return f32x4.splat(-Infinity);
  else return i8x16.splat(isSigned<T>() ? i8.MIN_VALUE : 0);
}

/** Maxima of a row in lanes; the last load overlaps the one before it. f16 comes out in order. */
// @ts-ignore: decorator
@inline
export function rowMaximum<T>(at: usize, last: usize): v128 {
  let m = lowestLanes<T>();
  let o = m;
  let i: usize = 0;
  for (; i + 32 <= last; i += 32) {
    m = larger<T>(m, inOrder<T>(v128.load(at + i)));
    o = larger<T>(o, inOrder<T>(v128.load(at + i, 16)));
  }
  for (; i < last; i += 16) m = larger<T>(m, inOrder<T>(v128.load(at + i)));
  m = larger<T>(m, inOrder<T>(v128.load(at + last)));
  return larger<T>(m, o);
}

/** The largest lane in every lane. */
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

/** Bit i: element i is the same in both. */
// @ts-ignore: decorator
@inline
export function equal<T>(a: v128, b: v128): i32 {
  if (isReference<T>()) return i16x8.bitmask(i16x8.eq(a, b));
  else if (isFloat<T>()) return i32x4.bitmask(f32x4.eq(a, b));
  else return i8x16.bitmask(i8x16.eq(a, b));
}

/** Lanes of `gather4` that are equal. */
// @ts-ignore: decorator
@inline
export function sameIn<T>(a: v128, b: v128): v128 {
  if (!isReference<T>() && isFloat<T>()) return f32x4.eq(a, b);
  return i32x4.eq(a, b);
}
