/** The sources carry the vector build alone, as a browser does. Tests hand over the scalar build too. */
import { readFileSync } from "node:fs";
import { provideKernel } from "../../src/engine/wasm.ts";

provideKernel("scalar", readFileSync(new URL("../../build/scalar.wasm", import.meta.url)));
