import { readFileSync } from "node:fs";

/**
 * Reads the scalar kernel: beside the built file, or in build/ if this file runs from the sources.
 * @throws Error if neither is there
 */
export function readScalarKernel(): Uint8Array<ArrayBuffer> {
  for (const place of ["./scalar.wasm", "../../build/scalar.wasm"]) {
    try {
      return new Uint8Array(readFileSync(new URL(place, import.meta.url)));
    } catch {
      // Try the next place.
    }
  }
  throw new Error(
    "scalar.wasm: not found beside the command. Install boxwright again, or run npm run build.",
  );
}
