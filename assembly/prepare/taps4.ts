/** Resampling with a window of weights, with a vector for the channels of a pixel. */
import { TAP_BITS } from "../../src/core/prepare-abi";
import { channels4 } from "./pixel4";

const HALF = 1 << (TAP_BITS - 1);

/** Returns one pixel of a source row. */
// @ts-ignore: decorator
@inline
export function tapColumn4(from: usize, weights: usize, count: i32): u32 {
  let sum = i32x4.splat(HALF);
  let p = from;
  for (let k = 0; k < count; k++, p += 4)
    sum = i32x4.add(sum, i32x4.mul(channels4(p), v128.load32_splat(weights + (k << 2))));
  const words = i16x8.narrow_i32x4_s(i32x4.shr_s(sum, TAP_BITS), sum);
  return <u32>i32x4.extract_lane(i8x16.narrow_i16x8_u(words, words), 0);
}

/** Makes four pixels of a row at a time. The source rows are `stride` bytes apart. Returns how many bytes it made. */
// @ts-ignore: decorator
@inline
export function tapRow4(first: usize, stride: i32, weights: usize, count: i32, to: usize): i32 {
  let x = 0;
  for (; x + 16 <= stride; x += 16) {
    let s0 = i32x4.splat(HALF);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    let p = first + x;
    for (let k = 0; k < count; k++, p += stride) {
      const weight = v128.load32_splat(weights + (k << 2));
      const pixels = v128.load(p);
      const left = i16x8.extend_low_i8x16_u(pixels);
      const right = i16x8.extend_high_i8x16_u(pixels);
      s0 = i32x4.add(s0, i32x4.mul(i32x4.extend_low_i16x8_u(left), weight));
      s1 = i32x4.add(s1, i32x4.mul(i32x4.extend_high_i16x8_u(left), weight));
      s2 = i32x4.add(s2, i32x4.mul(i32x4.extend_low_i16x8_u(right), weight));
      s3 = i32x4.add(s3, i32x4.mul(i32x4.extend_high_i16x8_u(right), weight));
    }
    const low = i16x8.narrow_i32x4_s(i32x4.shr_s(s0, TAP_BITS), i32x4.shr_s(s1, TAP_BITS));
    const high = i16x8.narrow_i32x4_s(i32x4.shr_s(s2, TAP_BITS), i32x4.shr_s(s3, TAP_BITS));
    v128.store(to + x, i8x16.narrow_i16x8_u(low, high));
  }
  return x;
}
