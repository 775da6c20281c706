/** `boxwright/plan` under the condition `workerd`, as workerd.ts. */
import { provideKernel } from "../engine/wasm.ts";
import scalar from "../scalar.wasm";
import simd from "../simd.wasm";

provideKernel("simd", simd);
provideKernel("scalar", scalar);
export * from "./plan.ts";
