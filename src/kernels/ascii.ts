/** Decodes the text that contains a kernel in a bundle. `scripts/build-kernel.mjs` writes this text. */
import type { WasmKind } from "./kernel.ts";

/**
 * Decodes text in which one or two characters stand for a byte. The 91 characters are "#" to "~" without the backslash,
 * with the values 0 to 90 in this order. For n = (byte + 3) modulo 256, the text is:
 *
 *     n            text
 *     0 to 88      one character of value n + 2
 *     89 to 255    two characters: n - 89 as two digits in base 91. The first digit is 0 or 1
 *
 * Adding 3 gives one character to 0xfd, the prefix of vector instructions. Most bytes take one character, and equal
 * bytes always give equal text, so that gzip finds repetitions:
 * the kernel takes 13.5 kB of a gzipped bundle, 14.7 kB in hexadecimal, 19.4 kB in base64.
 */
export function fromAscii(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const first = digit(text.charCodeAt(i));
    // Do not mask: the Uint8Array keeps the lower 8 bits, also of -3 to -1.
    bytes[length++] = (first < 2 ? 89 + first * 91 + digit(text.charCodeAt(++i)) : first - 2) - 3;
  }
  return bytes.slice(0, length);
}

/** Returns a function that decodes the vector build from `text`, and returns null for the scalar build. */
export const carriedBy =
  (text: string) =>
  (kind: WasmKind): Uint8Array<ArrayBuffer> | null =>
    kind === "simd" ? fromAscii(text) : null;

const digit = (code: number): number => code - (code > 92 ? 36 : 35);
