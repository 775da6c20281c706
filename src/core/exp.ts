/**
 * The constants of `exp`, and the function `log`. asc compiles this file in f64, tsc in number. The code uses only + -
 * * /, which IEEE 754 rounds in the same way everywhere, so all engines get the same bits. The steps of `exp` are in
 * assembly/exp.ts, for four lanes in assembly/exp4.ts, and for TypeScript in core/number.ts. Each of these files
 * calculates 2^k in another way, but all results are exact.
 *
 * e^x = 2^k e^r, with k the integer nearest to x / ln 2, and r = x - k ln 2. x is clamped to [-150, 130]: outside, the
 * result as an f32 is 0 or infinite anyway. NaN gives NaN.
 *
 * The relative error is below 1e-10 before the caller rounds to f32, which adds up to 600 times as much.
 */

export const LOG2E = 1.4426950408889634;
/** ln 2 as the sum of two parts. The first part has few bits, so that k * LN2_HIGH is exact. */
export const LN2_HIGH = 0.69314718036912381649;
export const LN2_LOW = 1.90821492927058770002e-10;

/**
 * 1.5 * 2^52 + 1023. Doubles of that size have steps of 1. Adding this constant rounds a number to an integer k, and
 * subtracting the constant leaves k. The addition and subtraction replace `floor`, which may be a function call on
 * small processors. The twelve lowest bits of the sum are k + 1023, the exponent field of the double 2^k.
 */
export const ROUND = 6755399441056767.0;

// e^r = 1 + r + C2 r^2 + ... + C7 r^7. With these six coefficients, the largest relative error on |r| <= ln 2 / 2 is
// smallest (Remez): 5.2e-11. The terms are added by Estrin's scheme, whose chain is half as long as Horner's: (1 + r) +
// r2 (C2 + r C3) + r2 r2 (C4 + r C5 + r2 (C6 + r C7)).
export const C2 = 0.5000000067642643;
export const C3 = 0.1666666586941133;
export const C4 = 0.041666295093165544;
export const C5 = 0.008333497009701958;
export const C6 = 0.0013944648624804954;
export const C7 = 0.00019790351629918478;

/**
 * Returns the natural logarithm of a positive finite number, down to 2^-1074. Used only for powers.
 *
 * x = m 2^k with m in [sqrt(1/2), sqrt(2)). Then ln m = 2 atanh(s) with s = (m - 1) / (m + 1), as a series in s^2.
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
