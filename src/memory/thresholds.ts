/**
 * Thresholds in the raw domain. The kernel compares what stands in the tensor, so a threshold is turned, once,
 * into the smallest raw value whose conversion passes it; found by bisection over the real conversion, so that
 * the raw gate and a gate after conversion agree to the last value.
 */
import { dequantise, halfToFloat } from "../core/number.ts";
import { ELEMENTS, type TensorSpec } from "../core/tensor.ts";

const word = new DataView(new ArrayBuffer(4));

type Numbers = Pick<TensorSpec, "type" | "scale" | "zeroPoint">;

/** The number that a key stands for: integers in the order of the numbers, for floats their bits with negatives turned over. */
function numberOf({ type, scale, zeroPoint }: Numbers, key: number): number {
  if (type === "f32") {
    word.setInt32(0, key < 0 ? key ^ 0x7fffffff : key);
    return word.getFloat32(0);
  }
  if (type === "f16") return halfToFloat((key < 0 ? key ^ 0x7fff : key) & 0xffff);
  return dequantise(key, scale ?? 1, zeroPoint);
}

/**
 * Gate in the raw domain: f32 as the number itself, other types as an integer key (see assembly/value.ts).
 * `passes` gets the dequantised value and must be monotone.
 */
export function rawThreshold(s: Numbers, passes: (value: number) => boolean): number {
  const { low, high } = ELEMENTS[s.type];
  let a = low;
  let b = high + 1;
  while (a < b) {
    const mid = Math.floor((a + b) / 2);
    if (passes(numberOf(s, mid))) b = mid;
    else a = mid + 1;
  }
  return s.type === "f32" ? numberOf(s, a) : a;
}

/** The smallest f32 that is above the threshold, or at least equal to it. The threshold itself is a double. */
export const smallestPassing = (threshold: number, gate: ">" | ">="): number =>
  rawThreshold({ type: "f32", scale: 1, zeroPoint: 0 }, (x) =>
    gate === ">" ? x > threshold : x >= threshold,
  );

/** Smallest and largest number that an element can hold. */
export const rangeOf = (s: Numbers): readonly [number, number] => [
  numberOf(s, ELEMENTS[s.type].low),
  numberOf(s, ELEMENTS[s.type].high),
];
