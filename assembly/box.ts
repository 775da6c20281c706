/**
 * Box arithmetic: one candidate's four channels -> corners normalised to the network input.
 * Every step is f32 and written in the order of `src/engine/ts/box.ts`, so that the bits agree.
 */
import {
  FLAG_CLAMP_BEFORE,
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
  KIND_CORNERS,
  KIND_DISTANCE,
  KIND_GRID,
  KIND_PRIOR,
  KIND_TOPLEFT,
  TYPE_F16,
  TYPE_F32,
  TYPE_I16,
  TYPE_I32,
  TYPE_I8,
} from "../src/core/abi";
import { exp, sigmoid, tanh } from "./exp";
import { exp4, expSums, sigmoid4 } from "./exp4";
import { f16, finite, gather4, value } from "./value";
import { flt, int, ptr } from "./word";

/** What became of a box. */
export const BOX_OK: i32 = 0;
export const BOX_NOT_FINITE: i32 = 1;
export const BOX_EMPTY: i32 = 2;

export function activate(fn: i32, x: f32): f32 {
  if (fn == FN_NONE) return x;
  if (fn == FN_SIGMOID) return <f32>sigmoid(<f64>x);
  if (fn == FN_EXP) return <f32>exp(<f64>x);
  if (fn == FN_TANH) return <f32>tanh(<f64>x);
  // FN_SQUARE, FN_SQUARE_SIGMOID
  const s: f32 = fn == FN_SQUARE ? x : <f32>sigmoid(<f64>x);
  return s * s * 4;
}

/** One side of a distance head: the value itself, or the mean of a distribution over bins (softmax, DFL). */
function side(head: usize, at: usize): f32 {
  const type = int(head, H_BOX_TYPE);
  const scale = flt(head, H_BOX_SCALE);
  const zero = flt(head, H_BOX_ZERO);
  const bins = int(head, H_BINS);
  if (bins == 0) return value(type, at, scale, zero);
  const step = ptr(head, H_BIN);
  // the largest logit comes off first: exp of the rest is at most 1, whatever the scale of the logits
  let top = value(type, at, scale, zero);
  for (let i = 1; i < bins; i++) {
    const x = value(type, at + <usize>i * step, scale, zero);
    if (!(x <= top)) top = x;
  }
  let sum: f64 = 0;
  let mean: f64 = 0;
  let i = 0;
  if (ASC_FEATURE_SIMD) {
    let sums = f64x2.splat(0);
    for (; i + 4 <= bins; i += 4) {
      const p = at + <usize>i * step;
      let x = f32x4.splat(value(type, p, scale, zero));
      x = f32x4.replace_lane(x, 1, value(type, p + step, scale, zero));
      x = f32x4.replace_lane(x, 2, value(type, p + 2 * step, scale, zero));
      x = f32x4.replace_lane(x, 3, value(type, p + 3 * step, scale, zero));
      sums = expSums(f32x4.sub(x, f32x4.splat(top)), <f64>i, sums);
    }
    sum = f64x2.extract_lane(sums, 0);
    mean = f64x2.extract_lane(sums, 1);
  }
  for (; i < bins; i++) {
    const e = exp(<f64>(value(type, at + <usize>i * step, scale, zero) - top));
    sum += e;
    mean += e * <f64>i;
  }
  return <f32>(mean / sum);
}

/** Writes the box of cell `cell`, whose channels stand in row `row`, to `out` (f32[4]). */
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
    const line = cell / columns;
    const cx = <f32>(cell - line * columns) + bias;
    const cy = <f32>line + bias;
    x1 = (cx - side(head, at0)) * kx;
    y1 = (cy - side(head, at1)) * ky;
    x2 = (cx + side(head, at2)) * kx;
    y2 = (cy + side(head, at3)) * ky;
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
      const s = flt(head, H_XY_SCALE);
      const bias = flt(head, H_XY_BIAS);
      let x: f32, y: f32, w: f32, h: f32;
      x = activate(xyFn, a);
      y = activate(xyFn, b);
      w = activate(whFn, c);
      h = activate(whFn, d);
      const line = cell / columns;
      const cx = (<f32>(cell - line * columns) + (s * x + bias)) * kx;
      const cy = (<f32>line + (s * y + bias)) * ky;
      w = w * flt(head, H_W) * <f32>0.5;
      h = h * flt(head, H_H) * <f32>0.5;
      x1 = cx - w;
      y1 = cy - h;
      x2 = cx + w;
      y2 = cy + h;
    } else if (kind == KIND_PRIOR) {
      const prior = ptr(head, H_TABLE) + ((<usize>cell) << 4);
      const pw = load<f32>(prior, 8);
      const ph = load<f32>(prior, 12);
      const whFn = int(head, H_WH_FN);
      const cx = load<f32>(prior) + a * flt(head, H_V0) * pw;
      const cy = load<f32>(prior, 4) + b * flt(head, H_V1) * ph;
      const w: f32 = activate(whFn, c * flt(head, H_V2)) * pw * <f32>0.5;
      const h: f32 = activate(whFn, d * flt(head, H_V3)) * ph * <f32>0.5;
      x1 = cx - w;
      y1 = cy - h;
      x2 = cx + w;
      y2 = cy + h;
    } else {
      x1 = a * kx;
      y1 = b * ky;
      x2 = c * kx;
      y2 = d * ky;
    }
  }
  return place(kind, x1, y1, x2, y2, flags, out);
}

/** Writes a box as corners to `out`, if it is one: it comes as a centre and a size, as a corner and a size, or else as corners. */
export function place(kind: i32, x1: f32, y1: f32, x2: f32, y2: f32, flags: i32, out: usize): i32 {
  if (kind == KIND_CENTRE) {
    const w = x2 * <f32>0.5;
    const h = y2 * <f32>0.5;
    x2 = x1 + w;
    y2 = y1 + h;
    x1 = x1 - w;
    y1 = y1 - h;
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

/** To 0..1. */
export function clamp(x: f32): f32 {
  if (x < 0) return 0;
  return x > 1 ? 1 : x;
}

/** Whether `box4` does for this head. */
export function inLanes(head: usize): bool {
  const kind = int(head, H_KIND);
  return kind >= KIND_CENTRE || (kind == KIND_GRID && laned(int(head, H_XY_FN)) && laned(int(head, H_WH_FN)));
}

function laned(fn: i32): bool {
  return fn == FN_NONE || fn == FN_SIGMOID || fn == FN_EXP || fn == FN_SQUARE;
}

function activate4(fn: i32, x: v128): v128 {
  if (fn == FN_SIGMOID) return sigmoid4(x);
  if (fn == FN_EXP) return exp4(x);
  if (fn == FN_SQUARE) return f32x4.mul(f32x4.mul(x, x), f32x4.splat(4));
  return x;
}

/** `value` of four raw elements: integers, or bits of f16. */
// @ts-ignore: decorator
@inline
export function value4(type: i32, raw: v128, scale: f32, zero: f32): v128 {
  if (type != TYPE_F16)
    return f32x4.mul(f32x4.sub(f32x4.convert_i32x4_s(raw), f32x4.splat(zero)), f32x4.splat(scale));
  // the fields of a half, moved to those of a float, make a number 2^112 times too small, subnormal or not
  const fields = i32x4.shl(v128.and(raw, i32x4.splat(0x7fff)), 13);
  const number = f32x4.mul(fields, f32x4.splat(5.192296858534828e33));
  const special = i32x4.ge_s(fields, i32x4.splat(0x7c00 << 13));
  const v = v128.bitselect(v128.or(fields, i32x4.splat(0x7f800000)), number, special);
  return v128.or(v, i32x4.shl(i32x4.shr_u(raw, 15), 31));
}

/** An integer of fewer bits than a lane, whose sign bit `half` is: the number it stands for. A shift by a variable takes five times as long. */
// @ts-ignore: decorator
@inline
function signed4(raw: v128, half: v128): v128 {
  return i32x4.sub(v128.xor(raw, half), half);
}

// @ts-ignore: decorator
@inline
function finite4(v: v128): v128 {
  return f32x4.eq(f32x4.sub(v, v), f32x4.splat(0));
}

// @ts-ignore: decorator
@inline
function clamp4(v: v128): v128 {
  v = v128.andnot(v, f32x4.lt(v, f32x4.splat(0)));
  return v128.bitselect(f32x4.splat(1), v, f32x4.gt(v, f32x4.splat(1)));
}

/** Whether `rowBox` does for this head: the four channels of a box stand side by side in f32, and it needs no function. */
export function inRows(head: usize, flags: i32): bool {
  const at = ptr(head, H_BOX_0);
  return (
    int(head, H_KIND) >= KIND_CENTRE &&
    (flags & FLAG_CLAMP_BEFORE) == 0 &&
    int(head, H_BOX_TYPE) == TYPE_F32 &&
    ptr(head, H_BOX_1) - at == 4 &&
    ptr(head, H_BOX_2) - at == 8 &&
    ptr(head, H_BOX_3) - at == 12
  );
}

/** The box of one row, a vector, as `place` makes it: x - w is x + -w to the last bit. */
// @ts-ignore: decorator
@inline
export function rowBox(kind: i32, at: usize, k: v128): v128 {
  const v = f32x4.mul(v128.load(at), k);
  if (kind == KIND_CORNERS) return v;
  const first = v128.shuffle<u64>(v, v, 0, 0);
  if (kind == KIND_TOPLEFT) return v128.shuffle<u64>(v, f32x4.add(first, v), 0, 3);
  return f32x4.add(first, f32x4.mul(v128.shuffle<u64>(v, v, 1, 1), f32x4(-0.5, -0.5, 0.5, 0.5)));
}

/**
 * `box` for four rows at once, whose numbers stand at `rows` and the numbers of their cells, below 2^22, at `cells`. Writes four boxes
 * to `out` and returns a bit for each that is not finite, and in the next four bits one for each that is empty.
 */
export function box4(head: usize, rows: usize, cells: usize, flags: i32, out: usize): i32 {
  const kind = int(head, H_KIND);
  const step = ptr(head, H_BOX_CELL);
  const a0 = <usize>load<u32>(rows) * step;
  const a1 = <usize>load<u32>(rows, 4) * step;
  const a2 = <usize>load<u32>(rows, 8) * step;
  const a3 = <usize>load<u32>(rows, 12) * step;
  const kx = f32x4.splat(flt(head, H_KX));
  const ky = f32x4.splat(flt(head, H_KY));
  const at = ptr(head, H_BOX_0);
  const at1 = ptr(head, H_BOX_1);
  const at2 = ptr(head, H_BOX_2);
  const at3 = ptr(head, H_BOX_3);
  const type = int(head, H_BOX_TYPE);
  let x1: v128, y1: v128, x2: v128, y2: v128;
  // no function for a channel: engines put all vectors aside at a call
  if (type == TYPE_F32 || type == TYPE_I32) {
    x1 = gather4<f32>(at + a0, at + a1, at + a2, at + a3);
    y1 = gather4<f32>(at1 + a0, at1 + a1, at1 + a2, at1 + a3);
    x2 = gather4<f32>(at2 + a0, at2 + a1, at2 + a2, at2 + a3);
    y2 = gather4<f32>(at3 + a0, at3 + a1, at3 + a2, at3 + a3);
  } else if (type == TYPE_F16 || type == TYPE_I16) {
    x1 = gather4<f16>(at + a0, at + a1, at + a2, at + a3);
    y1 = gather4<f16>(at1 + a0, at1 + a1, at1 + a2, at1 + a3);
    x2 = gather4<f16>(at2 + a0, at2 + a1, at2 + a2, at2 + a3);
    y2 = gather4<f16>(at3 + a0, at3 + a1, at3 + a2, at3 + a3);
  } else {
    x1 = gather4<u8>(at + a0, at + a1, at + a2, at + a3);
    y1 = gather4<u8>(at1 + a0, at1 + a1, at1 + a2, at1 + a3);
    x2 = gather4<u8>(at2 + a0, at2 + a1, at2 + a2, at2 + a3);
    y2 = gather4<u8>(at3 + a0, at3 + a1, at3 + a2, at3 + a3);
  }
  if (type != TYPE_F32) {
    const scale = flt(head, H_BOX_SCALE);
    const zero = flt(head, H_BOX_ZERO);
    if (type != TYPE_F16) {
      const sign = i32x4.splat(type == TYPE_I8 ? 0x80 : type == TYPE_I16 ? 0x8000 : 0);
      x1 = signed4(x1, sign);
      y1 = signed4(y1, sign);
      x2 = signed4(x2, sign);
      y2 = signed4(y2, sign);
      x1 = value4(TYPE_I8, x1, scale, zero);
      y1 = value4(TYPE_I8, y1, scale, zero);
      x2 = value4(TYPE_I8, x2, scale, zero);
      y2 = value4(TYPE_I8, y2, scale, zero);
    } else {
      x1 = value4(TYPE_F16, x1, scale, zero);
      y1 = value4(TYPE_F16, y1, scale, zero);
      x2 = value4(TYPE_F16, x2, scale, zero);
      y2 = value4(TYPE_F16, y2, scale, zero);
    }
  }
  const half = f32x4.splat(0.5);
  if (kind == KIND_GRID) {
    const xyFn = int(head, H_XY_FN);
    const whFn = int(head, H_WH_FN);
    const s = f32x4.splat(flt(head, H_XY_SCALE));
    const bias = f32x4.splat(flt(head, H_XY_BIAS));
    const columns = f32x4.splat(<f32>int(head, H_GRID_W));
    const cell = f32x4.convert_i32x4_s(v128.load(cells));
    // the quotient lies half a column or more from the next line: right in f32 for cells below 2^22
    const line = f32x4.floor(f32x4.div(f32x4.add(cell, half), columns));
    const column = f32x4.sub(cell, f32x4.mul(line, columns));
    x1 = f32x4.mul(f32x4.add(column, f32x4.add(f32x4.mul(s, activate4(xyFn, x1)), bias)), kx);
    y1 = f32x4.mul(f32x4.add(line, f32x4.add(f32x4.mul(s, activate4(xyFn, y1)), bias)), ky);
    const w = f32x4.mul(f32x4.mul(activate4(whFn, x2), f32x4.splat(flt(head, H_W))), half);
    const h = f32x4.mul(f32x4.mul(activate4(whFn, y2), f32x4.splat(flt(head, H_H))), half);
    x2 = f32x4.add(x1, w);
    y2 = f32x4.add(y1, h);
    x1 = f32x4.sub(x1, w);
    y1 = f32x4.sub(y1, h);
  } else {
    x1 = f32x4.mul(x1, kx);
    y1 = f32x4.mul(y1, ky);
    x2 = f32x4.mul(x2, kx);
    y2 = f32x4.mul(y2, ky);
    if (kind == KIND_CENTRE) {
      const w = f32x4.mul(x2, half);
      const h = f32x4.mul(y2, half);
      x2 = f32x4.add(x1, w);
      y2 = f32x4.add(y1, h);
      x1 = f32x4.sub(x1, w);
      y1 = f32x4.sub(y1, h);
    } else if (kind == KIND_TOPLEFT) {
      x2 = f32x4.add(x1, x2);
      y2 = f32x4.add(y1, y2);
    }
  }
  const finite = v128.and(v128.and(finite4(x1), finite4(y1)), v128.and(finite4(x2), finite4(y2)));
  let fate = 15 & ~i32x4.bitmask(finite);
  if (flags & FLAG_CLAMP_BEFORE) {
    x1 = clamp4(x1);
    y1 = clamp4(y1);
    x2 = clamp4(x2);
    y2 = clamp4(y2);
    fate |= i32x4.bitmask(v128.or(f32x4.le(x2, x1), f32x4.le(y2, y1))) << 4;
  }
  // columns to rows
  const xy01 = v128.shuffle<u32>(x1, y1, 0, 4, 1, 5);
  const xy23 = v128.shuffle<u32>(x1, y1, 2, 6, 3, 7);
  const wh01 = v128.shuffle<u32>(x2, y2, 0, 4, 1, 5);
  const wh23 = v128.shuffle<u32>(x2, y2, 2, 6, 3, 7);
  v128.store(out, v128.shuffle<u64>(xy01, wh01, 0, 2));
  v128.store(out, v128.shuffle<u64>(xy01, wh01, 1, 3), 16);
  v128.store(out, v128.shuffle<u64>(xy23, wh23, 0, 2), 32);
  v128.store(out, v128.shuffle<u64>(xy23, wh23, 1, 3), 48);
  return fate;
}
