/**
 * Box arithmetic: one candidate's four channels -> corners normalised to the network input.
 * Twin of `assembly/box.ts`; every step is rounded to f32, which is what makes the bits agree.
 */
import * as A from "../abi.ts";
import { exp, sigmoid, tanh } from "../exp.ts";
import type { Memory } from "../memory.ts";
import { finite, value } from "./value.ts";

const fround = Math.fround;

export const BOX_OK = 0;
export const BOX_NOT_FINITE = 1;
export const BOX_EMPTY = 2;

export function activate(fn: number, x: number): number {
  if (fn === A.FN_NONE) return x;
  if (fn === A.FN_SIGMOID) return fround(sigmoid(x));
  if (fn === A.FN_EXP) return fround(exp(x));
  if (fn === A.FN_TANH) return fround(tanh(x));
  const s = fn === A.FN_SQUARE ? x : fround(sigmoid(x));
  return fround(fround(s * s) * 4);
}

/** One side of a distance head: the value itself, or the mean of a distribution over bins (softmax, DFL). */
function side(m: Memory, head: number, at: number): number {
  const { f32, i32 } = m;
  const type = i32[head + A.H_BOX_TYPE];
  const scale = f32[head + A.H_BOX_SCALE];
  const zero = f32[head + A.H_BOX_ZERO];
  const bins = i32[head + A.H_BINS];
  if (bins === 0) return value(m, type, at, scale, zero);
  const step = i32[head + A.H_BIN];
  let top = value(m, type, at, scale, zero);
  for (let i = 1; i < bins; i++) {
    const x = value(m, type, at + i * step, scale, zero);
    if (!(x <= top)) top = x;
  }
  let sum = 0;
  let mean = 0;
  for (let i = 0; i < bins; i++) {
    const e = exp(fround(value(m, type, at + i * step, scale, zero) - top));
    sum += e;
    mean += e * i;
  }
  return fround(mean / sum);
}

/** Writes the box of cell `cell`, whose channels stand in row `row`, to the four words at `out`. `head` is a word index. */
export function box(m: Memory, head: number, row: number, cell: number, flags: number, out: number): number {
  const { f32, i32 } = m;
  const kind = i32[head + A.H_KIND];
  const type = i32[head + A.H_BOX_TYPE];
  const scale = f32[head + A.H_BOX_SCALE];
  const zero = f32[head + A.H_BOX_ZERO];
  const kx = f32[head + A.H_KX];
  const ky = f32[head + A.H_KY];
  const shift = row * i32[head + A.H_BOX_CELL];
  const at0 = i32[head + A.H_BOX_0] + shift;
  const at1 = i32[head + A.H_BOX_1] + shift;
  const at2 = i32[head + A.H_BOX_2] + shift;
  const at3 = i32[head + A.H_BOX_3] + shift;
  let x1: number;
  let y1: number;
  let x2: number;
  let y2: number;

  if (kind === A.KIND_DISTANCE) {
    const columns = i32[head + A.H_GRID_W];
    const bias = f32[head + A.H_XY_BIAS];
    const cx = fround((cell % columns) + bias);
    const cy = fround(((cell / columns) | 0) + bias);
    x1 = fround(fround(cx - side(m, head, at0)) * kx);
    y1 = fround(fround(cy - side(m, head, at1)) * ky);
    x2 = fround(fround(cx + side(m, head, at2)) * kx);
    y2 = fround(fround(cy + side(m, head, at3)) * ky);
  } else {
    const a = value(m, type, at0, scale, zero);
    const b = value(m, type, at1, scale, zero);
    const c = value(m, type, at2, scale, zero);
    const d = value(m, type, at3, scale, zero);
    if (kind === A.KIND_GRID) {
      const columns = i32[head + A.H_GRID_W];
      const xyFn = i32[head + A.H_XY_FN];
      const whFn = i32[head + A.H_WH_FN];
      const s = f32[head + A.H_XY_SCALE];
      const bias = f32[head + A.H_XY_BIAS];
      const cx = fround(fround((cell % columns) + fround(fround(s * activate(xyFn, a)) + bias)) * kx);
      const cy = fround(fround(((cell / columns) | 0) + fround(fround(s * activate(xyFn, b)) + bias)) * ky);
      const w = fround(fround(activate(whFn, c) * f32[head + A.H_W]) * 0.5);
      const h = fround(fround(activate(whFn, d) * f32[head + A.H_H]) * 0.5);
      x1 = fround(cx - w);
      y1 = fround(cy - h);
      x2 = fround(cx + w);
      y2 = fround(cy + h);
    } else if (kind === A.KIND_PRIOR) {
      const prior = (i32[head + A.H_TABLE] >> 2) + cell * 4;
      const pw = f32[prior + 2];
      const ph = f32[prior + 3];
      const whFn = i32[head + A.H_WH_FN];
      const cx = fround(f32[prior] + fround(fround(a * f32[head + A.H_V0]) * pw));
      const cy = fround(f32[prior + 1] + fround(fround(b * f32[head + A.H_V1]) * ph));
      const w = fround(fround(activate(whFn, fround(c * f32[head + A.H_V2])) * pw) * 0.5);
      const h = fround(fround(activate(whFn, fround(d * f32[head + A.H_V3])) * ph) * 0.5);
      x1 = fround(cx - w);
      y1 = fround(cy - h);
      x2 = fround(cx + w);
      y2 = fround(cy + h);
    } else {
      x1 = fround(a * kx);
      y1 = fround(b * ky);
      x2 = fround(c * kx);
      y2 = fround(d * ky);
      if (kind === A.KIND_CENTRE) {
        const w = fround(x2 * 0.5);
        const h = fround(y2 * 0.5);
        x2 = fround(x1 + w);
        y2 = fround(y1 + h);
        x1 = fround(x1 - w);
        y1 = fround(y1 - h);
      } else if (kind === A.KIND_TOPLEFT) {
        x2 = fround(x1 + x2);
        y2 = fround(y1 + y2);
      }
    }
  }

  if (!(finite(x1) && finite(y1) && finite(x2) && finite(y2))) return BOX_NOT_FINITE;
  if (flags & A.FLAG_CLAMP_BEFORE) {
    x1 = clamp(x1);
    y1 = clamp(y1);
    x2 = clamp(x2);
    y2 = clamp(y2);
    if (x2 <= x1 || y2 <= y1) return BOX_EMPTY;
  }
  f32[out] = x1;
  f32[out + 1] = y1;
  f32[out + 2] = x2;
  f32[out + 3] = y2;
  return BOX_OK;
}

/** To 0..1. */
export function clamp(x: number): number {
  if (x < 0) return 0;
  return x > 1 ? 1 : x;
}
