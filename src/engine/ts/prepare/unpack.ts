/** Converts images that are not RGBA or BGRA to pixels of four bytes. Twin of `assembly/prepare/unpack.ts`. */
import * as A from "../../../core/prepare-abi.ts";
import type { PixelMemory } from "./memory.ts";
import { clampByte } from "./pixel.ts";

/** Unpacks the rows of the strip. */
export function unpack(m: PixelMemory, job: number): void {
  const { i32 } = m;
  const at = job >> 2;
  const format = i32[at + A.J_FORMAT];
  if (format === A.FORMAT_PIXELS) return;
  const rows = i32[at + A.J_ROWS];
  for (let row = 0; row < rows; row++) {
    const from = i32[at + A.J_SOURCE] + row * i32[at + A.J_SOURCE_STRIDE];
    const to = (i32[at + A.J_PIXELS] + row * i32[at + A.J_PIXEL_STRIDE]) >> 2;
    const chroma = ((row + i32[at + A.J_ODD]) >> 1) * i32[at + A.J_CHROMA_STRIDE];
    const columns = i32[at + A.J_COLUMNS];
    if (format === A.FORMAT_THREE) unpackThree(m, from, to, columns);
    else if (format === A.FORMAT_GRAY) unpackGray(m, from, to, columns);
    else if (format === A.FORMAT_YUYV) unpackYuyv(m, from, to, columns);
    else unpackPlanes(m, job, from, to, chroma);
  }
}

function unpackThree({ u8, i32 }: PixelMemory, from: number, to: number, columns: number): void {
  for (let x = 0, at = from; x < columns; x++, at += 3)
    i32[to + x] = u8[at] | (u8[at + 1] << 8) | (u8[at + 2] << 16);
}

function unpackGray({ u8, i32 }: PixelMemory, from: number, to: number, columns: number): void {
  for (let x = 0; x < columns; x++) i32[to + x] = u8[from + x] * 0x10101;
}

/** Unpacks a row of YUYV: two pixels are Y0 U Y1 V. */
function unpackYuyv({ u8, i32 }: PixelMemory, from: number, to: number, columns: number): void {
  for (let x = 0; x < columns; x++) {
    const pair = from + ((x >> 1) << 2);
    i32[to + x] = fromYuv(u8[from + (x << 1)], u8[pair + 1], u8[pair + 3]);
  }
}

/** Unpacks a row with chroma in planes: one plane of U and V in alternation (NV12), or one plane for each (I420). */
function unpackPlanes(m: PixelMemory, job: number, from: number, to: number, chroma: number): void {
  const { u8, i32 } = m;
  const at = job >> 2;
  const columns = i32[at + A.J_COLUMNS];
  const isTogether = i32[at + A.J_FORMAT] === A.FORMAT_NV12;
  const u = i32[at + A.J_U] + chroma;
  const v = isTogether ? u + 1 : i32[at + A.J_V] + chroma;
  for (let x = 0; x < columns; x++) {
    const place = isTogether ? x & -2 : x >> 1;
    i32[to + x] = fromYuv(u8[from + x], u8[u + place], u8[v + place]);
  }
}

/** Returns the pixel of a luma and two chroma bytes. */
function fromYuv(y: number, u: number, v: number): number {
  const half = 1 << (A.YUV_BITS - 1);
  const luma = (y > 16 ? y - 16 : 0) * A.YUV_Y + half;
  const r = clampByte((luma + A.YUV_RV * (v - 128)) >> A.YUV_BITS);
  const g = clampByte((luma + A.YUV_GV * (v - 128) + A.YUV_GU * (u - 128)) >> A.YUV_BITS);
  const b = clampByte((luma + A.YUV_BU * (u - 128)) >> A.YUV_BITS);
  return r | (g << 8) | (b << 16);
}
