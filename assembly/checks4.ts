/** The loop of checks.ts with vectors. */

/**
 * Returns the index of the first block of 16 floats, from index `i` on, that has a value outside low..high. If there is
 * none, returns the index of the remaining values.
 */
export function within4(at: usize, i: i32, n: i32, low: f32, high: f32): i32 {
  const lows = f32x4.splat(low);
  const highs = f32x4.splat(high);
  let p = at + ((<usize>i) << 2);
  for (; i + 16 <= n; i += 16) {
    const a = inside(v128.load(p), lows, highs);
    const b = inside(v128.load(p, 16), lows, highs);
    const c = inside(v128.load(p, 32), lows, highs);
    const d = inside(v128.load(p, 48), lows, highs);
    if (!i32x4.all_true(v128.and(v128.and(a, b), v128.and(c, d)))) return i;
    p += 64;
  }
  return i;
}

/** Returns a mask of the lanes in low..high. */
// @ts-ignore: decorator
@inline
function inside(x: v128, lows: v128, highs: v128): v128 {
  return v128.and(f32x4.ge(x, lows), f32x4.le(x, highs));
}
