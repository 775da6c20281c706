/** Does the work of unpack.ts with vectors. Exported functions return how many pixels of the row they made. */
import { YUV_BITS, YUV_BU, YUV_GU, YUV_GV, YUV_RV, YUV_Y } from "../../src/core/prepare-abi";

/** Unpacks pixels of three bytes. Reads four bytes beyond them. */
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
  zero: i32,
): i32 {
  const ys = i8x16(0, -128, -128, -128, 1, -128, -128, -128, 2, -128, -128, -128, 3, -128, -128, -128);
  const pair = i8x16(0, -128, -128, -128, 0, -128, -128, -128, 1, -128, -128, -128, 1, -128, -128, -128);
  const even = i8x16(0, -128, -128, -128, 0, -128, -128, -128, 2, -128, -128, -128, 2, -128, -128, -128);
  const order = isTogether ? even : pair;
  const low = i16x8.splat(<i16>(255 + zero));
  const middle = i16x8.splat(<i16>(128 + zero));
  const black = i8x16.splat(<i8>(16 + zero));
  const half = i32x4.splat((1 << (YUV_BITS - 1)) + zero);
  const ofY = i32x4.splat(YUV_Y + zero);
  const redOfV = i32x4.splat(YUV_RV + zero);
  const greenOfV = i32x4.splat(YUV_GV + zero);
  const greenOfU = i32x4.splat(YUV_GU + zero);
  const blueOfU = i32x4.splat(YUV_BU + zero);
  let x = 0;
  for (; x + 16 <= columns; x += 16) {
    const place = isTogether ? x : x >> 1;
    const du = chromaOf(u + place, isTogether, low, middle);
    const dv = chromaOf(v + place, isTogether, low, middle);
    const above = i8x16.sub_sat_u(v128.load(from + x), black);
    sixteenPixels(above, du, dv, to + (x << 2), half, ofY, redOfV, greenOfV, greenOfU, blueOfU);
  }
  for (; x + 4 <= columns; x += 4) {
    const place = isTogether ? x : x >> 1;
    const y = i8x16.swizzle(v128.load32_zero(from + x), ys);
    const us = i8x16.swizzle(v128.load32_zero(u + place), order);
    const vs = i8x16.swizzle(v128.load32_zero(v + place), order);
    v128.store(to + (x << 2), fromYuv4(y, us, vs));
  }
  return x;
}

/**
 * Returns eight chroma values in i16, minus 128. `isTogether`: u and v alternate (NV12), so only every second byte
 * counts. `low` and `middle` hold 255 and 128 in each lane.
 */
// @ts-ignore: decorator
@inline
export function chromaOf(from: usize, isTogether: bool, low: v128, middle: v128): v128 {
  const words = isTogether
    ? v128.and(v128.load(from), low)
    : i16x8.extend_low_i8x16_u(v128.load64_zero(from));
  return i16x8.sub(words, middle);
}

/**
 * Writes sixteen pixels from sixteen lumas minus 16 and eight values of each chroma. Two pixels share each chroma
 * product. `half`, added to the luma in fixed point, makes the later shift round.
 */
// @ts-ignore: decorator
@inline
function sixteenPixels(
  above: v128,
  du: v128,
  dv: v128,
  to: usize,
  half: v128,
  ofY: v128,
  redOfV: v128,
  greenOfV: v128,
  greenOfU: v128,
  blueOfU: v128,
): void {
  const left = i16x8.extend_low_i8x16_u(above);
  const right = i16x8.extend_high_i8x16_u(above);
  const luma0 = i32x4.add(i32x4.mul(i32x4.extend_low_i16x8_u(left), ofY), half);
  const luma1 = i32x4.add(i32x4.mul(i32x4.extend_high_i16x8_u(left), ofY), half);
  const luma2 = i32x4.add(i32x4.mul(i32x4.extend_low_i16x8_u(right), ofY), half);
  const luma3 = i32x4.add(i32x4.mul(i32x4.extend_high_i16x8_u(right), ofY), half);
  const u0 = i32x4.extend_low_i16x8_s(du);
  const u1 = i32x4.extend_high_i16x8_s(du);
  const v0 = i32x4.extend_low_i16x8_s(dv);
  const v1 = i32x4.extend_high_i16x8_s(dv);
  const green0 = i32x4.add(i32x4.mul(v0, greenOfV), i32x4.mul(u0, greenOfU));
  const green1 = i32x4.add(i32x4.mul(v1, greenOfV), i32x4.mul(u1, greenOfU));
  const r = channelOf(luma0, luma1, luma2, luma3, i32x4.mul(v0, redOfV), i32x4.mul(v1, redOfV));
  const g = channelOf(luma0, luma1, luma2, luma3, green0, green1);
  const b = channelOf(luma0, luma1, luma2, luma3, i32x4.mul(u0, blueOfU), i32x4.mul(u1, blueOfU));
  const rg0 = v128.shuffle<i8>(r, g, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const rg1 = v128.shuffle<i8>(r, g, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const b0 = i16x8.extend_low_i8x16_u(b);
  const b1 = i16x8.extend_high_i8x16_u(b);
  v128.store(to, v128.shuffle<i16>(rg0, b0, 0, 8, 1, 9, 2, 10, 3, 11));
  v128.store(to, v128.shuffle<i16>(rg0, b0, 4, 12, 5, 13, 6, 14, 7, 15), 16);
  v128.store(to, v128.shuffle<i16>(rg1, b1, 0, 8, 1, 9, 2, 10, 3, 11), 32);
  v128.store(to, v128.shuffle<i16>(rg1, b1, 4, 12, 5, 13, 6, 14, 7, 15), 48);
}

/** Returns one channel of sixteen pixels. Each chroma value serves two neighbours. Narrowing clamps to 0..255. */
// @ts-ignore: decorator
@inline
function channelOf(luma0: v128, luma1: v128, luma2: v128, luma3: v128, chroma0: v128, chroma1: v128): v128 {
  const a = i32x4.shr_s(i32x4.add(luma0, v128.shuffle<i32>(chroma0, chroma0, 0, 0, 1, 1)), YUV_BITS);
  const b = i32x4.shr_s(i32x4.add(luma1, v128.shuffle<i32>(chroma0, chroma0, 2, 2, 3, 3)), YUV_BITS);
  const c = i32x4.shr_s(i32x4.add(luma2, v128.shuffle<i32>(chroma1, chroma1, 0, 0, 1, 1)), YUV_BITS);
  const d = i32x4.shr_s(i32x4.add(luma3, v128.shuffle<i32>(chroma1, chroma1, 2, 2, 3, 3)), YUV_BITS);
  return i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
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
