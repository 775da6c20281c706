/**
 * The exponential, and functions made of it. `src/core/exp.ts` explains the constants.
 *
 * Only here: sigmoid, tanh. `activate` of the TypeScript engine contains their formulas, around one call of exp.
 */
import { C2, C3, C4, C5, C6, C7, LN2_HIGH, LN2_LOW, LOG2E, ROUND, log } from "../src/core/exp";

/** Returns e^x, for an x whose result is rounded to f32. */
export function exp(x: f64): f64 {
  if (x < -150) x = -150;
  if (x > 130) x = 130;
  const sum = x * LOG2E + ROUND;
  const k = sum - ROUND;
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  const r2 = r * r;
  const p47 = C4 + r * C5 + r2 * (C6 + r * C7);
  const y = 1.0 + r + r2 * (C2 + r * C3) + r2 * r2 * p47;
  // Multiply by 2^k, made from the low bits of the sum. If x is NaN these bits are arbitrary, and the product stays
  // NaN.
  return y * reinterpret<f64>(reinterpret<u64>(sum) << 52);
}

/** Returns 1 / (1 + e^-x). */
export function sigmoid(x: f64): f64 {
  return 1 / (1 + exp(-x));
}

/** Returns tanh x = 1 - 2 / (e^2x + 1). */
export function tanh(x: f64): f64 {
  return 1 - 2 / (exp(2 * x) + 1);
}

/** Returns x^y for 0 <= x <= 4 and y > 0. Returns 0 for a negative x; NaN and infinity stay. */
export function power(x: f64, y: f64): f64 {
  if (!(x > 0)) return x == x ? 0 : x;
  if (x == Infinity) return x;
  return exp(y * log(x < 4 ? x : 4));
}
