/**
 * Returns keys and values of raw tensor elements. Twin of `assembly/value.ts`, which explains keys.
 *
 * Only here: wordAt, integerKey, load, loadHalf. All element types are read through one Int32Array, so that calls stay
 * monomorphic. The kernel has an instruction for each type.
 */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I8, TYPE_U8 } from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { dequantise, halfToFloat } from "../../core/number.ts";
import { scratch32, scratch32Bits } from "./registers.ts";

export const fround = Math.fround;

/** Lowest integer key. Marks the NaN of an f16, which is below every number. */
export const LOWEST = -2147483648;

/** Binary logarithm of an element's byte count, by TYPE_*. */
export const LOG_BYTES = [2, 1, 0, 0, 1, 2];

/** Returns the bits of an f16 as an integer that orders like the number. NaN is below everything. */
export function halfKey(bits: number): number {
  const signed = (bits << 16) >> 16;
  const order = signed ^ ((signed >> 31) & 0x7fff);
  if (order > 0x7c00) return LOWEST;
  // Map -0, the only value with order -1, to 0.
  return order === -1 ? 0 : order;
}

/** Loads the word that holds byte address `at`, shifted so that the element is lowest. Upper bits are undefined. */
function wordAt(m: Memory, at: number): number {
  return m.i32[at >> 2] >> ((at & 3) << 3);
}

/** Returns the key of the element of any type but f32 at byte address `at`. */
export function integerKey(m: Memory, type: number, at: number): number {
  const word = wordAt(m, at);
  if (type === TYPE_U8) return word & 255;
  if (type === TYPE_I8) return (word << 24) >> 24;
  if (type === TYPE_F16) return halfKey(word);
  if (type === TYPE_I16) return (word << 16) >> 16;
  return word;
}

/** Returns the value at byte address `at`: (raw - zero) * scale for integers. */
export function value(m: Memory, type: number, at: number, scale: number, zero: number): number {
  if (type === TYPE_F32) return m.f32[at >> 2];
  if (type === TYPE_F16) return halfToFloat(wordAt(m, at));
  return dequantise(integerKey(m, type, at), scale, zero);
}

/** Loads what `value` returns into an f32 register. `scale`: word of the head's scale, which the zero point follows. */
export function load(m: Memory, type: number, at: number, scale: number, register: number): void {
  const { f32 } = m;
  if (type === TYPE_F32) scratch32[register] = f32[at >> 2];
  else if (type === TYPE_F16) loadHalf(wordAt(m, at), register);
  else scratch32[register] = fround(fround(integerKey(m, type, at)) - f32[scale + 1]) * f32[scale];
}

/** Converts the bits of an f16 to a number in an f32 register. */
function loadHalf(bits: number, register: number): void {
  const exponent = bits & 0x7c00;
  if (exponent === 0) {
    // Convert zero or a subnormal: fraction * 2^-24, exact in f32. The factor carries the sign, so that -0 stays -0.
    const unit = bits & 0x8000 ? -5.960464477539063e-8 : 5.960464477539063e-8;
    scratch32[register] = unit * (bits & 1023);
    return;
  }
  // Move the fields to their positions in an f32, and add the difference of the exponent biases, 112 << 23.
  const bias = exponent === 0x7c00 ? 0x70000000 : 0x38000000;
  scratch32Bits[register] = ((bits & 0x8000) << 16) | (((bits & 0x7fff) << 13) + bias);
}

export function finite(x: number): boolean {
  return x - x === 0;
}
