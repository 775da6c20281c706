/**
 * The function `product`: coefficients times prototypes. A logit is the total of four sums, one for each remainder of
 * the channel index divided by four. If the channels of a pixel are neighbours, the sums are the four lanes of a
 * vector. If not, they are four independent chains of additions. The order of additions decides the last bit, so all
 * engines keep it.
 *
 * Only here: element, windowOf. Generics over element types; the TypeScript engine has a table of functions.
 */
import { TYPE_F16, TYPE_F32, TYPE_U8 } from "../../src/core/abi";
import {
  M_COEFFICIENTS,
  M_COLUMN,
  M_COUNT,
  M_HEIGHT,
  M_LOGITS,
  M_LOGITS_ROW,
  M_PLANE,
  M_PROTOTYPES,
  M_ROW,
  M_SIGMOID,
  M_TYPE,
  M_WIDTH,
  M_ZERO,
} from "../../src/core/masks-abi";
import { sigmoid } from "../exp";
import { f16, halfToFloat, size } from "../value";
import { flt, int, ptr } from "../word";
import { planes4, pixels4, sigmoids4 } from "./product4";

/** Writes the logits of the window, or its probabilities if M_SIGMOID is 1. */
export function product(job: usize): void {
  const type = int(job, M_TYPE);
  if (type == TYPE_F32) windowOf<f32>(job);
  else if (type == TYPE_F16) windowOf<f16>(job);
  else if (type == TYPE_U8) windowOf<u8>(job);
  else windowOf<i8>(job);
  if (int(job, M_SIGMOID) == 1) activate(job);
}

function windowOf<T>(job: usize): void {
  const width = int(job, M_WIDTH);
  const height = int(job, M_HEIGHT);
  const count = int(job, M_COUNT);
  const coefficients = ptr(job, M_COEFFICIENTS);
  const zero = flt(job, M_ZERO);
  const column = ptr(job, M_COLUMN);
  const plane = ptr(job, M_PLANE);
  for (let y = 0; y < height; y++) {
    const from = ptr(job, M_PROTOTYPES) + <usize>y * ptr(job, M_ROW);
    const to = ptr(job, M_LOGITS) + <usize>y * ptr(job, M_LOGITS_ROW);
    if (ASC_FEATURE_SIMD && width >= 4) {
      if (column == size<T>()) {
        planes4<T>(from, plane, coefficients, count, zero, to, width);
        continue;
      }
      if (plane == size<T>() && (count & 3) == 0) {
        pixels4<T>(from, column, coefficients, count, zero, to, width);
        continue;
      }
    }
    for (let x = 0; x < width; x++)
      store<f32>(to + (x << 2), dot<T>(from + <usize>x * column, plane, coefficients, count, zero));
  }
}

/** Returns the logit of one pixel. */
function dot<T>(from: usize, plane: usize, coefficients: usize, count: i32, zero: f32): f32 {
  let s0: f32 = 0;
  let s1: f32 = 0;
  let s2: f32 = 0;
  let s3: f32 = 0;
  let c = coefficients;
  let p = from;
  let m = 0;
  for (; m + 4 <= count; m += 4, c += 16) {
    s0 += load<f32>(c) * element<T>(p, zero);
    p += plane;
    s1 += load<f32>(c, 4) * element<T>(p, zero);
    p += plane;
    s2 += load<f32>(c, 8) * element<T>(p, zero);
    p += plane;
    s3 += load<f32>(c, 12) * element<T>(p, zero);
    p += plane;
  }
  if (m < count) s0 += load<f32>(c) * element<T>(p, zero);
  if (m + 1 < count) s1 += load<f32>(c, 4) * element<T>(p + plane, zero);
  if (m + 2 < count) s2 += load<f32>(c, 8) * element<T>(p + 2 * plane, zero);
  return s0 + s1 + (s2 + s3);
}

/** Returns the element at `at` less the zero point. The coefficients are already multiplied by the scale. */
// @ts-ignore: decorator
@inline
function element<T>(at: usize, zero: f32): f32 {
  if (isReference<T>()) return halfToFloat(<u32>load<u16>(at));
  else if (isFloat<T>()) return <f32>load<T>(at);
  else return <f32>load<T>(at) - zero;
}

/** Replaces the logits of the window by probabilities. */
function activate(job: usize): void {
  const width = int(job, M_WIDTH);
  const height = int(job, M_HEIGHT);
  for (let y = 0; y < height; y++) {
    const row = ptr(job, M_LOGITS) + <usize>y * ptr(job, M_LOGITS_ROW);
    let x = ASC_FEATURE_SIMD ? sigmoids4(row, width) : 0;
    for (; x < width; x++) store<f32>(row + (x << 2), <f32>sigmoid(load<f32>(row + (x << 2))));
  }
}
