/** Bytes of pixels. */

/** Adding this number to an f32 below 2^22, and subtracting it again, rounds to the nearest integer, halves to even. */
const ROUND_32: f32 = 8388608;

/** Returns x, clamped to 0..255. */
// @ts-ignore: decorator
@inline
export function clampByte(x: i32): i32 {
  return x < 0 ? 0 : x > 255 ? 255 : x;
}

/** Returns the pixel of three values, rounded to even and clamped: cubic weights may give values outside 0..255. */
// @ts-ignore: decorator
@inline
export function roundPixel(r: f32, g: f32, b: f32): i32 {
  return roundByte(r) | (roundByte(g) << 8) | (roundByte(b) << 16);
}

// @ts-ignore: decorator
@inline
function roundByte(x: f32): i32 {
  return clampByte(<i32>(x + ROUND_32 - ROUND_32));
}
