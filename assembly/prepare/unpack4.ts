/** Makes pixels of other formats, four at a time. Each function returns how many pixels of the row it made. */
import { YUV_BITS, YUV_BU, YUV_GU, YUV_GV, YUV_RV, YUV_Y } from "../../src/core/prepare-abi";

/** Reads four bytes further than its pixels. */
// @ts-ignore: decorator
@inline
export function unpackThree4(from: usize, to: usize, columns: i32): i32 {
  const order = i8x16(0, 1, 2, -128, 3, 4, 5, -128, 6, 7, 8, -128, 9, 10, 11, -128);
  let x = 0;
  for (; x + 4 <= columns; x += 4) v128.store(to + (x << 2), i8x16.swizzle(v128.load(from + x * 3), order));
  return x;
}

// @ts-ignore: decorator
@inline
export function unpackGray4(from: usize, to: usize, columns: i32): i32 {
  const order = i8x16(0, 0, 0, -128, 1, 1, 1, -128, 2, 2, 2, -128, 3, 3, 3, -128);
  let x = 0;
  for (; x + 4 <= columns; x += 4)
    v128.store(to + (x << 2), i8x16.swizzle(v128.load32_zero(from + x), order));
  return x;
}

// @ts-ignore: decorator
@inline
export function unpackYuyv4(from: usize, to: usize, columns: i32): i32 {
  const ys = i8x16(0, -128, -128, -128, 2, -128, -128, -128, 4, -128, -128, -128, 6, -128, -128, -128);
  const us = i8x16(1, -128, -128, -128, 1, -128, -128, -128, 5, -128, -128, -128, 5, -128, -128, -128);
  const vs = i8x16(3, -128, -128, -128, 3, -128, -128, -128, 7, -128, -128, -128, 7, -128, -128, -128);
  let x = 0;
  for (; x + 4 <= columns; x += 4) {
    const pairs = v128.load64_zero(from + (x << 1));
    const y = i8x16.swizzle(pairs, ys);
    v128.store(to + (x << 2), fromYuv4(y, i8x16.swizzle(pairs, us), i8x16.swizzle(pairs, vs)));
  }
  return x;
}

// @ts-ignore: decorator
@inline
export function unpackPlanes4(
  from: usize,
  to: usize,
  u: usize,
  v: usize,
  isTogether: bool,
  columns: i32,
): i32 {
  const ys = i8x16(0, -128, -128, -128, 1, -128, -128, -128, 2, -128, -128, -128, 3, -128, -128, -128);
  const pair = i8x16(0, -128, -128, -128, 0, -128, -128, -128, 1, -128, -128, -128, 1, -128, -128, -128);
  const even = i8x16(0, -128, -128, -128, 0, -128, -128, -128, 2, -128, -128, -128, 2, -128, -128, -128);
  const order = isTogether ? even : pair;
  let x = 0;
  for (; x + 4 <= columns; x += 4) {
    const place = isTogether ? x : x >> 1;
    const y = i8x16.swizzle(v128.load32_zero(from + x), ys);
    const us = i8x16.swizzle(v128.load32_zero(u + place), order);
    const vs = i8x16.swizzle(v128.load32_zero(v + place), order);
    v128.store(to + (x << 2), fromYuv4(y, us, vs));
  }
  return x;
}

/** Returns four pixels. */
// @ts-ignore: decorator
@inline
function fromYuv4(y: v128, u: v128, v: v128): v128 {
  const middle = i32x4.splat(128);
  const du = i32x4.sub(u, middle);
  const dv = i32x4.sub(v, middle);
  const above = i32x4.max_s(i32x4.sub(y, i32x4.splat(16)), i32x4.splat(0));
  const luma = i32x4.add(i32x4.mul(above, i32x4.splat(YUV_Y)), i32x4.splat(1 << (YUV_BITS - 1)));
  const green = i32x4.add(i32x4.mul(dv, i32x4.splat(YUV_GV)), i32x4.mul(du, i32x4.splat(YUV_GU)));
  const r = clampLanes(i32x4.add(luma, i32x4.mul(dv, i32x4.splat(YUV_RV))));
  const g = clampLanes(i32x4.add(luma, green));
  const b = clampLanes(i32x4.add(luma, i32x4.mul(du, i32x4.splat(YUV_BU))));
  return v128.or(v128.or(r, i32x4.shl(g, 8)), i32x4.shl(b, 16));
}

// @ts-ignore: decorator
@inline
function clampLanes(x: v128): v128 {
  return i32x4.min_s(i32x4.max_s(i32x4.shr_s(x, YUV_BITS), i32x4.splat(0)), i32x4.splat(255));
}
