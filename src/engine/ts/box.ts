/**
 * Makes boxes: converts the four box channels of a row to corners, normalised to the network input. Twin of
 * `assembly/box.ts`. Every step is rounded to f32, so that both engines give the same bits.
 */
import * as A from "../../core/abi.ts";
import type { Memory } from "../../core/memory.ts";
import { exp } from "./exp.ts";
import { scratch32, scratch64 } from "./registers.ts";
import { finite, fround, load } from "./value.ts";

/** Results of `box`: written, dropped as not finite, or dropped as empty after clamping. */
export const BOX_OK = 0;
export const BOX_NOT_FINITE = 1;
export const BOX_EMPTY = 2;

/** Applies a function to an f32 register, in place. */
export function activate(fn: number, register: number): void {
  if (fn === A.FN_NONE) return;
  let s = scratch32[register];
  if (fn === A.FN_CLAMP) {
    scratch32[register] = s < 0 ? 0 : s > 1 ? 1 : s;
    return;
  }
  if (fn !== A.FN_SQUARE) {
    // Use one call of exp for all exponentials: tanh x = 1 - 2 / (e^2x + 1), sigmoid x = 1 / (1 + e^-x).
    scratch64[0] = fn === A.FN_EXP ? s : fn === A.FN_TANH ? 2 * s : -s;
    exp();
    const power = scratch64[0];
    s = fround(fn === A.FN_EXP ? power : fn === A.FN_TANH ? 1 - 2 / (power + 1) : 1 / (1 + power));
  }
  scratch32[register] = fn === A.FN_SQUARE || fn === A.FN_SQUARE_SIGMOID ? fround(s * s) * 4 : s;
}

/** Loads one side of a distance head: the value itself, or the mean of a distribution over bins (DFL). */
function side(m: Memory, head: number, at: number, register: number): void {
  const { i32 } = m;
  const type = i32[head + A.H_BOX_TYPE];
  const scale = head + A.H_BOX_SCALE;
  const bins = i32[head + A.H_BINS];
  load(m, type, at, scale, register);
  if (bins === 0) return;
  const step = i32[head + A.H_BIN];

  // Subtract the largest logit, so that no exponential exceeds 1. A NaN counts as the largest, and makes the side NaN.
  let top = scratch32[register];
  for (let i = 1; i < bins; i++) {
    load(m, type, at + i * step, scale, register);
    if (!(scratch32[register] <= top)) top = scratch32[register];
  }
  let sum = 0;
  let mean = 0;
  for (let i = 0; i < bins; i++) {
    load(m, type, at + i * step, scale, register);
    scratch64[0] = fround(scratch32[register] - top);
    exp();
    const weight = scratch64[0];
    sum += weight;
    mean += weight * i;
  }
  scratch32[register] = mean / sum;
}

/** Writes the box of a cell to the four words at `out`. The cell's channels are in row `row`. Returns BOX_*. */
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
  const box = scratch32;

  if (kind === A.KIND_DISTANCE) {
    const columns = i32[head + A.H_GRID_W];
    const bias = f32[head + A.H_XY_BIAS];
    const factor = f32[head + A.H_XY_SCALE];
    const cx = fround((cell % columns) + bias);
    const cy = fround(((cell / columns) | 0) + bias);
    side(m, head, at0, 0);
    side(m, head, at1, 1);
    side(m, head, at2, 2);
    side(m, head, at3, 3);
    box[0] = fround(cx - fround(box[0] * factor)) * kx;
    box[1] = fround(cy - fround(box[1] * factor)) * ky;
    box[2] = fround(cx + fround(box[2] * factor)) * kx;
    box[3] = fround(cy + fround(box[3] * factor)) * ky;
    return place(kind, f32, flags, out);
  }

  load(m, type, at0, scale, 0);
  load(m, type, at1, scale, 1);
  load(m, type, at2, scale, 2);
  load(m, type, at3, scale, 3);
  if (kind === A.KIND_GRID) {
    const columns = i32[head + A.H_GRID_W];
    const xyScale = f32[head + A.H_XY_SCALE];
    const bias = f32[head + A.H_XY_BIAS];
    activate(i32[head + A.H_XY_FN], 0);
    activate(i32[head + A.H_XY_FN], 1);
    activate(i32[head + A.H_WH_FN], 2);
    activate(i32[head + A.H_WH_FN], 3);
    box[0] = fround((cell % columns) + fround(fround(xyScale * box[0]) + bias)) * kx;
    box[1] = fround(((cell / columns) | 0) + fround(fround(xyScale * box[1]) + bias)) * ky;
    box[2] *= f32[head + A.H_W];
    box[3] *= f32[head + A.H_H];
  } else if (kind === A.KIND_PRIOR) {
    const prior = (i32[head + A.H_TABLE] >> 2) + cell * 4;
    const priorWidth = f32[prior + 2];
    const priorHeight = f32[prior + 3];
    box[2] *= f32[head + A.H_V2];
    box[3] *= f32[head + A.H_V3];
    activate(i32[head + A.H_WH_FN], 2);
    activate(i32[head + A.H_WH_FN], 3);
    box[0] = f32[prior] + fround(fround(box[0] * f32[head + A.H_V0]) * priorWidth);
    box[1] = f32[prior + 1] + fround(fround(box[1] * f32[head + A.H_V1]) * priorHeight);
    box[2] *= priorWidth;
    box[3] *= priorHeight;
  } else {
    box[0] *= kx;
    box[1] *= ky;
    box[2] *= kx;
    box[3] *= ky;
  }
  return place(kind, f32, flags, out);
}

/**
 * Writes the box in the registers as corners to the four words at `out`. Returns BOX_*.
 *
 * The registers hold corners (KIND_CORNERS, KIND_DISTANCE), a corner and a size (KIND_TOPLEFT), or a centre and a size.
 */
export function place(kind: number, f32: Float32Array, flags: number, out: number): number {
  let x1 = scratch32[0];
  let y1 = scratch32[1];
  let x2 = scratch32[2];
  let y2 = scratch32[3];
  if (kind === A.KIND_TOPLEFT) {
    x2 = fround(x1 + x2);
    y2 = fround(y1 + y2);
  } else if (kind !== A.KIND_CORNERS && kind !== A.KIND_DISTANCE) {
    const halfWidth = fround(x2 * 0.5);
    const halfHeight = fround(y2 * 0.5);
    x2 = fround(x1 + halfWidth);
    y2 = fround(y1 + halfHeight);
    x1 = fround(x1 - halfWidth);
    y1 = fround(y1 - halfHeight);
  }
  // Test the sum: four finite floats have a finite sum in doubles.
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

/** Returns x, limited to 0..1. */
export function clamp(x: number): number {
  if (x < 0) return 0;
  return x > 1 ? 1 : x;
}
