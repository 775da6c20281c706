/**
 * The kernels' binaries in Node: both lie beside the built file and are read from disk. A bundle has no such files
 * beside it and falls back to the vector build that it carries as text.
 */
import { readFileSync } from "node:fs";
import { kernelBinary as embeddedBinary } from "./binary.ts";
import type { WasmKind } from "./engine.ts";
import { byteLengths } from "./kernel.ts";

/** Returns the binary of a kernel, or null where neither a file nor the text has it. */
export function kernelBinary(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  return fileBeside(kind) ?? embeddedBinary(kind);
}

function fileBeside(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  // Deno takes this entry too, and would ask its user for leave to read.
  if ("Deno" in globalThis) return null;
  try {
    // Not `new URL(name, import.meta.url)`: bundlers take that for an asset to carry along.
    const file = readFileSync(new URL(import.meta.url.replace(/[^/]*$/, `${kind}.wasm`)));
    // A bundle may stand beside a file of the same name that is another package's.
    return file.length === byteLengths[kind] ? new Uint8Array(file) : null;
  } catch {
    return null;
  }
}
