/**
 * The binaries of the kernel for pictures, as binary.ts has those of the decoder. The build puts prepare-binary-node.ts
 * or prepare-binary-none.ts in this one's place.
 */
import { fromAscii } from "./ascii.ts";
import type { WasmKind } from "./engine.ts";
import { simdText } from "./prepare-kernel.ts";

/** Returns the binary of a kernel, or null where this entry has none. Browsers carry the vector build alone. */
export function prepareBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return kind === "simd" ? fromAscii(simdText) : null;
}
