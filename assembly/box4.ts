/**
 * Makes boxes with vectors: four rows at once, one channel per vector (`box4`), or one row in a vector (`rowBox`). The
 * steps are those of box.ts in the same order, so the bits agree.
 */
import {
  FLAG_CLAMP_BEFORE,
  FN_EXP,
  FN_NONE,
  FN_SIGMOID,
  FN_SQUARE,
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
  H_W,
  H_WH_FN,
  H_XY_BIAS,
  H_XY_FN,
  H_XY_SCALE,
  KIND_CENTRE,
  KIND_CORNERS,
  KIND_GRID,
  KIND_TOPLEFT,
  TYPE_F16,
  TYPE_F32,
  TYPE_I16,
  TYPE_I32,
  TYPE_I8,
} from "../src/core/abi";
import { exp } from "./exp";
import { exp4, expSums, sigmoid4 } from "./exp4";
import { gather4 } from "./lanes4";
import { f16, value } from "./value";
import { flt, int, ptr } from "./word";

/** Returns the mean of a distribution over bins, for `side`: four bins at a time. `top` is the largest logit. */
export function meanOfBins4(
  type: i32,
  at: usize,
  step: usize,
  bins: i32,
  scale: f32,
  zero: f32,
  top: f32,
): f32 {
  let sums = f64x2.splat(0);
  let i = 0;
  for (; i + 4 <= bins; i += 4) {
    const p = at + <usize>i * step;
    let x = f32x4.splat(value(type, p, scale, zero));
    x = f32x4.replace_lane(x, 1, value(type, p + step, scale, zero));
    x = f32x4.replace_lane(x, 2, value(type, p + 2 * step, scale, zero));
    x = f32x4.replace_lane(x, 3, value(type, p + 3 * step, scale, zero));
    sums = expSums(f32x4.sub(x, f32x4.splat(top)), <f64>i, sums);
  }
  let sum = f64x2.extract_lane(sums, 0);
  let mean = f64x2.extract_lane(sums, 1);
  for (; i < bins; i++) {
    const weight = exp(<f64>(value(type, at + <usize>i * step, scale, zero) - top));
    sum += weight;
    mean += weight * <f64>i;
  }
  return <f32>(mean / sum);
}

/** True if `box4` can handle a head: plain boxes, or a grid whose functions have a vector version. */
export function canBox4(head: usize): bool {
  const kind = int(head, H_KIND);
  return (
    kind >= KIND_CENTRE ||
    (kind == KIND_GRID && canActivate4(int(head, H_XY_FN)) && canActivate4(int(head, H_WH_FN)))
  );
}

function canActivate4(fn: i32): bool {
  return fn == FN_NONE || fn == FN_SIGMOID || fn == FN_EXP || fn == FN_SQUARE;
}

/** Applies the function `fn` to four floats. */
function activate4(fn: i32, x: v128): v128 {
  if (fn == FN_SIGMOID) return sigmoid4(x);
  if (fn == FN_EXP) return exp4(x);
  if (fn == FN_SQUARE) return f32x4.mul(f32x4.mul(x, x), f32x4.splat(4));
  return x;
}

/** Returns `value` of four raw elements: integers, or bits of f16. */
// @ts-ignore: decorator
@inline
export function value4(type: i32, raw: v128, scale: f32, zero: f32): v128 {
  if (type != TYPE_F16)
    return f32x4.mul(f32x4.sub(f32x4.convert_i32x4_s(raw), f32x4.splat(zero)), f32x4.splat(scale));
  // Move the fields of a half to those of a float. The number is then 2^112 times too small, subnormal or not.
  const fields = i32x4.shl(v128.and(raw, i32x4.splat(0x7fff)), 13);
  const number = f32x4.mul(fields, f32x4.splat(5.192296858534828e33));
  const isSpecial = i32x4.ge_s(fields, i32x4.splat(0x7c00 << 13));
  const v = v128.bitselect(v128.or(fields, i32x4.splat(0x7f800000)), number, isSpecial);
  return v128.or(v, i32x4.shl(i32x4.shr_u(raw, 15), 31));
}

/**
 * Sign-extends integers of fewer bits than a lane. `half` is the sign bit, or 0 if there is nothing to do. Two shifts
 * by a variable would take five times as long.
 */
// @ts-ignore: decorator
@inline
function signed4(raw: v128, half: v128): v128 {
  return i32x4.sub(v128.xor(raw, half), half);
}

/** Returns a mask of the finite lanes. */
// @ts-ignore: decorator
@inline
export function finite4(v: v128): v128 {
  return f32x4.eq(f32x4.sub(v, v), f32x4.splat(0));
}

/** Returns lanes limited to 0..1. */
// @ts-ignore: decorator
@inline
function clamp4(v: v128): v128 {
  v = v128.andnot(v, f32x4.lt(v, f32x4.splat(0)));
  return v128.bitselect(f32x4.splat(1), v, f32x4.gt(v, f32x4.splat(1)));
}

/** True if `rowBox` can handle a head: plain boxes whose four f32 channels are adjacent. */
export function canRowBox(head: usize, flags: i32): bool {
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

/** Returns the box of one row in a vector. The steps are those of `place`: x - w equals x + -w to the last bit. */
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
 * Writes the boxes of four rows to `out`. `rows` and `cells` are the addresses of their row numbers and cell numbers;
 * cell numbers are below 2^22. The low four bits of the result mark boxes that are not finite, the next four empty
 * boxes.
 *
 * One long function: a call would spill all vectors to memory.
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

  // Gather the channels.
  let x1: v128, y1: v128, x2: v128, y2: v128;
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

  // Convert raw values.
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

  // Make corners.
  const half = f32x4.splat(0.5);
  if (kind == KIND_GRID) {
    const xyFn = int(head, H_XY_FN);
    const whFn = int(head, H_WH_FN);
    const xyScale = f32x4.splat(flt(head, H_XY_SCALE));
    const bias = f32x4.splat(flt(head, H_XY_BIAS));
    const columns = f32x4.splat(<f32>int(head, H_GRID_W));
    const cell = f32x4.convert_i32x4_s(v128.load(cells));
    // (cell + 0.5) / columns is at least 0.5 / columns from a whole number, so the line is right for cells below 2^22.
    const line = f32x4.floor(f32x4.div(f32x4.add(cell, half), columns));
    const column = f32x4.sub(cell, f32x4.mul(line, columns));
    x1 = f32x4.mul(f32x4.add(column, f32x4.add(f32x4.mul(xyScale, activate4(xyFn, x1)), bias)), kx);
    y1 = f32x4.mul(f32x4.add(line, f32x4.add(f32x4.mul(xyScale, activate4(xyFn, y1)), bias)), ky);
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

  // Reject boxes.
  const finite = v128.and(v128.and(finite4(x1), finite4(y1)), v128.and(finite4(x2), finite4(y2)));
  let fate = 15 & ~i32x4.bitmask(finite);
  if (flags & FLAG_CLAMP_BEFORE) {
    x1 = clamp4(x1);
    y1 = clamp4(y1);
    x2 = clamp4(x2);
    y2 = clamp4(y2);
    fate |= i32x4.bitmask(v128.or(f32x4.le(x2, x1), f32x4.le(y2, y1))) << 4;
  }

  // Turn columns into rows.
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
