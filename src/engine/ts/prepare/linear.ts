/**
 * Resamples bilinearly with the integers of `cv2.resize`. Columns have weights of 11 bits and results of 15 bits; rows
 * have weights of 11 bits. Twin of `assembly/prepare/linear.ts`.
 */
import * as A from "../../../core/prepare-abi.ts";
import type { PixelMemory } from "./memory.ts";

/** Resamples the rows of a job. Scratch holds the last two source rows after their columns are resampled. */
export function linearRows(m: PixelMemory, job: number): void {
  const { i32 } = m;
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const first = i32[at + A.J_SCRATCH];
  const second = first + (width << 3);
  let to = i32[at + A.J_RESAMPLED];
  let heldEven = -1;
  let heldOdd = -1;
  let table = (i32[at + A.J_YTAB] >> 2) + 3 * i32[at + A.J_FIRST];
  for (let y = i32[at + A.J_FIRST]; y < i32[at + A.J_LAST]; y++, table += 3, to += width << 2) {
    const upper = i32[table];
    const lower = i32[table + 1];
    // Use the first row of scratch for even rows and the second for odd rows, so that neighbours never share one.
    for (let k = 0; k < 2; k++) {
      const row = i32[table + k];
      if ((row & 1) === 0 && row !== heldEven) linearColumns(m, job, (heldEven = row), first);
      if ((row & 1) === 1 && row !== heldOdd) linearColumns(m, job, (heldOdd = row), second);
    }
    blendRows(m, upper & 1 ? second : first, lower & 1 ? second : first, i32[table + 2], to, width);
  }
}

/** Resamples the columns of a source row: per pixel three values of 15 bits and one that is ignored. */
function linearColumns({ i32, i16 }: PixelMemory, job: number, row: number, to: number): void {
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const from = (i32[at + A.J_PIXELS] + (row - i32[at + A.J_ORIGIN]) * i32[at + A.J_PIXEL_STRIDE]) >> 2;
  for (let x = 0, table = i32[at + A.J_XTAB] >> 2, out = to >> 1; x < width; x++, table += 2, out += 4) {
    const place = from + (i32[table] >> 2);
    const weights = i32[table + 1];
    const a = weights & 0xffff;
    const b = weights >> 16;
    const p = i32[place];
    const q = i32[place + 1];
    i16[out] = ((p & 255) * a + (q & 255) * b) >> 4;
    i16[out + 1] = (((p >> 8) & 255) * a + ((q >> 8) & 255) * b) >> 4;
    i16[out + 2] = (((p >> 16) & 255) * a + ((q >> 16) & 255) * b) >> 4;
  }
}

/** Blends two rows of 15 bits into pixels. */
function blendRows(
  { i16, i32 }: PixelMemory,
  upper: number,
  lower: number,
  weights: number,
  to: number,
  width: number,
): void {
  const a = weights & 0xffff;
  const b = weights >> 16;
  for (let x = 0, p = upper >> 1, q = lower >> 1, out = to >> 2; x < width; x++, p += 4, q += 4)
    i32[out + x] =
      blend(i16[p], i16[q], a, b) |
      (blend(i16[p + 1], i16[q + 1], a, b) << 8) |
      (blend(i16[p + 2], i16[q + 2], a, b) << 16);
}

function blend(p: number, q: number, a: number, b: number): number {
  return (((p * a) >> 16) + ((q * b) >> 16) + 2) >> 2;
}
