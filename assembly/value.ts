/**
 * Keys and values of raw tensor elements.
 *
 * Thresholds and maxima compare keys, which need no conversion. A key of type `K` is the f32 or integer itself, or for
 * f16 a 16-bit integer that has the order of the number: the low 15 bits of negative numbers are inverted. -0 has the
 * key of 0, which it equals. NaN of f16 is below everything, so that it never passes the gate and never hides another
 * class.
 *
 * Only here: size, key, lowest, halfToFloat, integer, wideInteger. The TypeScript engine has no generics over element
 * types, and takes the conversion of a half from `src/core/number.ts`.
 */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I8, TYPE_U8 } from "../src/core/abi";

/** Stands for half floats in generics: AssemblyScript has no scalar type for them. */
export class f16 {}

/** Returns the bytes of an element. */
// @ts-ignore: decorator
@inline
export function size<T>(): usize {
  if (isReference<T>()) return 2;
  return sizeof<T>();
}

/** Returns the bits of an f16 as an integer that has the order of the number. NaN is below everything. */
// @ts-ignore: decorator
@inline
export function halfKey(bits: i32): i32 {
  const signed = (bits << 16) >> 16;
  const order = signed ^ ((signed >> 31) & 0x7fff);
  // Only -0 has the order -1.
  return order > 0x7c00 ? i32.MIN_VALUE : order + <i32>(order == -1);
}

/** Returns the key of the element at `at`. */
// @ts-ignore: decorator
@inline
export function key<T, K>(at: usize): K {
  if (isReference<T>()) return <K>halfKey(<i32>load<u16>(at));
  else return <K>load<T>(at);
}

/** Returns the lowest key, with which a search for a maximum starts. The search never finds a key that equals it. */
// @ts-ignore: decorator
@inline
export function lowest<K>(): K {
  if (isFloat<K>()) return <K>-Infinity;
  else return <K>i32.MIN_VALUE;
}

/** Returns the number that the bits of an f16 stand for. */
export function halfToFloat(bits: u32): f32 {
  const sign = (bits & 0x8000) << 16;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent == 31) return reinterpret<f32>(sign | 0x7f800000 | (fraction << 13));
  // Zero or subnormal: fraction * 2^-24, exact in f32. Set the sign bit directly, so that -0 stays -0.
  if (exponent == 0)
    return reinterpret<f32>(reinterpret<u32>(<f32>fraction * <f32>5.960464477539063e-8) | sign);
  return reinterpret<f32>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/** Returns the integer of any type at `at`. */
// @ts-ignore: decorator
@inline
export function integer(type: i32, at: usize): i32 {
  if (type == TYPE_I8) return <i32>load<i8>(at);
  if (type == TYPE_U8) return <i32>load<u8>(at);
  return wideInteger(type, at);
}

/** Returns the i16 or i32 at `at`. */
// @ts-ignore: decorator
@inline
export function wideInteger(type: i32, at: usize): i32 {
  return type == TYPE_I16 ? <i32>load<i16>(at) : load<i32>(at);
}

/** Returns the number that the element at `at` stands for: (raw - zero) * scale for integers. */
export function value(type: i32, at: usize, scale: f32, zero: f32): f32 {
  if (type == TYPE_F32) return load<f32>(at);
  if (type == TYPE_F16) return halfToFloat(<u32>load<u16>(at));
  return (<f32>integer(type, at) - zero) * scale;
}

/** True for numbers, false for NaN and the infinities. */
// @ts-ignore: decorator
@inline
export function finite(x: f32): bool {
  return x - x == 0;
}
