/** Area resampling with a vector for the channels of a pixel. */
import { channels4, roundedPixel } from "./pixel4";

/** Makes one pixel of a source row. */
// @ts-ignore: decorator
@inline
export function areaColumn4(from: usize, weights: usize, count: i32, to: usize): void {
  let sum = f32x4.splat(0);
  let p = from;
  for (let k = 0; k < count; k++, p += 4)
    sum = f32x4.add(
      sum,
      f32x4.mul(f32x4.convert_i32x4_s(channels4(p)), v128.load32_splat(weights + (k << 2))),
    );
  v128.store(to, sum);
}

// @ts-ignore: decorator
@inline
export function addRow4(line: usize, sum: usize, weight: f32, width: i32): void {
  const weights = f32x4.splat(weight);
  for (let i: usize = 0; i < <usize>(width << 4); i += 16)
    v128.store(sum + i, f32x4.add(v128.load(sum + i), f32x4.mul(v128.load(line + i), weights)));
}

// @ts-ignore: decorator
@inline
export function roundRow4(sum: usize, to: usize, width: i32): void {
  for (let x = 0; x < width; x++)
    store<u32>(to + (x << 2), i32x4.extract_lane(roundedPixel(v128.load(sum + (x << 4))), 0));
}
