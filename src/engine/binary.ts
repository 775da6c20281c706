/**
 * The kernels' binaries as this entry of the package carries them. The build puts another file in this one's place for
 * Node (binary-node.ts) and for entries without a binary (binary-none.ts); all three export `kernelBinary`.
 */
import type { WasmKind } from "./engine.ts";
import { fromAscii } from "./ascii.ts";
import { simdText } from "./kernel.ts";

/** Returns the binary of a kernel, or null where this entry has none. Browsers carry the vector build alone. */
export function kernelBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return kind === "simd" ? fromAscii(simdText) : null;
}
