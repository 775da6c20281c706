/** The text that a bundle carries kernels as. */

/**
 * Decodes pairs of hexadecimal digits, 0-9 and a-f. In hexadecimal a byte is always the same two letters, so gzip finds
 * what repeats: the kernel takes 14.4 kB of a gzipped bundle, and 19.0 kB in base64. Written out: runtimes before 2025
 * have no `Uint8Array.fromHex`.
 */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (digit(text.charCodeAt(2 * i)) << 4) | digit(text.charCodeAt(2 * i + 1));
  return bytes;
}

const digit = (code: number): number => (code > 57 ? code - 87 : code - 48);
