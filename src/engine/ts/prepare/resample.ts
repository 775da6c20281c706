/** Makes the pixels of the tensor's rows. Twin of `assembly/prepare/resample.ts`. */
import * as A from "../../../core/prepare-abi.ts";
import { areaRows } from "./area.ts";
import { linearRows } from "./linear.ts";
import type { PixelMemory } from "./memory.ts";
import { roundPixel } from "./pixel.ts";
import { tapRows } from "./taps.ts";

const fround = Math.fround;

/** Resamples the rows of a job. */
export function resample(m: PixelMemory, job: number): void {
  const kind = m.i32[(job >> 2) + A.J_KIND];
  if (kind === A.KIND_LINEAR) linearRows(m, job);
  else if (kind === A.KIND_AREA) areaRows(m, job);
  else if (kind === A.KIND_TAPS) tapRows(m, job);
  else blockRows(m, job);
}

/** Resamples by copying, if each pixel is one source pixel, or by the mean of a block of source pixels. */
function blockRows(m: PixelMemory, job: number): void {
  const { i32 } = m;
  const at = job >> 2;
  const kind = i32[at + A.J_KIND];
  const stride = i32[at + A.J_PIXEL_STRIDE];
  const width = i32[at + A.J_WIDTH];
  let to = i32[at + A.J_RESAMPLED] >> 2;
  for (let y = i32[at + A.J_FIRST]; y < i32[at + A.J_LAST]; y++, to += width) {
    const row = i32[(i32[at + A.J_YTAB] >> 2) + y] - i32[at + A.J_ORIGIN];
    const from = i32[at + A.J_PIXELS] + row * stride;
    if (kind === A.KIND_NEAREST) nearestRow(m, job, from, to);
    else if (kind === A.KIND_HALF) halfRow(m, job, from, to);
    else blockRow(m, job, from, to);
  }
}

function nearestRow({ i32 }: PixelMemory, job: number, from: number, to: number): void {
  const columns = i32[(job >> 2) + A.J_XTAB] >> 2;
  const width = i32[(job >> 2) + A.J_WIDTH];
  for (let x = 0; x < width; x++) i32[to + x] = i32[(from + i32[columns + x]) >> 2];
}

function halfRow({ i32 }: PixelMemory, job: number, from: number, to: number): void {
  const width = i32[(job >> 2) + A.J_WIDTH];
  const stride = i32[(job >> 2) + A.J_PIXEL_STRIDE] >> 2;
  const start = (from + i32[i32[(job >> 2) + A.J_XTAB] >> 2]) >> 2;
  for (let x = 0, p = start; x < width; x++, p += 2) {
    const a = i32[p];
    const b = i32[p + 1];
    const c = i32[p + stride];
    const d = i32[p + stride + 1];
    // Add red and blue in one word: the bits between them hold the carries.
    const even = (a & 0xff00ff) + (b & 0xff00ff) + (c & 0xff00ff) + (d & 0xff00ff) + 0x20002;
    const odd = ((a >> 8) & 0xff) + ((b >> 8) & 0xff) + ((c >> 8) & 0xff) + ((d >> 8) & 0xff) + 2;
    i32[to + x] = ((even >> 2) & 0xff00ff) | ((odd << 6) & 0xff00);
  }
}

function blockRow(m: PixelMemory, job: number, from: number, to: number): void {
  const { u8, i32, f32 } = m;
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const stride = i32[at + A.J_PIXEL_STRIDE];
  const columns = i32[at + A.J_BLOCK_X] << 2;
  const rows = i32[at + A.J_BLOCK_Y];
  const scale = f32[at + A.J_BLOCK_SCALE];
  const xtab = i32[at + A.J_XTAB] >> 2;
  for (let x = 0; x < width; x++) {
    let r = 0;
    let g = 0;
    let b = 0;
    for (let row = 0, start = from + i32[xtab + x]; row < rows; row++, start += stride)
      for (let p = start; p < start + columns; p += 4) {
        r += u8[p];
        g += u8[p + 1];
        b += u8[p + 2];
      }
    i32[to + x] = roundPixel(fround(fround(r) * scale), fround(fround(g) * scale), fround(fround(b) * scale));
  }
}
