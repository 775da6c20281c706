/** The binaries of the kernel for masks in Node: both lie beside the built file, as binary-node.ts says. */
import { fileBeside } from "./beside.ts";
import type { WasmKind } from "./engine.ts";
import { masksBinary as embeddedBinary } from "./masks-binary.ts";
import { byteLengths } from "./masks-kernel.ts";

/** Returns the binary of a kernel, or null where neither a file nor the text has it. */
export function masksBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return fileBeside(`masks.${kind}.wasm`, byteLengths[kind]) ?? embeddedBinary(kind);
}
