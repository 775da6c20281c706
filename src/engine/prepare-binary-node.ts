/** The binaries of the kernel for pictures in Node: both lie beside the built file, as binary-node.ts says. */
import { fileBeside } from "./beside.ts";
import type { WasmKind } from "./engine.ts";
import { prepareBinary as embeddedBinary } from "./prepare-binary.ts";
import { byteLengths } from "./prepare-kernel.ts";

/** Returns the binary of a kernel, or null where neither a file nor the text has it. */
export function prepareBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return fileBeside(`prepare.${kind}.wasm`, byteLengths[kind]) ?? embeddedBinary(kind);
}
