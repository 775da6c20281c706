/**
 * exp and its kin, written once and compiled by asc and by tsc. Only + - * /, floor and rounding to f32 after each
 * step, all of which IEEE 754 fixes to the last bit, so all engines get the same bits;
 * `assembly/exp4.ts` is the same steps in four lanes.
 *
 * Accuracy: within 2 units in the last place of f32, checked against Math.exp by test/exp.test.ts.
 */

/** Beyond these e^x is no normal f32: infinite above, taken as 0 below. */
export const EXP_HIGH = 88.72;
export const EXP_LOW = -87.33;
export const LOG2E = 1.44269504;
// ln 2 in two parts: the first has nine bits, so its product with a whole number is exact
export const LN2_HIGH = 0.693359375;
export const LN2_LOW = -2.1219444e-4;
// Taylor's coefficients from 1/7! down to 1/2!; the remainder on |r| <= ln2 / 2 is below 6e-9
export const C7 = 1.984127e-4;
export const C6 = 1.3888889e-3;
export const C5 = 8.333334e-3;
export const C4 = 4.1666668e-2;
export const C3 = 1.6666667e-1;
export const C2 = 0.5;

/**
 * e^x of an f32, as an f32: x = n ln2 + r with |r| <= ln2 / 2, a polynomial for e^r, times 2^n built from its binary
 * digits (an exact product, however it is made). NaN gives NaN.
 */
export function exp(x: number): number {
  if (!(x >= EXP_LOW)) return x == x ? 0.0 : x;
  if (x > EXP_HIGH) return Infinity;
  const n = Math.floor(Math.fround(Math.fround(x * Math.fround(LOG2E)) + 0.5));
  let r = Math.fround(x - Math.fround(n * LN2_HIGH));
  r = Math.fround(r - Math.fround(n * Math.fround(LN2_LOW)));
  let p = Math.fround(Math.fround(C7) * r);
  p = Math.fround(Math.fround(p + Math.fround(C6)) * r);
  p = Math.fround(Math.fround(p + Math.fround(C5)) * r);
  p = Math.fround(Math.fround(p + Math.fround(C4)) * r);
  p = Math.fround(Math.fround(p + Math.fround(C3)) * r);
  p = Math.fround(Math.fround(p + C2) * r);
  p = Math.fround(Math.fround(p + 1.0) * r);
  p = Math.fround(p + 1.0);
  let k = n < 0.0 ? -n : n;
  let two = 1.0;
  if (k >= 64.0) {
    two *= 18446744073709552000.0;
    k -= 64.0;
  }
  // n = 128 comes up just below the top of the range
  if (k >= 64.0) {
    two *= 18446744073709552000.0;
    k -= 64.0;
  }
  if (k >= 32.0) {
    two *= 4294967296.0;
    k -= 32.0;
  }
  if (k >= 16.0) {
    two *= 65536.0;
    k -= 16.0;
  }
  if (k >= 8.0) {
    two *= 256.0;
    k -= 8.0;
  }
  if (k >= 4.0) {
    two *= 16.0;
    k -= 4.0;
  }
  if (k >= 2.0) {
    two *= 4.0;
    k -= 2.0;
  }
  if (k >= 1.0) two *= 2.0;
  return Math.fround(n < 0.0 ? p / two : p * two);
}

/** 1 / (1 + e^-x), as an f32. */
export function sigmoid(x: number): number {
  return Math.fround(1.0 / Math.fround(1.0 + exp(-x)));
}

/** tanh x = 1 - 2 / (e^2x + 1), as an f32. */
export function tanh(x: number): number {
  return Math.fround(1.0 - 2.0 / (exp(Math.fround(2.0 * x)) + 1.0));
}

/**
 * Natural logarithm of a positive finite number; used only for `power`.
 * x = m 2^k with m in [sqrt(1/2), sqrt(2)), then ln m = 2 atanh((m - 1) / (m + 1)) as a series.
 */
export function log(x: number): number {
  let m = x;
  let k = 0.0;
  while (m < 0.00390625) {
    m *= 256.0;
    k -= 8.0;
  }
  while (m < 0.7071067811865476) {
    m *= 2.0;
    k -= 1.0;
  }
  while (m >= 1.4142135623730951) {
    m *= 0.5;
    k += 1.0;
  }
  const s = (m - 1.0) / (m + 1.0);
  const z = s * s;
  const tail = 0.1111111111111111 + z * (0.09090909090909091 + z * 0.07692307692307693);
  const series = 1.0 + z * (0.3333333333333333 + z * (0.2 + z * (0.14285714285714285 + z * tail)));
  return 2.0 * s * series + k * 0.6931471805599453;
}

/** x^y for 0 <= x <= 4, y > 0 (a probability to a fixed power), as an f32; what is not positive gives 0, NaN gives NaN. */
export function power(x: number, y: number): number {
  if (!(x > 0.0)) return x == x ? 0.0 : x;
  return exp(Math.fround(y * log(x < 4.0 ? x : 4.0)));
}
