/** Bilinear resampling with vectors. Each function returns how many pixels of the row it made. */

/** Makes two pixels at a time. */
// @ts-ignore: decorator
@inline
export function linearColumns4(from: usize, xtab: usize, to: usize, width: i32): i32 {
  let x = 0;
  let table = xtab;
  for (; x + 2 <= width; x += 2, table += 16)
    v128.store(to + (x << 3), i16x8.narrow_i32x4_s(column(from, table), column(from, table + 8)));
  return x;
}

/** Returns the four channels of a pixel in 15 bits. */
// @ts-ignore: decorator
@inline
function column(from: usize, table: usize): v128 {
  // Put a channel of the pixel and the same channel of the next one side by side in i16. Avoid a constant vector: V8
  // would make it anew for each pixel.
  const pixels = i16x8.extend_low_i8x16_u(v128.load64_zero(from + load<u32>(table)));
  const next = v128.shuffle<i64>(pixels, pixels, 1, 1);
  const both = v128.shuffle<i16>(pixels, next, 0, 8, 1, 9, 2, 10, 3, 11);
  return i32x4.shr_s(i32x4.dot_i16x8_s(both, v128.load32_splat(table, 4)), 4);
}

/** Makes four pixels at a time. */
// @ts-ignore: decorator
@inline
export function blendRows4(upper: usize, lower: usize, a: u32, b: u32, to: usize, width: i32): i32 {
  const above = i32x4.splat(a);
  const below = i32x4.splat(b);
  let x = 0;
  for (let p = upper, q = lower; x + 4 <= width; x += 4, p += 32, q += 32) {
    const left = twoPixels(v128.load(p), v128.load(q), above, below);
    const right = twoPixels(v128.load(p, 16), v128.load(q, 16), above, below);
    v128.store(to + (x << 2), i8x16.narrow_i16x8_u(left, right));
  }
  return x;
}

/** Returns two pixels in i16. `above` and `below` have the weight in the lower half of each i32. */
// @ts-ignore: decorator
@inline
function twoPixels(p: v128, q: v128, above: v128, below: v128): v128 {
  const zero = i32x4.splat(0);
  const low = i32x4.add(
    i32x4.shr_s(i32x4.dot_i16x8_s(lowHalf(p, zero), above), 16),
    i32x4.shr_s(i32x4.dot_i16x8_s(lowHalf(q, zero), below), 16),
  );
  const high = i32x4.add(
    i32x4.shr_s(i32x4.dot_i16x8_s(highHalf(p, zero), above), 16),
    i32x4.shr_s(i32x4.dot_i16x8_s(highHalf(q, zero), below), 16),
  );
  return i16x8.shr_s(i16x8.add(i16x8.narrow_i32x4_s(low, high), i16x8.splat(2)), 2);
}

// @ts-ignore: decorator
@inline
function lowHalf(x: v128, zero: v128): v128 {
  return v128.shuffle<i16>(x, zero, 0, 8, 1, 9, 2, 10, 3, 11);
}

// @ts-ignore: decorator
@inline
function highHalf(x: v128, zero: v128): v128 {
  return v128.shuffle<i16>(x, zero, 4, 12, 5, 13, 6, 14, 7, 15);
}
