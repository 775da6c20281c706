/** Converts values to the bytes of pixels. Twin of `assembly/prepare/pixel.ts`. */
const fround = Math.fround;

/** An f32 below 2^22 is rounded to the nearest integer, halves to even, if this is added and subtracted again. */
const ROUND_32 = 8388608;

/** Returns a value clamped to 0..255. */
export function clampByte(x: number): number {
  return x < 0 ? 0 : x > 255 ? 255 : x;
}

/**
 * Returns the pixel of three values, rounded to even. Clamps them, since cubic weights may give values outside 0..255.
 */
export function roundPixel(r: number, g: number, b: number): number {
  return roundByte(r) | (roundByte(g) << 8) | (roundByte(b) << 16);
}

function roundByte(x: number): number {
  return clampByte(fround(x + ROUND_32) - ROUND_32);
}
