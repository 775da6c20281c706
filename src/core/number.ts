/**
 * Converts raw tensor elements to numbers. Also has the exponential of the TypeScript engine, which gives the same bits
 * as in all engines.
 */
import { C2, C3, C4, C5, C6, C7, LN2_HIGH, LN2_LOW, LOG2E, ROUND } from "./exp.ts";
import { type Channels, ELEMENTS, type TensorData, type TensorSpec, kindOf, volume } from "./tensor.ts";

const fround = Math.fround;

/** Exponent of the largest power in the table. It suffices: e^130 is below 2^188, and e^-150 is above 2^-217. */
export const LAST_POWER = 220;

/** 2^k at index k + LAST_POWER. Made by doubling, which is exact. The `pow` of a JavaScript engine may be inexact. */
export const POWERS_OF_TWO = /* @__PURE__ */ (() => {
  const powers = new Float64Array(2 * LAST_POWER + 1);
  for (let k = 0, two = 1; k <= LAST_POWER; k++, two *= 2) {
    powers[LAST_POWER + k] = two;
    powers[LAST_POWER - k] = 1 / two;
  }
  return powers;
})();

/** Replaces x, the first number of an array, by e^x. V8 may allocate an object for a returned double. */
export function expInPlace(values: Float64Array): void {
  let x = values[0];
  // Leave NaN unchanged: the table below has no entry for NaN.
  if (x !== x) return;
  if (x < -150) x = -150;
  if (x > 130) x = 130;
  const k = x * LOG2E + ROUND - ROUND;
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  const r2 = r * r;
  const p47 = C4 + r * C5 + r2 * (C6 + r * C7);
  const y = 1 + r + r2 * (C2 + r * C3) + r2 * r2 * p47;
  values[0] = y * POWERS_OF_TWO[k + LAST_POWER];
}

/** Returns 1 / (1 + e^-x), with the same bits as all engines. */
export function sigmoid(x: number): number {
  const power = new Float64Array([-x]);
  expInPlace(power);
  return 1 / (1 + power[0]);
}

/** Clamps a number to 0..1. NaN stays NaN. */
export const clampToUnit = (x: number): number => (x < 0 ? 0 : x > 1 ? 1 : x);

/** Converts the 16 bits of a half float to a number. Ignores higher bits. */
export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  // A subnormal half has the exponent of the smallest normal one, and no leading 1.
  if (exponent === 0) return sign * fraction * POWERS_OF_TWO[LAST_POWER - 24];
  return sign * (1024 + fraction) * POWERS_OF_TWO[LAST_POWER + exponent - 25];
}

/** Returns the bits of the half float nearest to a number in 0..1. */
export function fractionToHalf(x: number): number {
  if (x < 2 ** -14) return Math.round(x * 2 ** 24);
  const exponent = Math.floor(Math.log2(x));
  // A mantissa that is rounded up to 2 carries into the exponent.
  return ((exponent + 15) << 10) + Math.round((x / 2 ** exponent - 1) * 1024);
}

/** Dequantises an integer: returns (raw - zero) * scale, rounded to f32 after each step. */
export const dequantise = (raw: number, scale: number, zero: number): number =>
  fround(fround(fround(raw) - fround(zero)) * fround(scale));

/** Writes the dequantised elements of a tensor with scales per channel to `to`. Rounds each element to f32 once. */
export function dequantiseChannels(data: TensorData, { dims, channels }: TensorSpec, to: Float32Array): void {
  const { type, scale, zeroPoint, axis } = channels as Channels;
  const { array, bytes } = ELEMENTS[type];
  // Convert to the element type first. The array may be of another class with the same bits, such as i8 in a
  // Uint8Array.
  const raw =
    ArrayBuffer.isView(data) && bytes < 4
      ? new (array as unknown as typeof Int8Array)(data as Int8Array)
      : data;
  const step = volume(dims.slice(axis + 1));
  for (let i = 0; i < to.length; i++) {
    const k = Math.floor(i / step) % scale.length;
    to[i] = (Number(raw[i]) - zeroPoint[k]) * scale[k];
  }
}

/** Returns the elements of a tensor as numbers. For tensors that are read only once, such as prior boxes. */
export function numbersOf(s: TensorSpec, data: TensorData): ArrayLike<number> {
  if (s.channels) {
    const reals = new Float32Array(data.length);
    dequantiseChannels(data, s, reals);
    return reals;
  }
  const bits = s.type === "f16" && kindOf(data) !== "Float16Array";
  if (s.type === "f32" || !(bits || s.scale !== null))
    return kindOf(data).startsWith("Big")
      ? Array.from(data as ArrayLike<number>, Number)
      : (data as ArrayLike<number>);
  return Array.from(data as ArrayLike<number>, (x) =>
    bits ? halfToFloat(x) : dequantise(Number(x), s.scale as number, s.zeroPoint),
  );
}

/** Returns the smallest and the largest real number that an element of a quantised tensor can represent. */
export function rangeOf({ type, scale, zeroPoint }: TensorSpec): readonly [low: number, high: number] {
  const { low, high } = ELEMENTS[type];
  return [dequantise(low, scale ?? 1, zeroPoint), dequantise(high, scale ?? 1, zeroPoint)];
}
