/**
 * Box arithmetic: one candidate's four channels -> corners normalised to the network input.
 * Twin of `assembly/box.ts`; every step is rounded to f32, which is what makes the bits agree.
 */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { exp, finite, fround, load, reg, wide } from "./value.ts";

export const BOX_OK = 0;
export const BOX_NOT_FINITE = 1;
export const BOX_EMPTY = 2;

/** Number `i` of `reg` through a function, in place. */
export function activate(fn: number, i: number): void {
  if (fn === A.FN_NONE) return;
  let s = reg[i];
  if (fn !== A.FN_SQUARE) {
    // sigmoid and tanh as in exp.ts
    wide[0] = fn === A.FN_EXP ? s : fn === A.FN_TANH ? 2 * s : -s;
    exp();
    const e = wide[0];
    s = fround(fn === A.FN_EXP ? e : fn === A.FN_TANH ? 1 - 2 / (e + 1) : 1 / (1 + e));
  }
  reg[i] = fn === A.FN_SQUARE || fn === A.FN_SQUARE_SIGMOID ? fround(s * s) * 4 : s;
}

/** One side of a distance head: the value itself, or the mean of a distribution over bins (softmax, DFL). */
function side(m: Memory, head: number, at: number, to: number): void {
  const { i32 } = m;
  const type = i32[head + A.H_BOX_TYPE];
  const scale = head + A.H_BOX_SCALE;
  const bins = i32[head + A.H_BINS];
  load(m, type, at, scale, to);
  if (bins === 0) return;
  const step = i32[head + A.H_BIN];
  let top = reg[to];
  for (let i = 1; i < bins; i++) {
    load(m, type, at + i * step, scale, to);
    if (!(reg[to] <= top)) top = reg[to];
  }
  let sum = 0;
  let mean = 0;
  for (let i = 0; i < bins; i++) {
    load(m, type, at + i * step, scale, to);
    wide[0] = fround(reg[to] - top);
    exp();
    const e = wide[0];
    sum += e;
    mean += e * i;
  }
  reg[to] = mean / sum;
}

/** Writes the box of cell `cell`, whose channels stand in row `row`, to the four words at `out`. `head` is a word index. */
export function box(m: Memory, head: number, row: number, cell: number, flags: number, out: number): number {
  const { f32, i32 } = m;
  const kind = i32[head + A.H_KIND];
  const type = i32[head + A.H_BOX_TYPE];
  const scale = head + A.H_BOX_SCALE;
  const kx = f32[head + A.H_KX];
  const ky = f32[head + A.H_KY];
  const shift = row * i32[head + A.H_BOX_CELL];
  const at0 = i32[head + A.H_BOX_0] + shift;
  const at1 = i32[head + A.H_BOX_1] + shift;
  const at2 = i32[head + A.H_BOX_2] + shift;
  const at3 = i32[head + A.H_BOX_3] + shift;

  if (kind === A.KIND_DISTANCE) {
    const columns = i32[head + A.H_GRID_W];
    const bias = f32[head + A.H_XY_BIAS];
    const cx = fround((cell % columns) + bias);
    const cy = fround(((cell / columns) | 0) + bias);
    side(m, head, at0, 0);
    side(m, head, at1, 1);
    side(m, head, at2, 2);
    side(m, head, at3, 3);
    reg[0] = fround(cx - reg[0]) * kx;
    reg[1] = fround(cy - reg[1]) * ky;
    reg[2] = fround(cx + reg[2]) * kx;
    reg[3] = fround(cy + reg[3]) * ky;
  } else {
    load(m, type, at0, scale, 0);
    load(m, type, at1, scale, 1);
    load(m, type, at2, scale, 2);
    load(m, type, at3, scale, 3);
    if (kind === A.KIND_GRID) {
      const columns = i32[head + A.H_GRID_W];
      activate(i32[head + A.H_XY_FN], 0);
      activate(i32[head + A.H_XY_FN], 1);
      activate(i32[head + A.H_WH_FN], 2);
      activate(i32[head + A.H_WH_FN], 3);
      const s = f32[head + A.H_XY_SCALE];
      const bias = f32[head + A.H_XY_BIAS];
      reg[0] = fround((cell % columns) + fround(fround(s * reg[0]) + bias)) * kx;
      reg[1] = fround(((cell / columns) | 0) + fround(fround(s * reg[1]) + bias)) * ky;
      reg[2] *= f32[head + A.H_W];
      reg[3] *= f32[head + A.H_H];
    } else if (kind === A.KIND_PRIOR) {
      const prior = (i32[head + A.H_TABLE] >> 2) + cell * 4;
      const pw = f32[prior + 2];
      const ph = f32[prior + 3];
      reg[2] *= f32[head + A.H_V2];
      reg[3] *= f32[head + A.H_V3];
      activate(i32[head + A.H_WH_FN], 2);
      activate(i32[head + A.H_WH_FN], 3);
      reg[0] = f32[prior] + fround(fround(reg[0] * f32[head + A.H_V0]) * pw);
      reg[1] = f32[prior + 1] + fround(fround(reg[1] * f32[head + A.H_V1]) * ph);
      reg[2] *= pw;
      reg[3] *= ph;
    } else {
      reg[0] *= kx;
      reg[1] *= ky;
      reg[2] *= kx;
      reg[3] *= ky;
    }
  }
  return place(kind, f32, flags, out);
}

/**
 * Writes the box in `reg` as corners to the four words at `out`, if it is one. It stands there in corners, as a corner and
 * a size, or else as a centre and a size.
 */
export function place(kind: number, f32: Float32Array, flags: number, out: number): number {
  let x1 = reg[0];
  let y1 = reg[1];
  let x2 = reg[2];
  let y2 = reg[3];
  if (kind === A.KIND_TOPLEFT) {
    x2 = fround(x1 + x2);
    y2 = fround(y1 + y2);
  } else if (kind !== A.KIND_CORNERS && kind !== A.KIND_DISTANCE) {
    const w = fround(x2 * 0.5);
    const h = fround(y2 * 0.5);
    x2 = fround(x1 + w);
    y2 = fround(y1 + h);
    x1 = fround(x1 - w);
    y1 = fround(y1 - h);
  }
  // as doubles four floats cannot add up to an infinity
  if (!finite(x1 + y1 + x2 + y2)) return BOX_NOT_FINITE;
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
