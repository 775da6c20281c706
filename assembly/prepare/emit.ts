/** Turns pixels into tensor elements, with a table for each channel. */
import {
  ELEMENT_BYTE,
  ELEMENT_F32,
  ELEMENT_HALF,
  J_FIRST,
  J_FLIP,
  J_LAST,
  J_OUT,
  J_OUT_PLANE,
  J_OUT_ROW,
  J_RESAMPLED,
  J_SHIFT_0,
  J_TYPE,
  J_VALUES,
  J_WIDTH,
} from "../../src/core/prepare-abi";
import { int, ptr } from "../word";
import { emitBytes4, emitFloats4 } from "./emit4";

/** Writes the rows of a job into the tensor. */
export function emit(job: usize): void {
  const width = int(job, J_WIDTH);
  const log = int(job, J_TYPE);
  const isTogether = int(job, J_OUT_PLANE) == 0;
  const step = isTogether ? 3 : 1;
  const rows = int(job, J_LAST) - int(job, J_FIRST);
  for (let row = 0; row < rows; row++) {
    const from = ptr(job, J_RESAMPLED) + row * (width << 2);
    const out = ptr(job, J_OUT) + <usize>row * ptr(job, J_OUT_ROW);
    let done = 0;
    if (ASC_FEATURE_SIMD && log == ELEMENT_F32) done = emitFloats4(job, from, out, width);
    if (ASC_FEATURE_SIMD && log == ELEMENT_BYTE && int(job, J_FLIP) < 256)
      done = emitBytes4(job, from, out, width);
    for (let channel = 0; channel < 3; channel++) {
      const plane = isTogether ? channel << log : channel * int(job, J_OUT_PLANE);
      const to = out + plane + ((done * step) << log);
      const values = ptr(job, J_VALUES) + (channel << (8 + log));
      const shift = int(job, J_SHIFT_0 + channel);
      const start = from + (done << 2);
      const rest = width - done;
      if (log == ELEMENT_F32) emitWords(start, rest, shift, values, to, step);
      else if (log == ELEMENT_HALF) emitHalves(start, rest, shift, values, to, step);
      else emitBytes(start, rest, shift, values, to, step);
    }
  }
}

function emitWords(from: usize, width: i32, shift: u32, values: usize, to: usize, step: i32): void {
  for (let x = 0, out = to; x < width; x++, out += step << 2)
    store<u32>(out, load<u32>(values + (((load<u32>(from + (x << 2)) >> shift) & 255) << 2)));
}

function emitHalves(from: usize, width: i32, shift: u32, values: usize, to: usize, step: i32): void {
  for (let x = 0, out = to; x < width; x++, out += step << 1)
    store<u16>(out, load<u16>(values + (((load<u32>(from + (x << 2)) >> shift) & 255) << 1)));
}

function emitBytes(from: usize, width: i32, shift: u32, values: usize, to: usize, step: i32): void {
  for (let x = 0, out = to; x < width; x++, out += step)
    store<u8>(out, load<u8>(values + ((load<u32>(from + (x << 2)) >> shift) & 255)));
}
