/** Means of blocks, with vectors. */
import { channels4, roundedPixel } from "./pixel4";

/** Makes pixels of a row, four at a time. Returns how many it made. */
// @ts-ignore: decorator
@inline
export function halfRow4(start: usize, stride: usize, to: usize, width: i32, zero: i32): i32 {
  const two = i16x8.splat(<i16>(2 + zero));
  let x = 0;
  for (let p = start; x + 4 <= width; x += 4, p += 32) {
    const left = sumsOf(v128.load(p), v128.load(p + stride));
    const right = sumsOf(v128.load(p, 16), v128.load(p + stride, 16));
    v128.store(
      to + (x << 2),
      i8x16.narrow_i16x8_u(i16x8.shr_u(i16x8.add(left, two), 2), i16x8.shr_u(i16x8.add(right, two), 2)),
    );
  }
  return x;
}

/** Returns the sums of two blocks of 2 x 2 pixels, in i16. */
// @ts-ignore: decorator
@inline
function sumsOf(upper: v128, lower: v128): v128 {
  const first = i16x8.add(i16x8.extend_low_i8x16_u(upper), i16x8.extend_low_i8x16_u(lower));
  const second = i16x8.add(i16x8.extend_high_i8x16_u(upper), i16x8.extend_high_i8x16_u(lower));
  return i16x8.add(v128.shuffle<i64>(first, second, 0, 2), v128.shuffle<i64>(first, second, 1, 3));
}

/** Returns the mean of a block of pixels. */
// @ts-ignore: decorator
@inline
export function blockPixel4(start: usize, stride: usize, columns: i32, rows: i32, scale: f32): u32 {
  let sum = i32x4.splat(0);
  for (let row = 0, line = start; row < rows; row++, line += stride)
    for (let p = line; p < line + columns; p += 4) sum = i32x4.add(sum, channels4(p));
  return <u32>i32x4.extract_lane(roundedPixel(f32x4.mul(f32x4.convert_i32x4_s(sum), f32x4.splat(scale))), 0);
}
