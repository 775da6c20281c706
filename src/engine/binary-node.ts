/**
 * The kernels' binaries in Node: both lie beside the built file and are read from disk. A bundle has no such files
 * beside it and falls back to the vector build that it carries as text.
 */
import { fileBeside } from "./beside.ts";
import { kernelBinary as embeddedBinary } from "./binary.ts";
import type { WasmKind } from "./engine.ts";
import { byteLengths } from "./kernel.ts";

/** Returns the binary of a kernel, or null where neither a file nor the text has it. */
export function kernelBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return fileBeside(`${kind}.wasm`, byteLengths[kind]) ?? embeddedBinary(kind);
}
