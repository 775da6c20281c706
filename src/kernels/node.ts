/** A kernel in Node: both builds lie beside the built file. A bundle has no such files, and falls back to the text. */
import { readFileSync } from "node:fs";
import { byteLengths, prefix } from "kernel-data";
import type { WasmKind } from "./kernel.ts";
import { binaryOf as textOf } from "./text.ts";

/** Returns the binary of a build, or null where neither a file nor the text has it. */
export function binaryOf(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  try {
    // Not `new URL(name, import.meta.url)`: bundlers take that for an asset to carry along.
    const file = readFileSync(new URL(import.meta.url.replace(/[^/]*$/, `${prefix}${kind}.wasm`)));
    // A bundle may stand beside a file of the same name that is another package's.
    if (file.length === byteLengths[kind]) return new Uint8Array(file);
  } catch {
    // No such file.
  }
  return textOf(kind);
}
