/** Reads files that the build puts beside the command, or into build/ and dist/ if the sources run directly. */
import { readFileSync } from "node:fs";

/** Returns the first file that exists. */
function readFirst(...places: readonly string[]): Uint8Array<ArrayBuffer> {
  for (const place of places) {
    try {
      return new Uint8Array(readFileSync(new URL(place, import.meta.url)));
    } catch {
      // Try the next path.
    }
  }
  const [, name] = /([^/]*)$/.exec(places[0]) as RegExpExecArray;
  throw new Error(`${name}: not found beside the command. Install boxwright again, or run npm run build.`);
}

/** Reads the scalar kernel. Throws if it is not there. */
export const readScalarKernel = (): Uint8Array<ArrayBuffer> =>
  readFirst("./scalar.wasm", "../../build/scalar.wasm");

/** Reads the module into which `compile` puts a plan. Throws if it is not there. */
export const readTemplate = (engine: "simd" | "ts"): string =>
  new TextDecoder().decode(readFirst(`./compiled.${engine}.mjs`, `../../dist/compiled.${engine}.mjs`));
