/** Means of blocks, with vectors. */
import { channels4, roundedPixel } from "./pixel4";

/** Makes pixels of a row, four at a time. Returns how many it made. */
// @ts-ignore: decorator
@inline
export function halfRow4(start: usize, stride: usize, to: usize, width: i32): i32 {
  const two = i16x8.splat(2);
  let x = 0;
  for (let p = start; x + 4 <= width; x += 4, p += 32) {
    const left = i16x8.add(pairs(v128.load(p)), pairs(v128.load(p + stride)));
    const right = i16x8.add(pairs(v128.load(p, 16)), pairs(v128.load(p + stride, 16)));
    v128.store(
      to + (x << 2),
      i8x16.narrow_i16x8_u(i16x8.shr_u(i16x8.add(left, two), 2), i16x8.shr_u(i16x8.add(right, two), 2)),
    );
  }
  return x;
}

/** Returns the sums of two neighbours of four pixels, in i16. */
// @ts-ignore: decorator
@inline
function pairs(pixels: v128): v128 {
  return i16x8.extadd_pairwise_i8x16_u(
    i8x16.swizzle(pixels, i8x16(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15)),
  );
}

/** Returns the mean of a block as a pixel. */
// @ts-ignore: decorator
@inline
export function blockRow4(start: usize, stride: usize, columns: i32, rows: i32, scale: f32): u32 {
  let sum = i32x4.splat(0);
  for (let row = 0, line = start; row < rows; row++, line += stride)
    for (let p = line; p < line + columns; p += 4) sum = i32x4.add(sum, channels4(p));
  return <u32>i32x4.extract_lane(roundedPixel(f32x4.mul(f32x4.convert_i32x4_s(sum), f32x4.splat(scale))), 0);
}
