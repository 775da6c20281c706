/** `resize` and `cut` with vector instructions. The steps are those of resize.ts and cut.ts, so the bits are equal. */

/** Resizes the columns of a row, four at a time. Returns the count done; the caller does the rest. */
export function columns4(from: usize, table: usize, size: usize, to: usize, width: i32): i32 {
  let x = 0;
  for (; x + 4 <= width; x += 4) {
    const t = table + (x << 2);
    const r = t + size;
    let left = v128.load32_zero(from + (load<i32>(t) << 2));
    left = v128.load32_lane(from + (load<i32>(t, 4) << 2), left, 1);
    left = v128.load32_lane(from + (load<i32>(t, 8) << 2), left, 2);
    left = v128.load32_lane(from + (load<i32>(t, 12) << 2), left, 3);
    let right = v128.load32_zero(from + (load<i32>(r) << 2));
    right = v128.load32_lane(from + (load<i32>(r, 4) << 2), right, 1);
    right = v128.load32_lane(from + (load<i32>(r, 8) << 2), right, 2);
    right = v128.load32_lane(from + (load<i32>(r, 12) << 2), right, 3);
    v128.store(
      to + (x << 2),
      f32x4.add(f32x4.mul(left, v128.load(r + size)), f32x4.mul(right, v128.load(r + 2 * size))),
    );
  }
  return x;
}

/** Returns a mask of the lanes where the mix of two rows is above the threshold. */
// @ts-ignore: decorator
@inline
function above(upper: usize, lower: usize, a: v128, b: v128, threshold: v128): v128 {
  return f32x4.gt(f32x4.add(f32x4.mul(v128.load(upper), a), f32x4.mul(v128.load(lower), b)), threshold);
}

/** Returns sixteen bytes of 0 or 1 from lanes whose bits are all set or all clear. */
// @ts-ignore: decorator
@inline
function bytesOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const bytes = i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
  return v128.and(bytes, i8x16.splat(1));
}

/** Mixes two rows, sixteen pixels at a time, then four. Returns the count of pixels done; the caller does the rest. */
export function mixed4(
  upper: usize,
  lower: usize,
  a: f32,
  b: f32,
  threshold: f32,
  to: usize,
  width: i32,
): i32 {
  const wa = f32x4.splat(a);
  const wb = f32x4.splat(b);
  const limit = f32x4.splat(threshold);
  let x = 0;
  for (; x + 16 <= width; x += 16) {
    const u = upper + (x << 2);
    const l = lower + (x << 2);
    v128.store(
      to + x,
      bytesOf(
        above(u, l, wa, wb, limit),
        above(u + 16, l + 16, wa, wb, limit),
        above(u + 32, l + 32, wa, wb, limit),
        above(u + 48, l + 48, wa, wb, limit),
      ),
    );
  }
  for (; x + 4 <= width; x += 4) {
    const lanes = above(upper + (x << 2), lower + (x << 2), wa, wb, limit);
    v128.store32_lane(to + x, bytesOf(lanes, lanes, lanes, lanes), 0);
  }
  return x;
}

/** Compares a row with the threshold. Returns the count of pixels done; the caller does the rest. */
export function greater4(row: usize, threshold: f32, to: usize, width: i32): i32 {
  const limit = f32x4.splat(threshold);
  let x = 0;
  for (; x + 16 <= width; x += 16) {
    const at = row + (x << 2);
    v128.store(
      to + x,
      bytesOf(
        f32x4.gt(v128.load(at), limit),
        f32x4.gt(v128.load(at, 16), limit),
        f32x4.gt(v128.load(at, 32), limit),
        f32x4.gt(v128.load(at, 48), limit),
      ),
    );
  }
  for (; x + 4 <= width; x += 4) {
    const lanes = f32x4.gt(v128.load(row + (x << 2)), limit);
    v128.store32_lane(to + x, bytesOf(lanes, lanes, lanes, lanes), 0);
  }
  return x;
}
