/** Area resampling in f32, in the order of `cv2.resize`. */
import {
  J_FIRST,
  J_LAST,
  J_ORIGIN,
  J_PIXELS,
  J_PIXEL_STRIDE,
  J_RESAMPLED,
  J_SCRATCH,
  J_WIDTH,
  J_XTAB,
  J_XTAPS,
  J_XWEIGHTS,
  J_YTAB,
  J_YTAPS,
  J_YWEIGHTS,
} from "../../src/core/prepare-abi";
import { clear, flt, int, ptr } from "../word";
import { addRow4, areaColumn4, roundRow4 } from "./area4";
import { roundPixel } from "./pixel";

/**
 * Resamples the rows of a job. Scratch holds the resampled columns of one source row, then the sum of such rows, four
 * f32 for each pixel.
 */
export function areaRows(job: usize): void {
  const width = int(job, J_WIDTH);
  const line = ptr(job, J_SCRATCH);
  const sum = line + (width << 4);
  const taps = int(job, J_YTAPS);
  const last = int(job, J_LAST);
  let to = ptr(job, J_RESAMPLED);
  let held = -1;
  for (let y = int(job, J_FIRST); y < last; y++, to += width << 2) {
    const table = ptr(job, J_YTAB) + (y << 3);
    const start = int(table, 0);
    const count = int(table, 1);
    const weights = ptr(job, J_YWEIGHTS) + ((y * taps) << 2);
    clear(sum, width << 4);
    for (let k = 0; k < count; k++) {
      if (held != start + k) areaColumns(job, start + k, line);
      held = start + k;
      addRow(line, sum, flt(weights, k), width);
    }
    if (ASC_FEATURE_SIMD) roundRow4(sum, to, width);
    else
      for (let x = 0, p = sum; x < width; x++, p += 16)
        store<u32>(to + (x << 2), roundPixel(load<f32>(p), load<f32>(p + 4), load<f32>(p + 8)));
  }
}

/** Resamples the columns of a source row. */
function areaColumns(job: usize, row: i32, to: usize): void {
  const width = int(job, J_WIDTH);
  const taps = int(job, J_XTAPS);
  const from = ptr(job, J_PIXELS) + <usize>(row - int(job, J_ORIGIN)) * ptr(job, J_PIXEL_STRIDE);
  let weights = ptr(job, J_XWEIGHTS);
  let table = ptr(job, J_XTAB);
  for (let x = 0, out = to; x < width; x++, table += 8, out += 16, weights += taps << 2) {
    const count = int(table, 1);
    let p = from + int(table, 0);
    if (ASC_FEATURE_SIMD) {
      areaColumn4(p, weights, count, out);
      continue;
    }
    let r: f32 = 0;
    let g: f32 = 0;
    let b: f32 = 0;
    for (let k = 0; k < count; k++, p += 4) {
      const weight = flt(weights, k);
      r += <f32>load<u8>(p) * weight;
      g += <f32>load<u8>(p + 1) * weight;
      b += <f32>load<u8>(p + 2) * weight;
    }
    store<f32>(out, r);
    store<f32>(out + 4, g);
    store<f32>(out + 8, b);
  }
}

/** Adds a weighted row to the sum. */
function addRow(line: usize, sum: usize, weight: f32, width: i32): void {
  if (ASC_FEATURE_SIMD) addRow4(line, sum, weight, width);
  else
    for (let i: usize = 0; i < <usize>(width << 4); i += 4)
      store<f32>(sum + i, load<f32>(sum + i) + load<f32>(line + i) * weight);
}
