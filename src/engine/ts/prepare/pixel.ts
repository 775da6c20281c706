/** Bytes of pixels. Twin of `assembly/prepare/pixel.ts`. */
const fround = Math.fround;

/** Adding it to an f32 below 2^22, and subtracting it, rounds to the nearest integer, halves to even. */
const ROUND_32 = 8388608;

/** Returns the nearest of 0..255. */
export function clampByte(x: number): number {
  return x < 0 ? 0 : x > 255 ? 255 : x;
}

/** Returns the pixel of three values in 0..255, rounded to even. */
export function roundPixel(r: number, g: number, b: number): number {
  return (
    (fround(r + ROUND_32) - ROUND_32) |
    ((fround(g + ROUND_32) - ROUND_32) << 8) |
    ((fround(b + ROUND_32) - ROUND_32) << 16)
  );
}
