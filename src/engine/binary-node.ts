/**
 * In place of source.ts in Node: the binaries lie beside the built file and are read, which takes a tenth of a millisecond where
 * unpacking takes twenty in a fresh process. Where they are not there (a bundle, say) or may not be read, the text is unpacked.
 */
import { readFileSync } from "node:fs";
import { ends } from "./kernel.ts";
import { kernelSource as unpackedSource, modules } from "./binary.ts";
import type { WasmKind } from "./wasm.ts";

export { modules };

const LENGTHS = { simd: ends.simd, scalar: ends.scalar - ends.simd };

export function kernelSource(kind: WasmKind): Uint8Array<ArrayBuffer> {
  return besideThisFile(kind) ?? unpackedSource(kind);
}

function besideThisFile(kind: WasmKind): Uint8Array<ArrayBuffer> | null {
  // Deno, which takes this entry too, would ask its user for leave to read
  if ("Deno" in globalThis) return null;
  try {
    // not new URL(name, import.meta.url): bundlers take that for an asset to carry along
    const file = readFileSync(new URL(import.meta.url.replace(/[^/]*$/, `${kind}.wasm`)));
    // a bundle may stand beside a file of that name that is another's
    return file.length === LENGTHS[kind] ? new Uint8Array(file) : null;
  } catch {
    return null;
  }
}
