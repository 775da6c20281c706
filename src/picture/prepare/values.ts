/** Converts bytes to tensor elements. */
import { ELEMENT_BYTE, ELEMENT_F32, ELEMENT_HALF } from "../../core/prepare-abi.ts";
import type { PreparedData } from "../../decode/prepare.ts";
import type { CheckedRule } from "./rule.ts";
import { roundToEven } from "../../core/place.ts";

const fround = Math.fround;

/** An element type of input tensors: array class, the kernel's code, and the function that makes elements. */
interface Element {
  readonly log: number;
  readonly array: new (buffer: ArrayBuffer, at: number, length: number) => PreparedData;
  readonly elementOf: (value: number, rule: CheckedRule) => number;
}

export const PICTURE_ELEMENTS: { readonly [T in CheckedRule["type"]]: Element } = {
  f32: { log: ELEMENT_F32, array: Float32Array, elementOf: (value) => value },
  f16: { log: ELEMENT_HALF, array: Uint16Array, elementOf: halfOf },
  u8: { log: ELEMENT_BYTE, array: Uint8Array, elementOf: (value, rule) => quantise(value, rule, 0) },
  i8: { log: ELEMENT_BYTE, array: Int8Array, elementOf: (value, rule) => quantise(value, rule, -128) },
};

/**
 * Returns the value of a byte, or of padding, in one channel of the tensor. The vector kernel computes in the same
 * order.
 */
export function valueOf(byte: number, channel: number, { mean, divisor, multiplies }: CheckedRule): number {
  const centred = fround(fround(byte) - fround(mean[channel]));
  const by = fround(divisor[channel]);
  return fround(multiplies ? centred * by : centred / by);
}

/** Returns the padding element of each channel of the tensor. */
export const padsOf = (rule: CheckedRule): number[] =>
  rule.pad.map((pad, channel) => PICTURE_ELEMENTS[rule.type].elementOf(valueOf(pad, channel, rule), rule));

/** Returns the quantised element of a value, for a range that begins at `low`. */
function quantise(value: number, { scale, zeroPoint }: CheckedRule, low: number): number {
  const raw = roundToEven(fround(value / fround(scale))) + zeroPoint;
  return Math.min(Math.max(raw, low), low + 255);
}

/** Returns the bits of the f16 nearest to an f32. Halves go to the even neighbour. */
export function halfOf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (!(size < 65520)) return sign | (size === size ? 0x7c00 : 0x7e00);
  // Find the distance between neighbouring f16 numbers of this size.
  let exponent = 0;
  let step = 2 ** -24;
  while (size >= step * 2048) {
    step *= 2;
    exponent++;
  }
  // A carry into the exponent gives the right next number.
  return sign | ((exponent << 10) + roundToEven(size / step));
}
