/** Reads files that the build leaves beside the command, or in build/ and dist/ if this file runs from the sources. */
import { readFileSync } from "node:fs";

/** Returns the first of these files that is there. */
function readFirst(...places: readonly string[]): Uint8Array<ArrayBuffer> {
  for (const place of places) {
    try {
      return new Uint8Array(readFileSync(new URL(place, import.meta.url)));
    } catch {
      // Try the next place.
    }
  }
  const [, name] = /([^/]*)$/.exec(places[0]) as RegExpExecArray;
  throw new Error(`${name}: not found beside the command. Install boxwright again, or run npm run build.`);
}

/**
 * Reads the scalar kernel.
 * @throws Error if it is not there
 */
export const readScalarKernel = (): Uint8Array<ArrayBuffer> =>
  readFirst("./scalar.wasm", "../../build/scalar.wasm");

/**
 * Reads the module that `compile` puts a plan into.
 * @throws Error if it is not there
 */
export const readTemplate = (engine: "simd" | "ts"): string =>
  new TextDecoder().decode(readFirst(`./compiled.${engine}.mjs`, `../../dist/compiled.${engine}.mjs`));
