/**
 * Converts score thresholds to raw thresholds. The kernel compares raw tensor values, so each threshold becomes the
 * smallest raw value whose converted score passes. Bisection with the kernel's own conversion finds this value, so that
 * comparing raw values gives exactly the same result as comparing scores.
 */
import { dequantise, halfToFloat, sigmoid } from "../core/number.ts";
import { ELEMENTS, type TensorSpec } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";
import type { Fn, Head } from "../heads/head.ts";
import type { Plan } from "../plan/plan.ts";

const fround = Math.fround;

const word = new DataView(new ArrayBuffer(4));

type Numbers = Pick<TensorSpec, "type" | "scale" | "zeroPoint">;

/**
 * Returns the value of a key. Keys are integers in the same order as the values. An integer is its own key. The key of
 * a float is its bits; for negative floats, all bits but the sign are inverted.
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
 * @param passes returns true if a converted value passes; must be monotone
 */
function rawThreshold(spec: Numbers, passes: (value: number) => boolean): number {
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

/** Returns the smallest f32 that passes a threshold. The threshold is rounded to f32, so that 0.9 equals an f32 0.9. */
export function smallestPassing(threshold: number, gate: ">" | ">="): number {
  const least = Math.fround(threshold);
  return gate === ">="
    ? least
    : rawThreshold({ type: "f32", scale: 1, zeroPoint: 0 }, (score) => score > least);
}

/** Returns how far a probability may exceed 0..1 by rounding: about one step of its element type. */
export const slackOf = ({ type, scale }: TensorSpec): number =>
  type === "f32" ? 1e-5 : type === "f16" ? 2 ** -9 : fround(scale ?? 1);

/** Returns the largest value that counts as a probability. Returns Infinity if the column holds logits. */
export const highest = (plan: Plan, f: Column | null, fn: Fn): number =>
  !f || fn !== "none" || plan.scores === "logits" ? Infinity : 1 + slackOf(plan.tensors[f.tensor]);

/** Largest finite f32. */
const LARGEST = 3.4028234663852886e38;

/** Returns the smallest raw class score and objectness with which a score can reach `smallest`. */
export function rawThresholds(plan: Plan, h: Head, smallest: number): { score: number; objectness: number } {
  // Convert exactly as the kernel does (see the head of this file).
  const convert = (fn: Fn, x: number): number => {
    if (fn === "none") return x;
    return fn === "clamp" ? Math.min(1, Math.max(0, x)) : fround(sigmoid(x));
  };
  // Lower the threshold a little: `**` and the kernel's power may differ by a rounding step. The kernel tests again.
  const nearly = smallest * (1 - 1e-6);
  const power = h.rule === "power";
  const o = h.objectness;
  let objectness = 0;
  const bound = (most: number): number => (most === Infinity ? 1 : most);
  const mostObjectness = bound(highest(plan, o, h.objectnessFn));
  const mostClass = bound(highest(plan, h.score, h.scoreFn));
  if (o) {
    objectness = rawThreshold(plan.tensors[o.tensor], (x) => {
      const c = convert(h.objectnessFn, x);
      // With objectness^0.6 x class^0.4 a low objectness can pass if the class score is high.
      if (!power) return c >= smallest;
      return c > 0 ? c ** 0.6 * mostClass ** 0.4 >= nearly : smallest <= 0;
    });
  }
  const score =
    h.scoreFn === "softmax"
      ? smallest > 0
        ? Math.log(smallest) - 1e-3
        : // A logit of -Infinity passes no threshold, not even 0.
          -LARGEST
      : rawThreshold(plan.tensors[h.score.tensor], (x) => {
          const c = convert(h.scoreFn, x);
          if (power) return c > 0 ? mostObjectness ** 0.6 * c ** 0.4 >= nearly : smallest <= 0;
          return (h.rule === "product" ? fround(mostObjectness * c) : c) >= smallest;
        });
  return { score, objectness };
}
