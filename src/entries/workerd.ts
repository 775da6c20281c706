/**
 * `boxwright` under the condition `workerd`: such runtimes compile nothing, they import the compiled module of a .wasm
 * file.
 */
import { provideKernel } from "../engine/wasm.ts";
import scalar from "../scalar.wasm";
import simd from "../simd.wasm";

provideKernel("simd", simd);
provideKernel("scalar", scalar);
export * from "./index.ts";
