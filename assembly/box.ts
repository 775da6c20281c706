/**
 * Makes boxes: converts the four box channels of a row to corners, normalised to the network input. Every step is f32
 * and in the order of `src/engine/ts/box.ts`, so that the bits are equal.
 */
import {
  FLAG_CLAMP_BEFORE,
  FN_CLAMP,
  FN_EXP,
  FN_NONE,
  FN_SIGMOID,
  FN_SQUARE,
  FN_TANH,
  H_BIN,
  H_BINS,
  H_BOX_0,
  H_BOX_1,
  H_BOX_2,
  H_BOX_3,
  H_BOX_CELL,
  H_BOX_SCALE,
  H_BOX_TYPE,
  H_BOX_ZERO,
  H_GRID_W,
  H_H,
  H_KIND,
  H_KX,
  H_KY,
  H_TABLE,
  H_V0,
  H_V1,
  H_V2,
  H_V3,
  H_W,
  H_WH_FN,
  H_XY_BIAS,
  H_XY_FN,
  H_XY_SCALE,
  KIND_CENTRE,
  KIND_DISTANCE,
  KIND_GRID,
  KIND_PRIOR,
  KIND_TOPLEFT,
  TYPE_F32,
} from "../src/core/abi";
import { meanOfBins4 } from "./box4";
import { exp, sigmoid, tanh } from "./exp";
import { finite, value } from "./value";
import { flt, int, ptr } from "./word";

/** Result for a box: written, dropped as not finite, or dropped as empty after clamping. */
export const BOX_OK: i32 = 0;
export const BOX_NOT_FINITE: i32 = 1;
export const BOX_EMPTY: i32 = 2;

/** Applies the function `fn` to x. */
export function activate(fn: i32, x: f32): f32 {
  if (fn == FN_NONE) return x;
  if (fn == FN_SIGMOID) return <f32>sigmoid(<f64>x);
  if (fn == FN_EXP) return <f32>exp(<f64>x);
  if (fn == FN_CLAMP) return x < 0 ? 0 : x > 1 ? 1 : x;
  if (fn == FN_TANH) return <f32>tanh(<f64>x);
  // Only FN_SQUARE and FN_SQUARE_SIGMOID are left.
  const s: f32 = fn == FN_SQUARE ? x : <f32>sigmoid(<f64>x);
  return s * s * 4;
}

/** Returns one side of a distance head: the value itself, or the mean of a distribution over bins (DFL). */
function side(head: usize, at: usize): f32 {
  const type = int(head, H_BOX_TYPE);
  const scale = flt(head, H_BOX_SCALE);
  const zero = flt(head, H_BOX_ZERO);
  const bins = int(head, H_BINS);
  if (bins == 0) return value(type, at, scale, zero);
  const step = ptr(head, H_BIN);

  // Subtract the largest logit, so that no exp is above 1. A NaN counts as the largest, and makes the side NaN.
  let top = value(type, at, scale, zero);
  for (let i = 1; i < bins; i++) {
    const x = value(type, at + <usize>i * step, scale, zero);
    if (!(x <= top)) top = x;
  }
  if (ASC_FEATURE_SIMD) return meanOfBins4(type, at, step, bins, scale, zero, top);
  let sum: f64 = 0;
  let mean: f64 = 0;
  for (let i = 0; i < bins; i++) {
    const weight = exp(<f64>(value(type, at + <usize>i * step, scale, zero) - top));
    sum += weight;
    mean += weight * <f64>i;
  }
  return <f32>(mean / sum);
}

/** Writes the box of a cell, whose channels are in row `row`, to `out` (f32[4]). Returns BOX_*. */
export function box(head: usize, row: i32, cell: i32, flags: i32, out: usize): i32 {
  const kind = int(head, H_KIND);
  const type = int(head, H_BOX_TYPE);
  const scale = flt(head, H_BOX_SCALE);
  const zero = flt(head, H_BOX_ZERO);
  const kx = flt(head, H_KX);
  const ky = flt(head, H_KY);
  const shift = <usize>row * ptr(head, H_BOX_CELL);
  const at0 = ptr(head, H_BOX_0) + shift;
  const at1 = ptr(head, H_BOX_1) + shift;
  const at2 = ptr(head, H_BOX_2) + shift;
  const at3 = ptr(head, H_BOX_3) + shift;
  let x1: f32, y1: f32, x2: f32, y2: f32;

  if (kind == KIND_DISTANCE) {
    const columns = int(head, H_GRID_W);
    const bias = flt(head, H_XY_BIAS);
    const factor = flt(head, H_XY_SCALE);
    const line = cell / columns;
    const cx = <f32>(cell - line * columns) + bias;
    const cy = <f32>line + bias;
    x1 = (cx - side(head, at0) * factor) * kx;
    y1 = (cy - side(head, at1) * factor) * ky;
    x2 = (cx + side(head, at2) * factor) * kx;
    y2 = (cy + side(head, at3) * factor) * ky;
  } else {
    let a: f32, b: f32, c: f32, d: f32;
    if (type == TYPE_F32) {
      a = load<f32>(at0);
      b = load<f32>(at1);
      c = load<f32>(at2);
      d = load<f32>(at3);
    } else {
      a = value(type, at0, scale, zero);
      b = value(type, at1, scale, zero);
      c = value(type, at2, scale, zero);
      d = value(type, at3, scale, zero);
    }
    if (kind == KIND_GRID) {
      const columns = int(head, H_GRID_W);
      const xyFn = int(head, H_XY_FN);
      const whFn = int(head, H_WH_FN);
      const xyScale = flt(head, H_XY_SCALE);
      const bias = flt(head, H_XY_BIAS);
      const x = activate(xyFn, a);
      const y = activate(xyFn, b);
      const halfWidth = activate(whFn, c) * flt(head, H_W) * <f32>0.5;
      const halfHeight = activate(whFn, d) * flt(head, H_H) * <f32>0.5;
      const line = cell / columns;
      const cx = (<f32>(cell - line * columns) + (xyScale * x + bias)) * kx;
      const cy = (<f32>line + (xyScale * y + bias)) * ky;
      x1 = cx - halfWidth;
      y1 = cy - halfHeight;
      x2 = cx + halfWidth;
      y2 = cy + halfHeight;
    } else if (kind == KIND_PRIOR) {
      const prior = ptr(head, H_TABLE) + ((<usize>cell) << 4);
      const priorWidth = load<f32>(prior, 8);
      const priorHeight = load<f32>(prior, 12);
      const whFn = int(head, H_WH_FN);
      const cx = load<f32>(prior) + a * flt(head, H_V0) * priorWidth;
      const cy = load<f32>(prior, 4) + b * flt(head, H_V1) * priorHeight;
      const halfWidth: f32 = activate(whFn, c * flt(head, H_V2)) * priorWidth * <f32>0.5;
      const halfHeight: f32 = activate(whFn, d * flt(head, H_V3)) * priorHeight * <f32>0.5;
      x1 = cx - halfWidth;
      y1 = cy - halfHeight;
      x2 = cx + halfWidth;
      y2 = cy + halfHeight;
    } else {
      x1 = a * kx;
      y1 = b * ky;
      x2 = c * kx;
      y2 = d * ky;
    }
  }
  return place(kind, x1, y1, x2, y2, flags, out);
}

/**
 * Writes a box as corners to `out`. Returns BOX_*. The values are a centre and a size (KIND_CENTRE), a corner and a
 * size (KIND_TOPLEFT), otherwise corners.
 */
export function place(kind: i32, x1: f32, y1: f32, x2: f32, y2: f32, flags: i32, out: usize): i32 {
  if (kind == KIND_CENTRE) {
    const halfWidth = x2 * <f32>0.5;
    const halfHeight = y2 * <f32>0.5;
    x2 = x1 + halfWidth;
    y2 = y1 + halfHeight;
    x1 = x1 - halfWidth;
    y1 = y1 - halfHeight;
  } else if (kind == KIND_TOPLEFT) {
    x2 = x1 + x2;
    y2 = y1 + y2;
  }
  if (!(finite(x1) && finite(y1) && finite(x2) && finite(y2))) return BOX_NOT_FINITE;
  if (flags & FLAG_CLAMP_BEFORE) {
    x1 = clamp(x1);
    y1 = clamp(y1);
    x2 = clamp(x2);
    y2 = clamp(y2);
    if (x2 <= x1 || y2 <= y1) return BOX_EMPTY;
  }
  store<f32>(out, x1);
  store<f32>(out, y1, 4);
  store<f32>(out, x2, 8);
  store<f32>(out, y2, 12);
  return BOX_OK;
}

/** Returns x, clamped to 0..1. NaN stays NaN. */
export function clamp(x: f32): f32 {
  if (x < 0) return 0;
  return x > 1 ? 1 : x;
}
