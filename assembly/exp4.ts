/** The exponentials of exp.ts with vectors: the same steps in the same order, so the bits are equal. */
import { C2, C3, C4, C5, C6, C7, LN2_HIGH, LN2_LOW, LOG2E, ROUND } from "../src/core/exp";

// @ts-ignore: decorator
@inline
function all(x: f64): v128 {
  return f64x2.splat(x);
}

/** Returns a + b r. */
// @ts-ignore: decorator
@inline
function line(a: f64, b: f64, r: v128): v128 {
  return f64x2.add(all(a), f64x2.mul(r, all(b)));
}

/** Returns e^x of two doubles. */
// @ts-ignore: decorator
@inline
function exp2(x: v128): v128 {
  // In this order of operands a NaN stays NaN.
  x = f64x2.pmin(f64x2.pmax(x, all(-150)), all(130));
  const sum = f64x2.add(f64x2.mul(x, all(LOG2E)), all(ROUND));
  const k = f64x2.sub(sum, all(ROUND));
  const r = f64x2.sub(f64x2.sub(x, f64x2.mul(k, all(LN2_HIGH))), f64x2.mul(k, all(LN2_LOW)));
  const r2 = f64x2.mul(r, r);
  const p47 = f64x2.add(line(C4, C5, r), f64x2.mul(r2, line(C6, C7, r)));
  const p03 = f64x2.add(f64x2.add(all(1), r), f64x2.mul(r2, line(C2, C3, r)));
  const y = f64x2.add(p03, f64x2.mul(f64x2.mul(r2, r2), p47));
  return f64x2.mul(y, i64x2.shl(sum, 52));
}

/** Returns a vector whose lower half is the upper half of x. */
// @ts-ignore: decorator
@inline
function high(x: v128): v128 {
  return v128.shuffle<u64>(x, x, 1, 0);
}

/** Returns four doubles as four floats. */
// @ts-ignore: decorator
@inline
function toFloats(low: v128, up: v128): v128 {
  return v128.shuffle<u64>(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(up), 0, 2);
}

/** Returns 1 / (1 + e^-x) of four floats. Rounds to f32 once, at the end. */
export function sigmoid4(x: v128): v128 {
  const n = f32x4.neg(x);
  const low = exp2(f64x2.promote_low_f32x4(n));
  const up = exp2(f64x2.promote_low_f32x4(high(n)));
  return toFloats(f64x2.div(all(1), f64x2.add(all(1), low)), f64x2.div(all(1), f64x2.add(all(1), up)));
}

/** Returns e^x of four floats. */
export function exp4(x: v128): v128 {
  return toFloats(exp2(f64x2.promote_low_f32x4(x)), exp2(f64x2.promote_low_f32x4(high(x))));
}

/**
 * Returns [sum + e^x, mean + e^x * (first + lane)] over four floats, with [sum, mean] in `sums`. Adds one term after
 * the other, as `side` of the other engines does: the order decides the bits.
 */
export function expSums(x: v128, first: f64, sums: v128): v128 {
  const low = exp2(f64x2.promote_low_f32x4(x));
  const up = exp2(f64x2.promote_low_f32x4(high(x)));
  let sum = f64x2.extract_lane(sums, 0);
  let mean = f64x2.extract_lane(sums, 1);
  const e0 = f64x2.extract_lane(low, 0);
  const e1 = f64x2.extract_lane(low, 1);
  const e2 = f64x2.extract_lane(up, 0);
  const e3 = f64x2.extract_lane(up, 1);
  sum = sum + e0 + e1 + e2 + e3;
  mean += e0 * first;
  mean += e1 * (first + 1);
  mean += e2 * (first + 2);
  mean += e3 * (first + 3);
  return f64x2.replace_lane(f64x2.splat(sum), 1, mean);
}
