/** Makes the pixels of the tensor's rows. */
import {
  J_BLOCK_SCALE,
  J_BLOCK_X,
  J_BLOCK_Y,
  J_FIRST,
  J_KIND,
  J_LAST,
  J_ORIGIN,
  J_PIXELS,
  J_PIXEL_STRIDE,
  J_RESAMPLED,
  J_WIDTH,
  J_XTAB,
  J_YTAB,
  KIND_AREA,
  KIND_HALF,
  KIND_LINEAR,
  KIND_NEAREST,
  KIND_TAPS,
} from "../../src/core/prepare-abi";
import { flt, int, ptr } from "../word";
import { areaRows } from "./area";
import { linearRows } from "./linear";
import { roundPixel } from "./pixel";
import { hiddenZero } from "./pixel4";
import { blockPixel4, halfRow4 } from "./resample4";
import { tapRows } from "./taps";

/** Resamples the rows of a job. */
export function resample(job: usize): void {
  const kind = int(job, J_KIND);
  if (kind == KIND_LINEAR) linearRows(job);
  else if (kind == KIND_AREA) areaRows(job);
  else if (kind == KIND_TAPS) tapRows(job);
  else blockRows(job);
}

/** Resamples by copying, if each pixel is one source pixel, or by the mean of a block of source pixels. */
function blockRows(job: usize): void {
  const kind = int(job, J_KIND);
  const stride = ptr(job, J_PIXEL_STRIDE);
  const width = int(job, J_WIDTH);
  const last = int(job, J_LAST);
  let to = ptr(job, J_RESAMPLED);
  for (let y = int(job, J_FIRST); y < last; y++, to += width << 2) {
    const row = int(ptr(job, J_YTAB), y) - int(job, J_ORIGIN);
    const from = ptr(job, J_PIXELS) + <usize>row * stride;
    if (kind == KIND_NEAREST) nearestRow(job, from, to);
    else if (kind == KIND_HALF) halfRow(job, from, to);
    else blockRow(job, from, to);
  }
}

function nearestRow(job: usize, from: usize, to: usize): void {
  const columns = ptr(job, J_XTAB);
  const width = int(job, J_WIDTH);
  for (let x = 0; x < width; x++) store<u32>(to + (x << 2), load<u32>(from + int(columns, x)));
}

function halfRow(job: usize, from: usize, to: usize): void {
  const width = int(job, J_WIDTH);
  const stride = ptr(job, J_PIXEL_STRIDE);
  const start = from + int(ptr(job, J_XTAB), 0);
  let x = ASC_FEATURE_SIMD ? halfRow4(start, stride, to, width, hiddenZero(job)) : 0;
  for (let p = start + (x << 3); x < width; x++, p += 8) {
    const a = load<u32>(p);
    const b = load<u32>(p + 4);
    const c = load<u32>(p + stride);
    const d = load<u32>(p + stride + 4);
    // Add red and blue in one word; the gap between them holds the carry.
    const even = (a & 0xff00ff) + (b & 0xff00ff) + (c & 0xff00ff) + (d & 0xff00ff) + 0x20002;
    const odd = ((a >> 8) & 0xff) + ((b >> 8) & 0xff) + ((c >> 8) & 0xff) + ((d >> 8) & 0xff) + 2;
    store<u32>(to + (x << 2), ((even >> 2) & 0xff00ff) | ((odd << 6) & 0xff00));
  }
}

function blockRow(job: usize, from: usize, to: usize): void {
  const width = int(job, J_WIDTH);
  const stride = ptr(job, J_PIXEL_STRIDE);
  const columns = int(job, J_BLOCK_X) << 2;
  const rows = int(job, J_BLOCK_Y);
  const scale = flt(job, J_BLOCK_SCALE);
  const xtab = ptr(job, J_XTAB);
  for (let x = 0; x < width; x++) {
    const start = from + int(xtab, x);
    if (ASC_FEATURE_SIMD) {
      store<u32>(to + (x << 2), blockPixel4(start, stride, columns, rows, scale));
      continue;
    }
    let r = 0;
    let g = 0;
    let b = 0;
    for (let row = 0, line = start; row < rows; row++, line += stride)
      for (let p = line; p < line + columns; p += 4) {
        r += load<u8>(p);
        g += load<u8>(p + 1);
        b += load<u8>(p + 2);
      }
    store<u32>(to + (x << 2), roundPixel(<f32>r * scale, <f32>g * scale, <f32>b * scale));
  }
}
