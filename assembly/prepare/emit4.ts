/** Makes tensor elements with vectors, by the arithmetic that filled the tables of `emit`, so the bits are equal. */
import {
  J_DIVISOR_0,
  J_FLIP,
  J_MEAN_0,
  J_MULTIPLIES,
  J_OUT_PLANE,
  J_SHIFT_0,
} from "../../src/core/prepare-abi";
import { flt, int, ptr } from "../word";
import { hiddenZero } from "./pixel4";

/** Makes f32 elements of a row. Returns how many pixels it made. */
export function emitFloats4(job: usize, from: usize, to: usize, width: i32): i32 {
  const multiplies = int(job, J_MULTIPLIES) != 0;
  if (ptr(job, J_OUT_PLANE) == 0)
    return multiplies ? pixels(job, from, to, width, true) : pixels(job, from, to, width, false);
  return multiplies ? planes(job, from, to, width, true) : planes(job, from, to, width, false);
}

/** Makes u8 or i8 elements of a row, each a byte ^ J_FLIP. Returns how many pixels it made. */
export function emitBytes4(job: usize, from: usize, to: usize, width: i32): i32 {
  const flip = i8x16.splat(<i8>int(job, J_FLIP));
  const first = int(job, J_SHIFT_0);
  const plane = ptr(job, J_OUT_PLANE);
  let x = 0;
  if (plane == 0) {
    const straight = i8x16(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -128, -128, -128, -128);
    const swapped = i8x16(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -128, -128, -128, -128);
    const order = first == 0 ? straight : swapped;
    // Four pixels have twelve bytes, but sixteen are written. The next pixels overwrite the last four, so two more
    // pixels must follow.
    for (let out = to; x + 6 <= width; x += 4, out += 12)
      v128.store(out, v128.xor(i8x16.swizzle(v128.load(from + (x << 2)), order), flip));
    return x;
  }
  for (; x + 16 <= width; x += 16) {
    const pixels = from + (x << 2);
    v128.store(to + x, v128.xor(channelOf(pixels, first), flip));
    v128.store(to + x + plane, v128.xor(channelOf(pixels, 8), flip));
    v128.store(to + x + 2 * plane, v128.xor(channelOf(pixels, 16 - first), flip));
  }
  return x;
}

/** Returns one channel of sixteen pixels. */
// @ts-ignore: decorator
@inline
function channelOf(pixels: usize, shift: i32): v128 {
  const low = i32x4.splat(255);
  const a = v128.and(i32x4.shr_u(v128.load(pixels), shift), low);
  const b = v128.and(i32x4.shr_u(v128.load(pixels, 16), shift), low);
  const c = v128.and(i32x4.shr_u(v128.load(pixels, 32), shift), low);
  const d = v128.and(i32x4.shr_u(v128.load(pixels, 48), shift), low);
  return i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}

/**
 * Returns four elements: byte - mean, then multiplied or divided by `by`. Since this is inlined, `multiplies` is a
 * constant.
 */
// @ts-ignore: decorator
@inline
export function valuesOf(bytes: v128, mean: v128, by: v128, multiplies: bool): v128 {
  const centred = f32x4.sub(f32x4.convert_i32x4_s(bytes), mean);
  return multiplies ? f32x4.mul(centred, by) : f32x4.div(centred, by);
}

/** Writes one channel after the other, four pixels at a time. */
// @ts-ignore: decorator
@inline
function planes(job: usize, from: usize, to: usize, width: i32, multiplies: bool): i32 {
  const plane = ptr(job, J_OUT_PLANE);
  const low = i32x4.splat(255 + hiddenZero(job));
  const first = int(job, J_SHIFT_0);
  const third = 16 - first;
  const mean0 = f32x4.splat(flt(job, J_MEAN_0));
  const mean1 = f32x4.splat(flt(job, J_MEAN_0 + 1));
  const mean2 = f32x4.splat(flt(job, J_MEAN_0 + 2));
  const by0 = f32x4.splat(flt(job, J_DIVISOR_0));
  const by1 = f32x4.splat(flt(job, J_DIVISOR_0 + 1));
  const by2 = f32x4.splat(flt(job, J_DIVISOR_0 + 2));
  let x = 0;
  for (let out = to; x + 4 <= width; x += 4, out += 16) {
    const four = v128.load(from + (x << 2));
    const bytes0 = v128.and(i32x4.shr_u(four, first), low);
    const bytes1 = v128.and(i32x4.shr_u(four, 8), low);
    const bytes2 = v128.and(i32x4.shr_u(four, third), low);
    v128.store(out, valuesOf(bytes0, mean0, by0, multiplies));
    v128.store(out + plane, valuesOf(bytes1, mean1, by1, multiplies));
    v128.store(out + 2 * plane, valuesOf(bytes2, mean2, by2, multiplies));
  }
  return x;
}

/** Writes the channels of a pixel together, and a fourth value that the next pixel overwrites. */
// @ts-ignore: decorator
@inline
function pixels(job: usize, from: usize, to: usize, width: i32, multiplies: bool): i32 {
  const straight = i8x16(0, -128, -128, -128, 1, -128, -128, -128, 2, -128, -128, -128, 3, -128, -128, -128);
  const swapped = i8x16(2, -128, -128, -128, 1, -128, -128, -128, 0, -128, -128, -128, 3, -128, -128, -128);
  const order = int(job, J_SHIFT_0) == 0 ? straight : swapped;
  const mean = v128.load(job + (J_MEAN_0 << 2));
  const by = v128.load(job + (J_DIVISOR_0 << 2));
  let x = 0;
  for (let out = to; x + 1 < width; x++, out += 12)
    v128.store(out, valuesOf(i8x16.swizzle(v128.load32_zero(from + (x << 2)), order), mean, by, multiplies));
  return x;
}
