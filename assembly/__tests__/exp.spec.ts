import { exp, power, sigmoid, tanh } from "../exp";

/** The relative error that src/core/exp.ts states. */
const STATED: f64 = 1e-10;

/** Returns step i of `n` from `from` to `to`, as an f32. */
function at(from: f64, to: f64, i: i32, n: i32): f32 {
  return <f32>(from + ((to - from) * <f64>i) / <f64>n);
}

describe("exp and its kin", () => {
  test("are as near as stated, and never step back", () => {
    let most: f64 = 0;
    let back = 0;
    let before: f32 = 0;
    for (let i = 0; i <= 400000; i++) {
      const x = <f64>at(-87, 88.7, i, 400000);
      const want = NativeMath.exp(x);
      most = max(most, abs(exp(x) - want) / want);
      most = max(most, abs(sigmoid(x) - 1 / (1 + NativeMath.exp(-x))) * (1 + NativeMath.exp(-x)));
      most = max(most, abs(tanh(x / 8) - NativeMath.tanh(x / 8)));
      const p = <f64>at(1e-6, 1, i, 400000);
      most = max(most, abs(power(p, 0.6) - NativeMath.pow(p, 0.6)) / NativeMath.pow(p, 0.6));
      if (<f32>exp(x) < before) back++;
      before = <f32>exp(x);
    }
    expect(most).toBeLessThan(STATED);
    expect(back).toBe(0);
    expect(before).toBeGreaterThan(3e38);
  });

  test("at the ends", () => {
    expect(exp(0)).toBe(1);
    expect(<f32>exp(Infinity)).toBe(Infinity);
    expect(<f32>exp(-Infinity)).toBe(0);
    expect(exp(NaN)).toBeNaN();
    expect(sigmoid(Infinity)).toBe(1);
    expect(<f32>sigmoid(-Infinity)).toBe(0);
    expect(sigmoid(NaN)).toBeNaN();
    expect(tanh(Infinity)).toBe(1);
    expect(tanh(-Infinity)).toBe(-1);
    expect(power(0, 0.6)).toBe(0);
    expect(power(-1, 0.6)).toBe(0);
    expect(power(NaN, 0.6)).toBeNaN();
    expect(power(1, 0.4)).toBe(1);
  });
});
