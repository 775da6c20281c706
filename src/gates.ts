/**
 * Thresholds in the raw domain. The kernel compares what stands in the tensor, so a threshold is turned, once,
 * into the smallest raw value whose conversion passes it; found by bisection over the real conversion, so that
 * the raw gate and a gate after conversion agree to the last value.
 */
import { halfToFloat } from "./baseline/value.ts";
import type { ElementType } from "./tensor.ts";

const fround = Math.fround;
const word = new DataView(new ArrayBuffer(4));

/** Order-preserving integer of an f32: negatives turned over. */
function order(x: number): number {
  word.setFloat32(0, x);
  const bits = word.getInt32(0);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}

function fromOrder(o: number): number {
  word.setInt32(0, o < 0 ? o ^ 0x7fffffff : o);
  return word.getFloat32(0);
}

/** The smallest f32 that is above the threshold, or at least equal to it. The threshold itself is a double. */
export function smallestPassing(threshold: number, gate: ">" | ">="): number {
  const passes = (x: number): boolean => (gate === ">" ? x > threshold : x >= threshold);
  let o = order(fround(threshold) + 0);
  while (passes(fromOrder(o))) o--;
  while (!passes(fromOrder(o))) o++;
  return fromOrder(o);
}

/** Smallest integer in [low, high + 1] for which `passes`, which must not go back to false. */
function bisect(low: number, high: number, passes: (k: number) => boolean): number {
  let a = low;
  let b = high + 1;
  while (a < b) {
    const mid = Math.floor((a + b) / 2);
    if (passes(mid)) b = mid;
    else a = mid + 1;
  }
  return a;
}

const KEYS: Readonly<Record<Exclude<ElementType, "f32">, readonly [number, number]>> = {
  // sign-fixed order of half floats, -Infinity to +Infinity
  f16: [-0x7c01, 0x7c00],
  u8: [0, 255],
  i8: [-128, 127],
  i16: [-32768, 32767],
  // one short of the end, so that "nothing passes" still fits an i32
  i32: [-2147483648, 2147483646],
};

/** The number that a key stands for. */
function keyValue(type: Exclude<ElementType, "f32">, key: number, scale: number, zero: number): number {
  if (type === "f16") return halfToFloat((key < 0 ? key ^ 0x7fff : key) & 0xffff);
  return fround(fround(key - fround(zero)) * fround(scale));
}

/**
 * Gate in the raw domain: f32 as the number itself, other types as an integer key (see assembly/value.ts).
 * `passes` gets the dequantised value and must be monotone.
 */
export function rawGate(
  type: ElementType,
  scale: number,
  zero: number,
  passes: (value: number) => boolean,
): number {
  if (type === "f32")
    return fromOrder(bisect(order(-Infinity), order(Infinity) - 1, (o) => passes(fromOrder(o))));
  const [low, high] = KEYS[type];
  return bisect(low, high, (k) => passes(keyValue(type, k, scale, zero)));
}

/** Smallest and largest number that an element can hold. */
export function rangeOf(type: ElementType, scale: number, zero: number): readonly [number, number] {
  if (type === "f32" || type === "f16") return [-Infinity, Infinity];
  const [low, high] = KEYS[type];
  return [keyValue(type, low, scale, zero), keyValue(type, high, scale, zero)];
}
