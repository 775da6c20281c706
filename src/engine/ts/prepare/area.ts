/** Resamples by area in f32, with additions in the order of `cv2.resize`. Twin of `assembly/prepare/area.ts`. */
import * as A from "../../../core/prepare-abi.ts";
import type { PixelMemory } from "./memory.ts";
import { roundPixel } from "./pixel.ts";

const fround = Math.fround;

/** Resamples the rows of a job. Scratch: a row with resampled columns, a sum of such rows; four f32 per pixel. */
export function areaRows(m: PixelMemory, job: number): void {
  const { i32, f32 } = m;
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const line = i32[at + A.J_SCRATCH] >> 2;
  const sum = line + (width << 2);
  const taps = i32[at + A.J_YTAPS];
  let to = i32[at + A.J_RESAMPLED] >> 2;
  let held = -1;
  for (let y = i32[at + A.J_FIRST]; y < i32[at + A.J_LAST]; y++, to += width) {
    const table = (i32[at + A.J_YTAB] >> 2) + 2 * y;
    const start = i32[table];
    const weights = (i32[at + A.J_YWEIGHTS] >> 2) + y * taps;
    f32.fill(0, sum, sum + (width << 2));
    for (let k = 0; k < i32[table + 1]; k++) {
      if (held !== start + k) areaColumns(m, job, start + k, line);
      held = start + k;
      addRow(m, line, sum, f32[weights + k], width);
    }
    for (let x = 0, p = sum; x < width; x++, p += 4) i32[to + x] = roundPixel(f32[p], f32[p + 1], f32[p + 2]);
  }
}

/** Resamples the columns of a source row. */
function areaColumns({ u8, i32, f32 }: PixelMemory, job: number, row: number, to: number): void {
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const taps = i32[at + A.J_XTAPS];
  const from = i32[at + A.J_PIXELS] + (row - i32[at + A.J_ORIGIN]) * i32[at + A.J_PIXEL_STRIDE];
  let weights = i32[at + A.J_XWEIGHTS] >> 2;
  for (let x = 0, table = i32[at + A.J_XTAB] >> 2, out = to; x < width; x++, table += 2, out += 4) {
    let r = 0;
    let g = 0;
    let b = 0;
    for (let k = 0, p = from + i32[table]; k < i32[table + 1]; k++, p += 4) {
      const weight = f32[weights + k];
      r = fround(r + fround(u8[p] * weight));
      g = fround(g + fround(u8[p + 1] * weight));
      b = fround(b + fround(u8[p + 2] * weight));
    }
    f32[out] = r;
    f32[out + 1] = g;
    f32[out + 2] = b;
    weights += taps;
  }
}

function addRow({ f32 }: PixelMemory, line: number, sum: number, weight: number, width: number): void {
  for (let i = 0; i < width << 2; i++) f32[sum + i] = fround(f32[sum + i] + fround(f32[line + i] * weight));
}
