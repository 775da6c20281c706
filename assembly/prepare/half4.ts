/**
 * Computes means of 2 x 2 pixels straight from planes of luma and chroma (NV12, I420). The four pixels share their
 * chroma, and the pixels of the source are never stored. The results equal those of `unpack` and `halfRow`.
 *
 * Products with factors of 20 bits of fraction are split into lanes of i16: high * 2^15 + low, low in -2^14..2^14-1.
 * Channels are computed from the high parts, which have five bits of fraction: 20 - 15.
 */
import {
  FORMAT_I420,
  FORMAT_NV12,
  J_CHROMA_STRIDE,
  J_FIRST,
  J_FORMAT,
  J_KIND,
  J_LAST,
  J_ORIGIN,
  J_RESAMPLED,
  J_SOURCE,
  J_SOURCE_STRIDE,
  J_U,
  J_V,
  J_WIDTH,
  J_XTAB,
  J_YTAB,
  KIND_HALF,
  YUV_BU,
  YUV_GU,
  YUV_GV,
  YUV_RV,
  YUV_Y,
} from "../../src/core/prepare-abi";
import { int, ptr } from "../word";
import { hiddenZero } from "./pixel4";
import { chromaOf } from "./unpack4";

/** Makes the rows of a job. Returns false, and makes none, for other formats, kinds and widths. */
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
  let to = ptr(job, J_RESAMPLED);
  for (let y = int(job, J_FIRST); y < last; y++, to += width << 2) {
    const row = int(ptr(job, J_YTAB), y) - int(job, J_ORIGIN);
    const luma = ptr(job, J_SOURCE) + <usize>row * stride + column;
    const chroma = <usize>(row >> 1) * ptr(job, J_CHROMA_STRIDE);
    halveRow(luma, stride, u + chroma, v + chroma, isTogether, to, width, hiddenZero(job));
  }
  return true;
}

/** Makes the pixels of a row, eight at a time. */
function halveRow(
  luma: usize,
  stride: usize,
  u: usize,
  v: usize,
  isTogether: bool,
  to: usize,
  width: i32,
  zero: i32,
): void {
  // Half of a channel's fraction, which makes the cut round. Then the 2 that makes a sum of four pixels round.
  const half = i16x8.splat(<i16>(16 + zero));
  const two = i16x8.splat(<i16>((2 << 5) + zero));
  const black = i8x16.splat(<i8>(16 + zero));
  const low = i16x8.splat(<i16>(255 + zero));
  const middle = i16x8.splat(<i16>(128 + zero));
  const most = i16x8.splat(<i16>(8191 + zero));
  const whole = i16x8.splat(<i16>(0x1fe0 + zero));
  const lumaWhole = i16x8.splat(<i16>(wholeOf(YUV_Y) + zero));
  const lumaRest = i16x8.splat(<i16>(restOf(YUV_Y) + zero));
  const lumaTwice = i16x8.splat(<i16>(2 * restOf(YUV_Y) + zero));
  const redWhole = i16x8.splat(<i16>(wholeOf(YUV_RV) + zero));
  const redRest = i16x8.splat(<i16>(restOf(YUV_RV) + zero));
  const blueWhole = i16x8.splat(<i16>(wholeOf(YUV_BU) + zero));
  const blueRest = i16x8.splat(<i16>(restOf(YUV_BU) + zero));
  const greenVWhole = i16x8.splat(<i16>(wholeOf(YUV_GV) + zero));
  const greenVRest = i16x8.splat(<i16>(restOf(YUV_GV) + zero));
  const greenUWhole = i16x8.splat(<i16>(wholeOf(YUV_GU) + zero));
  const greenURest = i16x8.splat(<i16>(restOf(YUV_GU) + zero));
  const none = i16x8.splat(<i16>zero);
  const one = i16x8.splat(<i16>(1 + zero));
  for (let x = 0; x < width; x += 8) {
    const place = isTogether ? x << 1 : x;
    const du = chromaOf(u + place, isTogether, low, middle);
    const dv = chromaOf(v + place, isTogether, low, middle);
    const redHigh = i16x8.add(highOf(dv, redWhole, redRest), half);
    const redLow = v128.not(i16x8.shl(i16x8.mul(dv, redRest), 1));
    const blueHigh = i16x8.add(highOf(du, blueWhole, blueRest), half);
    const blueLow = v128.not(i16x8.shl(i16x8.mul(du, blueRest), 1));
    // The sum of two low parts may need 16 bits: carry the excess into the high part.
    const lows = i16x8.add(lowOf(dv, greenVRest), lowOf(du, greenURest));
    const carry = i16x8.shr_s(i16x8.add(i16x8.shr_s(lows, 14), one), 1);
    const greenHigh = i16x8.add(
      i16x8.add(highOf(dv, greenVWhole, greenVRest), highOf(du, greenUWhole, greenURest)),
      i16x8.add(carry, half),
    );
    const greenLow = v128.not(i16x8.shl(lows, 1));
    let r = two;
    let g = two;
    let b = two;
    for (let row: usize = 0; row < 2; row++) {
      const y = i8x16.sub_sat_u(v128.load(luma + row * stride + (x << 1)), black);
      const even = v128.and(y, low);
      const odd = i16x8.shr_u(y, 8);
      const evenHigh = highOf(even, lumaWhole, lumaRest);
      const evenLow = i16x8.mul(even, lumaTwice);
      const oddHigh = highOf(odd, lumaWhole, lumaRest);
      const oddLow = i16x8.mul(odd, lumaTwice);
      r = i16x8.add(r, channelOf(evenHigh, evenLow, redHigh, redLow, none, most, whole));
      g = i16x8.add(g, channelOf(evenHigh, evenLow, greenHigh, greenLow, none, most, whole));
      b = i16x8.add(b, channelOf(evenHigh, evenLow, blueHigh, blueLow, none, most, whole));
      r = i16x8.add(r, channelOf(oddHigh, oddLow, redHigh, redLow, none, most, whole));
      g = i16x8.add(g, channelOf(oddHigh, oddLow, greenHigh, greenLow, none, most, whole));
      b = i16x8.add(b, channelOf(oddHigh, oddLow, blueHigh, blueLow, none, most, whole));
    }
    const rg = v128.or(i16x8.shr_u(r, 7), i16x8.shl(i16x8.shr_u(g, 7), 8));
    const blue = i16x8.shr_u(b, 7);
    v128.store(to + (x << 2), v128.shuffle<i16>(rg, blue, 0, 8, 1, 9, 2, 10, 3, 11));
    v128.store(to + (x << 2), v128.shuffle<i16>(rg, blue, 4, 12, 5, 13, 6, 14, 7, 15), 16);
  }
}

/**
 * Returns a channel of eight pixels, 0..255 times 32: `whole` clears the fraction. `low` is twice the luma's low part,
 * and `chromaLow` the complement of twice the chroma's. Where `low` is below `chromaLow`, the sum of the low parts is
 * negative and borrows 1 from the high part.
 */
// @ts-ignore: decorator
@inline
function channelOf(
  high: v128,
  low: v128,
  chromaHigh: v128,
  chromaLow: v128,
  none: v128,
  most: v128,
  whole: v128,
): v128 {
  const sum = i16x8.add(i16x8.add(high, chromaHigh), i16x8.gt_s(chromaLow, low));
  return v128.and(i16x8.min_s(i16x8.max_s(sum, none), most), whole);
}

/** Returns the high part of a factor, rounded. */
// @ts-ignore: decorator
@inline
function wholeOf(factor: i32): i32 {
  return (factor + 16384) >> 15;
}

/** Returns the low part of a factor, which may be negative. */
// @ts-ignore: decorator
@inline
function restOf(factor: i32): i32 {
  return factor - (wholeOf(factor) << 15);
}

/** Returns the high part of the products of eight values with a factor. The values have at most eight bits. */
// @ts-ignore: decorator
@inline
function highOf(x: v128, whole: v128, rest: v128): v128 {
  return i16x8.add(i16x8.mul(x, whole), i16x8.q15mulr_sat_s(x, rest));
}

/** Returns the low part of the products. They wrap in i16, but their low 15 bits are right. The shifts extend those. */
// @ts-ignore: decorator
@inline
function lowOf(x: v128, rest: v128): v128 {
  return i16x8.shr_s(i16x8.shl(i16x8.mul(x, rest), 1), 1);
}
