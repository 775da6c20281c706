/** Raw tensor elements: keys and values. Twin of `assembly/value.ts`. */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I8, TYPE_U8 } from "../../core/abi.ts";
import { C2, C3, C4, C5, C6, C7, LN2_HIGH, LN2_LOW, LOG2E, ROUND, log } from "../../core/exp.ts";
import type { Memory } from "../../core/memory.ts";

export const fround = Math.fround;

/**
 * Numbers on their way from one function to another: a box's four channels, then objectness, score. As arguments and
 * results they would be new heap objects each. An f32 holds all of them, since each is rounded to one.
 */
export const reg = new Float32Array(8);
export const OBJECTNESS = 4;
export const SCORE = 5;
export const regBits = new Int32Array(reg.buffer);
/** The same for a double: argument and result of `exp`. */
export const wide = new Float64Array(1);
const HALF = 6;
/** 2^(i - 220), exactly. */
const TWO = /* @__PURE__ */ (() => {
  const powers = new Float64Array(441);
  for (let k = 0, two = 1; k <= 220; k++, two *= 2) {
    powers[220 + k] = two;
    powers[220 - k] = 1 / two;
  }
  return powers;
})();

/** Lowest integer key: NaN of an f16, below everything. */
export const LOWEST = -2147483648;

/** f16 bits as an integer whose order is that of the numbers; NaN below everything. */
export function halfKey(bits: number): number {
  const signed = (bits << 16) >> 16;
  const order = signed ^ ((signed >> 31) & 0x7fff);
  return order > 0x7c00 ? LOWEST : order;
}

export function halfToFloat(bits: number): number {
  half(bits, HALF);
  return reg[HALF];
}

/** `halfToFloat` into `reg`. */
function half(bits: number, to: number): void {
  const exponent = bits & 0x7c00;
  if (exponent === 0)
    reg[to] = (bits & 0x8000 ? -5.960464477539063e-8 : 5.960464477539063e-8) * (bits & 1023);
  else
    regBits[to] =
      ((bits & 0x8000) << 16) | (((bits & 0x7fff) << 13) + (exponent === 0x7c00 ? 0x70000000 : 0x38000000));
}

/** Binary logarithm of an element's bytes, by type number. */
export const LOG_BYTES = [2, 1, 0, 0, 1, 2];

/** The element at byte address `at` in the low bits, whatever above them: one kind of array for all types. */
function wordAt(m: Memory, at: number): number {
  return m.i32[at >> 2] >> ((at & 3) << 3);
}

/** Key of an integer or f16 element at byte address `at`. */
export function integerKey(m: Memory, type: number, at: number): number {
  const word = wordAt(m, at);
  if (type === TYPE_U8) return word & 255;
  if (type === TYPE_I8) return (word << 24) >> 24;
  if (type === TYPE_F16) return halfKey(word);
  if (type === TYPE_I16) return (word << 16) >> 16;
  return word;
}

/** What a quantised integer stands for, rounded at each step as the kernel does. */
export const dequantise = (raw: number, scale: number, zero: number): number =>
  fround(fround(fround(raw) - fround(zero)) * fround(scale));

/** The number at byte address `at`: (raw - zero) * scale for integers. */
export function value(m: Memory, type: number, at: number, scale: number, zero: number): number {
  if (type === TYPE_F32) return m.f32[at >> 2];
  if (type === TYPE_F16) return halfToFloat(wordAt(m, at));
  return dequantise(integerKey(m, type, at), scale, zero);
}

/** `value` into `reg`; scale and zero stand in two words of the plan. */
export function load(m: Memory, type: number, at: number, scale: number, to: number): void {
  const { f32 } = m;
  if (type === TYPE_F32) reg[to] = f32[at >> 2];
  else if (type === TYPE_F16) half(wordAt(m, at), to);
  else reg[to] = fround(fround(integerKey(m, type, at)) - f32[scale + 1]) * f32[scale];
}

/** e^x of the number in `wide`, in its place, by the steps of exp.ts. */
export function exp(): void {
  let x = wide[0];
  // a NaN is no index
  if (x !== x) return;
  if (x < -150) x = -150;
  if (x > 130) x = 130;
  const k = x * LOG2E + ROUND - ROUND;
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  const r2 = r * r;
  const p47 = C4 + r * C5 + r2 * (C6 + r * C7);
  const y = 1 + r + r2 * (C2 + r * C3) + r2 * r2 * p47;
  wide[0] = y * TWO[k + 220];
}

export function sigmoid(x: number): number {
  wide[0] = -x;
  exp();
  return 1 / (1 + wide[0]);
}

export function power(x: number, y: number): number {
  if (!(x > 0)) return x === x ? 0 : x;
  wide[0] = y * log(x < 4 ? x : 4);
  exp();
  return wide[0];
}

/** False for NaN and the infinities. */
export function finite(x: number): boolean {
  return x - x === 0;
}

/** The k-th of the classes, of all or of those in a list. */
export function classAt(i32: Int32Array, list: number, k: number): number {
  return list === 0 ? k : i32[list + k];
}
