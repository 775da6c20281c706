/** Files that lie beside the built file, in Node. */
import { readFileSync } from "node:fs";

/** Returns the file `name` beside the built file if it is as long as is expected, else null. */
export function fileBeside(name: string, length: number): Uint8Array<ArrayBuffer> | null {
  // Deno takes this entry too, and would ask its user for leave to read.
  if ("Deno" in globalThis) return null;
  try {
    // Not `new URL(name, import.meta.url)`: bundlers take that for an asset to carry along.
    const file = readFileSync(new URL(import.meta.url.replace(/[^/]*$/, name)));
    // A bundle may stand beside a file of the same name that is another package's.
    return file.length === length ? new Uint8Array(file) : null;
  } catch {
    return null;
  }
}
