/**
 * Computes means of 2 x 2 pixels straight from planes of luma and chroma (NV12, I420). The four pixels share their
 * chroma, and the pixels of the source are never stored. The results equal those of `unpack` and `halfRow`.
 *
 * A factor with 20 fractional bits needs more than 16 bits. So it is split into high * 2^7 + low, and a value x into
 * the pair (x * 2^7, x), so that one `dot` gives four whole products.
 */
import {
  ELEMENT_F32,
  FORMAT_I420,
  FORMAT_NV12,
  J_CHROMA_STRIDE,
  J_DIVISOR_0,
  J_FIRST,
  J_FORMAT,
  J_KIND,
  J_LAST,
  J_MEAN_0,
  J_MULTIPLIES,
  J_ORIGIN,
  J_OUT,
  J_OUT_PLANE,
  J_OUT_ROW,
  J_RESAMPLED,
  J_SHIFT_0,
  J_SOURCE,
  J_SOURCE_STRIDE,
  J_TYPE,
  J_U,
  J_V,
  J_WIDTH,
  J_XTAB,
  J_YTAB,
  KIND_HALF,
  YUV_BITS,
  YUV_BU,
  YUV_GU,
  YUV_GV,
  YUV_RV,
  YUV_Y,
} from "../../src/core/prepare-abi";
import { int, ptr } from "../word";
import { emit } from "./emit";
import { valuesOf } from "./emit4";
import { hiddenZero } from "./pixel4";
import { chromaOf } from "./unpack4";

/** Makes the rows of the tensor. Returns false, and makes none, for formats, kinds and widths that it cannot handle. */
export function halvePlanes4(job: usize): bool {
  const format = int(job, J_FORMAT);
  const isTogether = format == FORMAT_NV12;
  const width = int(job, J_WIDTH);
  const isPlanar = isTogether || format == FORMAT_I420;
  if (!isPlanar || int(job, J_KIND) != KIND_HALF || (width & 7) != 0) return false;
  const stride = ptr(job, J_SOURCE_STRIDE);
  const last = int(job, J_LAST);
  // Blocks begin at even columns and rows, as chroma does.
  const column = int(ptr(job, J_XTAB), 0) >> 2;
  const u = ptr(job, J_U) + (isTogether ? column : column >> 1);
  const v = isTogether ? u + 1 : ptr(job, J_V) + (column >> 1);
  // Write planes of f32, the usual tensor, directly. For other tensors, write pixels, which `emit` converts.
  const isFloat = int(job, J_TYPE) == ELEMENT_F32 && ptr(job, J_OUT_PLANE) != 0;
  let to = isFloat ? ptr(job, J_OUT) : ptr(job, J_RESAMPLED);
  const toNext = isFloat ? ptr(job, J_OUT_ROW) : <usize>(width << 2);
  for (let y = int(job, J_FIRST); y < last; y++, to += toNext) {
    const row = int(ptr(job, J_YTAB), y) - int(job, J_ORIGIN);
    const luma = ptr(job, J_SOURCE) + <usize>row * stride + column;
    const chroma = <usize>(row >> 1) * ptr(job, J_CHROMA_STRIDE);
    halveRow(job, luma, u + chroma, v + chroma, isTogether, isFloat, to);
  }
  if (!isFloat) emit(job);
  return true;
}

/** Makes the elements or the pixels of a row, eight at a time. */
function halveRow(
  job: usize,
  luma: usize,
  u: usize,
  v: usize,
  isTogether: bool,
  isFloat: bool,
  to: usize,
): void {
  const zero = hiddenZero(job);
  const width = int(job, J_WIDTH);
  const stride = ptr(job, J_SOURCE_STRIDE);
  const half = i32x4.splat((1 << (YUV_BITS - 1)) + zero);
  const two = i16x8.splat(<i16>(2 + zero));
  const black = i8x16.splat(<i8>(16 + zero));
  const low = i16x8.splat(<i16>(255 + zero));
  const middle = i16x8.splat(<i16>(128 + zero));
  const ofY = i32x4.splat(splitFactor(YUV_Y) + zero);
  const redOfV = i32x4.splat(splitFactor(YUV_RV) + zero);
  const greenOfV = i32x4.splat(splitFactor(YUV_GV) + zero);
  const greenOfU = i32x4.splat(splitFactor(YUV_GU) + zero);
  const blueOfU = i32x4.splat(splitFactor(YUV_BU) + zero);
  const multiplies = int(job, J_MULTIPLIES) != 0;
  const plane = ptr(job, J_OUT_PLANE);
  // The tensor's channels for red and blue.
  const red = int(job, J_SHIFT_0) >> 3;
  const blue = 2 - red;
  for (let x = 0; x < width; x += 8) {
    const place = isTogether ? x << 1 : x;
    const du = chromaOf(u + place, isTogether, low, middle);
    const dv = chromaOf(v + place, isTogether, low, middle);
    const u0 = lowPairs(du);
    const u1 = highPairs(du);
    const v0 = lowPairs(dv);
    const v1 = highPairs(dv);
    const r0 = i32x4.add(i32x4.dot_i16x8_s(v0, redOfV), half);
    const r1 = i32x4.add(i32x4.dot_i16x8_s(v1, redOfV), half);
    const g0 = i32x4.add(i32x4.add(i32x4.dot_i16x8_s(v0, greenOfV), i32x4.dot_i16x8_s(u0, greenOfU)), half);
    const g1 = i32x4.add(i32x4.add(i32x4.dot_i16x8_s(v1, greenOfV), i32x4.dot_i16x8_s(u1, greenOfU)), half);
    const b0 = i32x4.add(i32x4.dot_i16x8_s(u0, blueOfU), half);
    const b1 = i32x4.add(i32x4.dot_i16x8_s(u1, blueOfU), half);
    // Sums of four pixels. The 2 makes the later shift round.
    let r = two;
    let g = two;
    let b = two;
    for (let row: usize = 0; row < 2; row++) {
      const y = i8x16.sub_sat_u(v128.load(luma + row * stride + (x << 1)), black);
      const even = v128.and(y, low);
      const even0 = i32x4.dot_i16x8_s(lowPairs(even), ofY);
      const even1 = i32x4.dot_i16x8_s(highPairs(even), ofY);
      r = i16x8.add(r, channelOf(even0, even1, r0, r1));
      g = i16x8.add(g, channelOf(even0, even1, g0, g1));
      b = i16x8.add(b, channelOf(even0, even1, b0, b1));
      const odd = i16x8.shr_u(y, 8);
      const odd0 = i32x4.dot_i16x8_s(lowPairs(odd), ofY);
      const odd1 = i32x4.dot_i16x8_s(highPairs(odd), ofY);
      r = i16x8.add(r, channelOf(odd0, odd1, r0, r1));
      g = i16x8.add(g, channelOf(odd0, odd1, g0, g1));
      b = i16x8.add(b, channelOf(odd0, odd1, b0, b1));
    }
    r = i16x8.shr_u(r, 2);
    g = i16x8.shr_u(g, 2);
    b = i16x8.shr_u(b, 2);
    const out = to + (x << 2);
    if (isFloat) {
      storeFloats(job, out + red * plane, r, red, multiplies);
      storeFloats(job, out + plane, g, 1, multiplies);
      storeFloats(job, out + blue * plane, b, blue, multiplies);
    } else {
      const rg = v128.or(r, i16x8.shl(g, 8));
      v128.store(out, v128.shuffle<i16>(rg, b, 0, 8, 1, 9, 2, 10, 3, 11));
      v128.store(out, v128.shuffle<i16>(rg, b, 4, 12, 5, 13, 6, 14, 7, 15), 16);
    }
  }
}

/** Writes eight elements of a channel of the tensor. */
// @ts-ignore: decorator
@inline
function storeFloats(job: usize, to: usize, bytes: v128, channel: i32, multiplies: bool): void {
  const mean = v128.load32_splat(job + ((J_MEAN_0 + channel) << 2));
  const by = v128.load32_splat(job + ((J_DIVISOR_0 + channel) << 2));
  v128.store(to, valuesOf(i32x4.extend_low_i16x8_u(bytes), mean, by, multiplies));
  v128.store(to, valuesOf(i32x4.extend_high_i16x8_u(bytes), mean, by, multiplies), 16);
}

/** Returns the two parts of a factor, in the order of `lowPairs`. */
// @ts-ignore: decorator
@inline
function splitFactor(factor: i32): i32 {
  const high = (factor + 64) >> 7;
  return (high & 0xffff) | ((factor - (high << 7)) << 16);
}

/** Returns the pairs (x * 2^7, x) of the lower four of eight values, which have at most eight bits and a sign. */
// @ts-ignore: decorator
@inline
function lowPairs(x: v128): v128 {
  return v128.shuffle<i16>(i16x8.shl(x, 7), x, 0, 8, 1, 9, 2, 10, 3, 11);
}

/** Returns the pairs of the upper four values. */
// @ts-ignore: decorator
@inline
function highPairs(x: v128): v128 {
  return v128.shuffle<i16>(i16x8.shl(x, 7), x, 4, 12, 5, 13, 6, 14, 7, 15);
}

/**
 * Returns a channel of eight pixels, 0..255. The sums are narrowed to 16 bits with eight fractional bits, which clamps
 * them.
 */
// @ts-ignore: decorator
@inline
function channelOf(luma0: v128, luma1: v128, chroma0: v128, chroma1: v128): v128 {
  const first = i32x4.shr_s(i32x4.add(luma0, chroma0), YUV_BITS - 8);
  const second = i32x4.shr_s(i32x4.add(luma1, chroma1), YUV_BITS - 8);
  return i16x8.shr_u(i16x8.narrow_i32x4_u(first, second), 8);
}
