/** The channels of a pixel in a vector. */
import { J_FORMAT } from "../../src/core/prepare-abi";
import { int } from "../word";

/**
 * Returns 0: every format is below 256, but no compiler can know this. V8 makes a constant vector anew at each use, by
 * three instructions. A vector that is computed with this zero before a loop stays in a register:
 * `i16x8.splat(<i16>(255 + zero))`.
 */
// @ts-ignore: decorator
@inline
export function hiddenZero(job: usize): i32 {
  return int(job, J_FORMAT) >> 8;
}

/** Returns the four bytes of a pixel as i32. */
// @ts-ignore: decorator
@inline
export function channels4(pixel: usize): v128 {
  return i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(pixel)));
}

/** Returns four f32 as a pixel in the lowest lane, rounded to even and clamped. */
// @ts-ignore: decorator
@inline
export function roundedPixel(values: v128): v128 {
  const whole = i32x4.trunc_sat_f32x4_s(f32x4.nearest(values));
  const words = i16x8.narrow_i32x4_s(whole, whole);
  return i8x16.narrow_i16x8_u(words, words);
}
