/**
 * Raw tensor elements: their order (keys) and their value.
 *
 * A key is what thresholds and maxima compare, without converting anything: f32 itself; integers themselves;
 * f16 as a 16-bit integer whose order is that of the numbers (the low 15 bits of negatives turned over),
 * with NaN below everything so that it never passes a gate and never hides another class.
 */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I8, TYPE_U8 } from "../src/core/abi";

/** Marker type for half floats, which AssemblyScript has no scalar for. */
export class f16 {}

// @ts-ignore: decorator
@inline
export function size<T>(): usize {
  if (isReference<T>()) return 2;
  return sizeof<T>();
}

// @ts-ignore: decorator
@inline
export function halfKey(bits: i32): i32 {
  const signed = (bits << 16) >> 16;
  const order = signed ^ ((signed >> 31) & 0x7fff);
  return order > 0x7c00 ? i32.MIN_VALUE : order;
}

// @ts-ignore: decorator
@inline
export function key<T, K>(at: usize): K {
  if (isReference<T>()) return <K>halfKey(<i32>load<u16>(at));
  else return <K>load<T>(at);
}

/** The lowest key: what a search for a maximum starts from, so that nothing equal to it is ever found. */
// @ts-ignore: decorator
@inline
export function lowest<K>(): K {
  if (isFloat<K>()) return <K>-Infinity;
  else return <K>i32.MIN_VALUE;
}

export function halfToFloat(bits: u32): f32 {
  const sign = (bits & 0x8000) << 16;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent == 31) return reinterpret<f32>(sign | 0x7f800000 | (fraction << 13));
  // subnormal: fraction * 2^-24, exact in f32; the sign is set on the bits so that -0 stays -0
  if (exponent == 0)
    return reinterpret<f32>(reinterpret<u32>(<f32>fraction * <f32>5.960464477539063e-8) | sign);
  return reinterpret<f32>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/** What stands at `at`, of any type but f32: an integer, or the bits of an f16. */
// @ts-ignore: decorator
@inline
export function integer(type: i32, at: usize): i32 {
  if (type == TYPE_I8) return <i32>load<i8>(at);
  if (type == TYPE_U8) return <i32>load<u8>(at);
  if (type == TYPE_F16) return <i32>load<u16>(at);
  if (type == TYPE_I16) return <i32>load<i16>(at);
  return load<i32>(at);
}

/** The number that stands at `at`: (raw - zero) * scale for integers. */
export function value(type: i32, at: usize, scale: f32, zero: f32): f32 {
  if (type == TYPE_F32) return load<f32>(at);
  if (type == TYPE_F16) return halfToFloat(<u32>load<u16>(at));
  return (<f32>integer(type, at) - zero) * scale;
}

/** Four elements from anywhere, each in the low bits of a lane of its own, above them zeros. */
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

// @ts-ignore: decorator
@inline
export function finite(x: f32): bool {
  return x - x == 0;
}
