/**
 * The binaries of the kernel for masks, as binary.ts has those of the decoder. The build puts masks-binary-node.ts
 * or masks-binary-none.ts in this one's place.
 */
import { fromAscii } from "./ascii.ts";
import type { WasmKind } from "./engine.ts";
import { simdText } from "./masks-kernel.ts";

/** Returns the binary of a kernel, or null where this entry has none. Browsers carry the vector build alone. */
export function masksBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return kind === "simd" ? fromAscii(simdText) : null;
}
