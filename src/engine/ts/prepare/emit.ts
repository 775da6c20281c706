/** Converts pixels to tensor elements by one table per channel. Twin of `assembly/prepare/emit.ts`. */
import * as A from "../../../core/prepare-abi.ts";
import type { PixelMemory } from "./memory.ts";

/** Writes the rows of a job into the tensor. */
export function emit(m: PixelMemory, job: number): void {
  const { i32 } = m;
  const at = job >> 2;
  const width = i32[at + A.J_WIDTH];
  const log = i32[at + A.J_TYPE];
  const isTogether = i32[at + A.J_OUT_PLANE] === 0;
  const step = isTogether ? 3 : 1;
  const rows = i32[at + A.J_LAST] - i32[at + A.J_FIRST];
  for (let row = 0; row < rows; row++) {
    const from = (i32[at + A.J_RESAMPLED] >> 2) + row * width;
    for (let channel = 0; channel < 3; channel++) {
      const plane = isTogether ? channel << log : channel * i32[at + A.J_OUT_PLANE];
      const to = i32[at + A.J_OUT] + row * i32[at + A.J_OUT_ROW] + plane;
      const values = i32[at + A.J_VALUES] + (channel << (8 + log));
      const shift = i32[at + A.J_SHIFT_0 + channel];
      if (log === A.ELEMENT_F32) emitWords(m, from, width, shift, values >> 2, to >> 2, step);
      else if (log === A.ELEMENT_HALF) emitHalves(m, from, width, shift, values >> 1, to >> 1, step);
      else emitBytes(m, from, width, shift, values, to, step);
    }
  }
}

function emitWords(
  { i32 }: PixelMemory,
  from: number,
  width: number,
  shift: number,
  values: number,
  to: number,
  step: number,
): void {
  for (let x = 0, out = to; x < width; x++, out += step)
    i32[out] = i32[values + ((i32[from + x] >> shift) & 255)];
}

function emitHalves(
  { i16, i32 }: PixelMemory,
  from: number,
  width: number,
  shift: number,
  values: number,
  to: number,
  step: number,
): void {
  for (let x = 0, out = to; x < width; x++, out += step)
    i16[out] = i16[values + ((i32[from + x] >> shift) & 255)];
}

function emitBytes(
  { u8, i32 }: PixelMemory,
  from: number,
  width: number,
  shift: number,
  values: number,
  to: number,
  step: number,
): void {
  for (let x = 0, out = to; x < width; x++, out += step)
    u8[out] = u8[values + ((i32[from + x] >> shift) & 255)];
}
