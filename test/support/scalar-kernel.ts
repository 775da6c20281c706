/** Bundles carry the vector builds alone, as a browser does. Tests hand over the scalar builds too. */
import { readFileSync } from "node:fs";
import { provideKernel } from "../../src/kernels/kernel.ts";

for (const name of ["scalar.wasm", "prepare.scalar.wasm", "masks.scalar.wasm"])
  provideKernel("scalar", readFileSync(new URL(`../../build/${name}`, import.meta.url)));
