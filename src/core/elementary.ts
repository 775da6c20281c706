/**
 * Elementary functions in doubles, with the same bits on every machine. They use only + - * /, which IEEE 754 rounds in
 * the same way everywhere. `Math.sin` and similar functions differ between runtimes. `embedded/src/oriented.c` has the
 * same functions in C.
 *
 * The polynomials are Taylor series. Each argument is first reduced to a value near 0, so that the omitted terms are
 * below 1e-17 of the result.
 *
 * `exp.ts` has the exponential of the engines. Its relative error of 1e-10 is small enough for results that are rounded
 * to f32, but not for an overlap that is close to a threshold.
 */
import { LN2_HIGH, LN2_LOW, LOG2E } from "./exp.ts";
import { LAST_POWER, POWERS_OF_TWO } from "./number.ts";

/** 1.5 * 2^52: adding and subtracting it rounds a double below 2^51 to an integer. */
const ROUND = 6755399441055744;

/** pi / 2 as the sum of two parts. The first has 36 bits, so that its products with integers below 2^17 are exact. */
const HALF_PI_HIGH = 1.5707963267923333;
const HALF_PI_LOW = 2.563344151594519e-12;
const QUARTERS_PER_RADIAN = 0.6366197723675814;
/** Angles of at least this many radians need another reduction. Smaller angles have fewer than 2^17 quarter turns. */
const LARGE_ANGLE = 131072;

// 1 / n!
const F3 = 1 / 6;
const F4 = 1 / 24;
const F5 = 1 / 120;
const F6 = 1 / 720;
const F7 = 1 / 5040;
const F8 = 1 / 40320;
const F9 = 1 / 362880;
const F10 = 1 / 3628800;
const F11 = 1 / 39916800;
const F12 = 1 / 479001600;
const F13 = 1 / 6227020800;
const F14 = 1 / 87178291200;
const F15 = 1 / 1307674368000;
const F16 = 1 / 20922789888000;
const F17 = 1 / 355687428096000;

/**
 * Writes cosine and sine of an angle to an array, with errors below 2e-16. Returns nothing: V8 may allocate memory for
 * a double that a function returns.
 */
export function writeCosSin(angle: number, to: Float64Array): void {
  // Reduce a large angle modulo the double nearest to 2 pi. The error is negligible: an f32 of that size is exact only
  // to 1/64 rad.
  const x = angle > -LARGE_ANGLE && angle < LARGE_ANGLE ? angle : angle % (2 * Math.PI);
  const quarters = x * QUARTERS_PER_RADIAN + ROUND - ROUND;
  const r = x - quarters * HALF_PI_HIGH - quarters * HALF_PI_LOW;
  const z = r * r;
  const s9 = F9 - z * (F11 - z * (F13 - z * (F15 - z * F17)));
  const s = r - r * (z * (F3 - z * (F5 - z * (F7 - z * s9))));
  const c8 = F8 - z * (F10 - z * (F12 - z * (F14 - z * F16)));
  const c = 1 - z * (0.5 - z * (F4 - z * (F6 - z * c8)));
  const quarter = quarters & 3;
  to[0] = quarter === 0 ? c : quarter === 1 ? -s : quarter === 2 ? -c : s;
  to[1] = quarter === 0 ? s : quarter === 1 ? c : quarter === 2 ? -s : -c;
}

/** Arc tangents of 0, 1/4, 1/2, 3/4 and 1. */
const ARC_TANGENTS = [0, 0.24497866312686414, 0.4636476090008061, 0.6435011087932844, 0.7853981633974483];

/** Returns the angle of a vector other than (0, 0), in [-pi, pi]. The relative error is below 4e-16. */
export function angleOfVector(x: number, y: number): number {
  const across = x < 0 ? -x : x;
  const down = y < 0 ? -y : y;
  const isSteep = down > across;
  const t = isSteep ? across / down : down / across;
  if (t !== t) return t;
  // atan t = atan c + atan u, with c the multiple of 1/4 nearest to t: |u| <= 1/8.
  const quarters = t * 4 + ROUND - ROUND;
  const c = quarters / 4;
  const u = (t - c) / (1 + t * c);
  const z = u * u;
  const u9 = 1 / 9 - z * (1 / 11 - z * (1 / 13 - z * (1 / 15 - z * (1 / 17))));
  const acute = ARC_TANGENTS[quarters] + (u - u * (z * (1 / 3 - z * (1 / 5 - z * (1 / 7 - z * u9)))));
  const steep = isSteep ? Math.PI / 2 - acute : acute;
  const right = x < 0 ? Math.PI - steep : steep;
  return y < 0 ? -right : right;
}

/** Returns e^x, with x clamped to [-150, 130]. The relative error is below 3e-16. */
export function exp(x: number): number {
  // Return early, since the table below has no entry for NaN.
  if (x !== x) return x;
  const within = x < -150 ? -150 : x > 130 ? 130 : x;
  const k = within * LOG2E + ROUND - ROUND;
  const r = within - k * LN2_HIGH - k * LN2_LOW;
  const r9 = F9 + r * (F10 + r * (F11 + r * (F12 + r * F13)));
  const r5 = F5 + r * (F6 + r * (F7 + r * (F8 + r * r9)));
  const y = 1 + (r + r * (r * (0.5 + r * (F3 + r * (F4 + r * r5)))));
  return y * POWERS_OF_TWO[k + LAST_POWER];
}
