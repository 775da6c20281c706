/** Raw tensor elements: keys and values. Twin of `assembly/value.ts`. */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I8, TYPE_U8 } from "../abi.ts";
import type { Memory } from "../memory.ts";

const fround = Math.fround;

/** Lowest integer key: NaN of an f16, below everything. */
export const LOWEST = -2147483648;

/** f16 bits as an integer whose order is that of the numbers; NaN below everything. */
export function halfKey(bits: number): number {
  const signed = (bits << 16) >> 16;
  const order = signed ^ ((signed >> 31) & 0x7fff);
  return order > 0x7c00 ? LOWEST : order;
}

export function halfToFloat(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  let x: number;
  if (exponent === 31) x = fraction === 0 ? Infinity : NaN;
  else if (exponent === 0) x = fraction * 5.960464477539063e-8;
  else x = (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -x : x;
}

/** Key of an integer or f16 element at byte address `at`. */
export function integerKey(m: Memory, type: number, at: number): number {
  if (type === TYPE_U8) return m.u8[at];
  if (type === TYPE_I8) return m.i8[at];
  if (type === TYPE_F16) return halfKey(m.u16[at >> 1]);
  if (type === TYPE_I16) return m.i16[at >> 1];
  return m.i32[at >> 2];
}

/** The number at byte address `at`: (raw - zero) * scale for integers. */
export function value(m: Memory, type: number, at: number, scale: number, zero: number): number {
  if (type === TYPE_F32) return m.f32[at >> 2];
  if (type === TYPE_F16) return halfToFloat(m.u16[at >> 1]);
  return fround(fround(fround(integerKey(m, type, at)) - zero) * scale);
}

/** False for NaN and the infinities. */
export function finite(x: number): boolean {
  return x - x === 0;
}
