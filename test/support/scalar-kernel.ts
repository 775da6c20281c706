/** The sources carry the vector builds alone, as a browser does. Tests hand over the scalar builds too. */
import { readFileSync } from "node:fs";
import { provideMasksKernel } from "../../src/engine/masks-wasm.ts";
import { providePrepareKernel } from "../../src/engine/prepare-wasm.ts";
import { provideKernel } from "../../src/engine/wasm.ts";

const read = (name: string): Buffer<ArrayBuffer> =>
  readFileSync(new URL(`../../build/${name}`, import.meta.url)) as Buffer<ArrayBuffer>;

provideKernel("scalar", read("scalar.wasm"));
providePrepareKernel("scalar", new WebAssembly.Module(read("prepare.scalar.wasm")));
provideMasksKernel("scalar", new WebAssembly.Module(read("masks.scalar.wasm")));
