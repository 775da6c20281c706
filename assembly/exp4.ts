/** `src/exp.ts` in four lanes: the same steps in the same order, so the same bits. Vector builds only. */
import { C2, C3, C4, C5, C6, C7, EXP_HIGH, EXP_LOW, LN2_HIGH, LN2_LOW, LOG2E } from "../src/exp";

// @ts-ignore: decorator
@inline
function all(x: f64): v128 {
  return f32x4.splat(<f32>x);
}

export function exp4(x: v128): v128 {
  const n = f32x4.floor(f32x4.add(f32x4.mul(x, all(LOG2E)), all(0.5)));
  let r = f32x4.sub(x, f32x4.mul(n, all(LN2_HIGH)));
  r = f32x4.sub(r, f32x4.mul(n, all(LN2_LOW)));
  let p = f32x4.mul(all(C7), r);
  p = f32x4.mul(f32x4.add(p, all(C6)), r);
  p = f32x4.mul(f32x4.add(p, all(C5)), r);
  p = f32x4.mul(f32x4.add(p, all(C4)), r);
  p = f32x4.mul(f32x4.add(p, all(C3)), r);
  p = f32x4.mul(f32x4.add(p, all(C2)), r);
  p = f32x4.mul(f32x4.add(p, all(1)), r);
  p = f32x4.add(p, all(1));
  // 2^n in two factors: n = 128 has no f32 of its own. Both products are exact.
  const whole = i32x4.trunc_sat_f32x4_s(n);
  const half = i32x4.shr_s(whole, 1);
  const bias = i32x4.splat(127);
  p = f32x4.mul(p, i32x4.shl(i32x4.add(half, bias), 23));
  p = f32x4.mul(p, i32x4.shl(i32x4.add(i32x4.sub(whole, half), bias), 23));
  // outside the range of normal results; NaN compares false in both and comes through as x
  p = v128.bitselect(all(Infinity), p, f32x4.gt(x, all(EXP_HIGH)));
  p = v128.and(p, f32x4.ge(x, all(EXP_LOW)));
  return v128.bitselect(x, p, f32x4.ne(x, x));
}

export function sigmoid4(x: v128): v128 {
  const one = all(1);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x))));
}
