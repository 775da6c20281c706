/**
 * Thresholds in the raw domain. The kernel compares the raw values of a tensor. So a threshold is turned once into the
 * smallest raw value whose conversion passes it. Bisection over the real conversion finds it: comparing raw values and
 * comparing converted ones then agree to the last value.
 */
import { dequantise, halfToFloat } from "../core/number.ts";
import { ELEMENTS, type TensorSpec } from "../core/tensor.ts";

const word = new DataView(new ArrayBuffer(4));

type Numbers = Pick<TensorSpec, "type" | "scale" | "zeroPoint">;

/**
 * Returns the value that a key stands for. Keys are integers in the order of the values: an integer itself, or the bits
 * of a float, those of a negative one inverted but for the sign.
 */
function numberOf({ type, scale, zeroPoint }: Numbers, key: number): number {
  if (type === "f32") {
    word.setInt32(0, key < 0 ? key ^ 0x7fffffff : key);
    return word.getFloat32(0);
  }
  if (type === "f16") return halfToFloat((key < 0 ? key ^ 0x7fff : key) & 0xffff);
  return dequantise(key, scale ?? 1, zeroPoint);
}

/**
 * Returns the smallest raw value that passes: for f32 the value itself, for other types its key (see
 * assembly/value.ts).
 * @param passes tells whether a converted value passes; must be monotone
 */
export function rawThreshold(spec: Numbers, passes: (value: number) => boolean): number {
  const { low, high } = ELEMENTS[spec.type];
  let a = low;
  let b = high + 1;
  while (a < b) {
    const mid = Math.floor((a + b) / 2);
    if (passes(numberOf(spec, mid))) b = mid;
    else a = mid + 1;
  }
  return spec.type === "f32" ? numberOf(spec, a) : a;
}

/**
 * Returns the smallest f32 that passes a threshold. The threshold is rounded to f32, so that 0.9 equals a score of 0.9.
 */
export function smallestPassing(threshold: number, gate: ">" | ">="): number {
  const least = Math.fround(threshold);
  return gate === ">="
    ? least
    : rawThreshold({ type: "f32", scale: 1, zeroPoint: 0 }, (score) => score > least);
}
