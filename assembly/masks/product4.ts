/** `product` with vector instructions: the sums of `dot` in product.ts, in the same order of additions. */
import { TYPE_F16 } from "../../src/core/abi";
import { value4 } from "../box4";
import { sigmoid4 } from "../exp4";
import { size } from "../value";

/** Returns four neighbouring elements as f32, less the zero point. */
// @ts-ignore: decorator
@inline
function elements4<T>(at: usize, zero: v128): v128 {
  if (isReference<T>()) return value4(TYPE_F16, i32x4.extend_low_i16x8_u(v128.load64_zero(at)), 1, 0);
  else if (isFloat<T>()) return v128.load(at);
  else if (isSigned<T>())
    return f32x4.sub(
      f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v128.load32_zero(at)))),
      zero,
    );
  else
    return f32x4.sub(
      f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(at)))),
      zero,
    );
}

/** Returns `sum` + `by` * the four elements at `at`. */
// @ts-ignore: decorator
@inline
function add4<T>(sum: v128, by: v128, at: usize, zero: v128): v128 {
  return f32x4.add(sum, f32x4.mul(by, elements4<T>(at, zero)));
}

/** Writes a row of at least four logits of planar prototypes (NCHW): the pixels of a prototype are neighbours. */
export function planes4<T>(
  from: usize,
  plane: usize,
  coefficients: usize,
  count: i32,
  zero: f32,
  to: usize,
  width: i32,
): void {
  const zeros = f32x4.splat(zero);
  let x = 0;
  for (; x + 16 <= width; x += 16)
    sixteen<T>(from + <usize>x * size<T>(), plane, coefficients, count, zeros, to + (x << 2));
  for (; x < width; x += 4) {
    // The last vector overlaps the one before it.
    if (x + 4 > width) x = width - 4;
    four<T>(from + <usize>x * size<T>(), plane, coefficients, count, zeros, to + (x << 2));
  }
}

/**
 * Writes sixteen logits: for f32, one cache line of every plane. Computes two of the four sums at a time: all four need
 * 16 registers, all that x64 has, and the operands need some too. Reads a whole line before the next plane: planes are
 * often a multiple of 4 kB apart, so their lines fall into the same cache set and evict each other.
 */
// @ts-ignore: decorator
@inline
function sixteen<T>(from: usize, plane: usize, coefficients: usize, count: i32, zero: v128, to: usize): void {
  for (let k = 0; k < 4; k += 2) {
    let a0 = f32x4.splat(0);
    let a1 = a0;
    let a2 = a0;
    let a3 = a0;
    let b0 = a0;
    let b1 = a0;
    let b2 = a0;
    let b3 = a0;
    let c = coefficients + (k << 2);
    let p = from + <usize>k * plane;
    let m = k;
    for (; m + 1 < count; m += 4, c += 16, p += 4 * plane) {
      const first = v128.load32_splat(c);
      a0 = add4<T>(a0, first, p, zero);
      a1 = add4<T>(a1, first, p + 4 * size<T>(), zero);
      a2 = add4<T>(a2, first, p + 8 * size<T>(), zero);
      a3 = add4<T>(a3, first, p + 12 * size<T>(), zero);
      const second = v128.load32_splat(c, 4);
      const q = p + plane;
      b0 = add4<T>(b0, second, q, zero);
      b1 = add4<T>(b1, second, q + 4 * size<T>(), zero);
      b2 = add4<T>(b2, second, q + 8 * size<T>(), zero);
      b3 = add4<T>(b3, second, q + 12 * size<T>(), zero);
    }
    if (m < count) {
      const first = v128.load32_splat(c);
      a0 = add4<T>(a0, first, p, zero);
      a1 = add4<T>(a1, first, p + 4 * size<T>(), zero);
      a2 = add4<T>(a2, first, p + 8 * size<T>(), zero);
      a3 = add4<T>(a3, first, p + 12 * size<T>(), zero);
    }
    a0 = f32x4.add(a0, b0);
    a1 = f32x4.add(a1, b1);
    a2 = f32x4.add(a2, b2);
    a3 = f32x4.add(a3, b3);
    if (k == 2) {
      a0 = f32x4.add(v128.load(to), a0);
      a1 = f32x4.add(v128.load(to, 16), a1);
      a2 = f32x4.add(v128.load(to, 32), a2);
      a3 = f32x4.add(v128.load(to, 48), a3);
    }
    v128.store(to, a0);
    v128.store(to, a1, 16);
    v128.store(to, a2, 32);
    v128.store(to, a3, 48);
  }
}

/** Writes four logits. */
// @ts-ignore: decorator
@inline
function four<T>(from: usize, plane: usize, coefficients: usize, count: i32, zero: v128, to: usize): void {
  let s0 = f32x4.splat(0);
  let s1 = s0;
  let s2 = s0;
  let s3 = s0;
  let c = coefficients;
  let p = from;
  let m = 0;
  for (; m + 4 <= count; m += 4, c += 16, p += plane) {
    s0 = add4<T>(s0, v128.load32_splat(c), p, zero);
    p += plane;
    s1 = add4<T>(s1, v128.load32_splat(c, 4), p, zero);
    p += plane;
    s2 = add4<T>(s2, v128.load32_splat(c, 8), p, zero);
    p += plane;
    s3 = add4<T>(s3, v128.load32_splat(c, 12), p, zero);
  }
  if (m < count) s0 = add4<T>(s0, v128.load32_splat(c), p, zero);
  if (m + 1 < count) s1 = add4<T>(s1, v128.load32_splat(c, 4), p + plane, zero);
  if (m + 2 < count) s2 = add4<T>(s2, v128.load32_splat(c, 8), p + 2 * plane, zero);
  v128.store(to, f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3)));
}

/**
 * Writes a row of at least four logits of prototypes whose channels are neighbours (NHWC). Their count is a multiple of
 * four. The lanes of a vector are the four sums of one pixel.
 */
export function pixels4<T>(
  from: usize,
  column: usize,
  coefficients: usize,
  count: i32,
  zero: f32,
  to: usize,
  width: i32,
): void {
  const zeros = f32x4.splat(zero);
  for (let x = 0; x < width; x += 4) {
    if (x + 4 > width) x = width - 4;
    let p = from + <usize>x * column;
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    let d = a;
    for (let m = 0; m < count; m += 4, p += 4 * size<T>()) {
      const by = v128.load(coefficients + (m << 2));
      a = add4<T>(a, by, p, zeros);
      b = add4<T>(b, by, p + column, zeros);
      c = add4<T>(c, by, p + 2 * column, zeros);
      d = add4<T>(d, by, p + 3 * column, zeros);
    }
    v128.store(to + (x << 2), pairs(pairs(a, b), pairs(c, d)));
  }
}

/** Returns four sums of neighbouring lanes: a0 + a1, a2 + a3, b0 + b1, b2 + b3. */
// @ts-ignore: decorator
@inline
function pairs(a: v128, b: v128): v128 {
  return f32x4.add(v128.shuffle<u32>(a, b, 0, 2, 4, 6), v128.shuffle<u32>(a, b, 1, 3, 5, 7));
}

/** Replaces logits of a row by probabilities, four at a time. Returns the count done; the caller does the rest. */
export function sigmoids4(row: usize, width: i32): i32 {
  let x = 0;
  for (; x + 4 <= width; x += 4) v128.store(row + (x << 2), sigmoid4(v128.load(row + (x << 2))));
  return x;
}
