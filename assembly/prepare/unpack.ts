/** Converts images that are not RGBA or BGRA to pixels of four bytes. */
import {
  FORMAT_GRAY,
  FORMAT_NV12,
  FORMAT_PIXELS,
  FORMAT_THREE,
  FORMAT_YUYV,
  J_CHROMA_STRIDE,
  J_COLUMNS,
  J_FORMAT,
  J_ODD,
  J_PIXELS,
  J_PIXEL_STRIDE,
  J_ROWS,
  J_SOURCE,
  J_SOURCE_STRIDE,
  J_U,
  J_V,
  YUV_BITS,
  YUV_BU,
  YUV_GU,
  YUV_GV,
  YUV_RV,
  YUV_Y,
} from "../../src/core/prepare-abi";
import { int, ptr } from "../word";
import { clampByte } from "./pixel";
import { hiddenZero } from "./pixel4";
import { unpackGray4, unpackPlanes4, unpackThree4, unpackYuyv4 } from "./unpack4";

/** Unpacks the rows of the strip. */
export function unpack(job: usize): void {
  const format = int(job, J_FORMAT);
  if (format == FORMAT_PIXELS) return;
  const rows = int(job, J_ROWS);
  for (let row = 0; row < rows; row++) {
    const from = ptr(job, J_SOURCE) + <usize>row * ptr(job, J_SOURCE_STRIDE);
    const to = ptr(job, J_PIXELS) + <usize>row * ptr(job, J_PIXEL_STRIDE);
    const chroma = <usize>((row + int(job, J_ODD)) >> 1) * ptr(job, J_CHROMA_STRIDE);
    const columns = int(job, J_COLUMNS);
    if (format == FORMAT_THREE) unpackThree(from, to, columns);
    else if (format == FORMAT_GRAY) unpackGray(from, to, columns);
    else if (format == FORMAT_YUYV) unpackYuyv(from, to, columns);
    else unpackPlanes(job, from, to, chroma);
  }
}

function unpackThree(from: usize, to: usize, columns: i32): void {
  let x = ASC_FEATURE_SIMD ? unpackThree4(from, to, columns) : 0;
  for (let at = from + x * 3; x < columns; x++, at += 3)
    store<u32>(to + (x << 2), load<u16>(at) | (load<u8>(at + 2) << 16));
}

function unpackGray(from: usize, to: usize, columns: i32): void {
  let x = ASC_FEATURE_SIMD ? unpackGray4(from, to, columns) : 0;
  for (; x < columns; x++) store<u32>(to + (x << 2), <u32>load<u8>(from + x) * 0x10101);
}

/** Unpacks a row of YUYV: two pixels are Y0 U Y1 V. */
function unpackYuyv(from: usize, to: usize, columns: i32): void {
  let x = ASC_FEATURE_SIMD ? unpackYuyv4(from, to, columns) : 0;
  for (; x < columns; x++) {
    const pair = from + ((x >> 1) << 2);
    store<u32>(to + (x << 2), fromYuv(load<u8>(from + (x << 1)), load<u8>(pair + 1), load<u8>(pair + 3)));
  }
}

/** Unpacks a row whose chroma stands in planes: one with U and V in turn (NV12), or one for each (I420). */
function unpackPlanes(job: usize, from: usize, to: usize, chroma: usize): void {
  const columns = int(job, J_COLUMNS);
  const isTogether = int(job, J_FORMAT) == FORMAT_NV12;
  const u = ptr(job, J_U) + chroma;
  const v = isTogether ? u + 1 : ptr(job, J_V) + chroma;
  let x = ASC_FEATURE_SIMD ? unpackPlanes4(from, to, u, v, isTogether, columns, hiddenZero(job)) : 0;
  for (; x < columns; x++) {
    const place = isTogether ? x & -2 : x >> 1;
    store<u32>(to + (x << 2), fromYuv(load<u8>(from + x), load<u8>(u + place), load<u8>(v + place)));
  }
}

/** Returns the pixel of a luma and two chroma bytes. */
function fromYuv(y: i32, u: i32, v: i32): i32 {
  const half = 1 << (YUV_BITS - 1);
  const luma = (y > 16 ? y - 16 : 0) * YUV_Y + half;
  const r = clampByte((luma + YUV_RV * (v - 128)) >> YUV_BITS);
  const g = clampByte((luma + YUV_GV * (v - 128) + YUV_GU * (u - 128)) >> YUV_BITS);
  const b = clampByte((luma + YUV_BU * (u - 128)) >> YUV_BITS);
  return r | (g << 8) | (b << 16);
}
