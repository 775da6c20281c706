/**
 * The kernels' binaries as this entry of the package carries them. The build puts another file in this one's place for
 * Node (binary-node.ts) and for entries without a binary (binary-none.ts); all three export `kernelBinary`.
 */
import type { WasmKind } from "./engine.ts";
import { simdBase64 } from "./kernel.ts";

/** Returns the binary of a kernel, or null where this entry has none. Browsers carry the vector build alone. */
export function kernelBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return kind === "simd" ? fromBase64(simdBase64) : null;
}

/**
 * Decodes base64 without line breaks. Written out: not every runtime has `atob`, and `Uint8Array.from(atob(text), f)`
 * takes a third longer.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let i = 0, at = 0; i < text.length; i += 4, at += 3) {
    const group =
      (sextet(text.charCodeAt(i)) << 18) |
      (sextet(text.charCodeAt(i + 1)) << 12) |
      (sextet(text.charCodeAt(i + 2)) << 6) |
      sextet(text.charCodeAt(i + 3));
    // Writes past the end, which the padding leaves over, are ignored.
    bytes[at] = group >> 16;
    bytes[at + 1] = group >> 8;
    bytes[at + 2] = group;
  }
  return bytes;
}

/** Returns the six bits of a base64 digit: A-Z, a-z, 0-9, + and /. The padding character gives 0. */
function sextet(code: number): number {
  if (code >= 97) return code - 71;
  if (code >= 65) return code - 65;
  if (code >= 48) return code === 61 ? 0 : code + 4;
  return code === 43 ? 62 : 63;
}
