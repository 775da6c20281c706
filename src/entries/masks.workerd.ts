/** `boxwright/masks` under the condition `workerd`, as workerd.ts. */
import { provideMasksKernel } from "../engine/masks-wasm.ts";
import scalar from "../masks.scalar.wasm";
import simd from "../masks.simd.wasm";

provideMasksKernel("simd", simd);
provideMasksKernel("scalar", scalar);
export * from "./masks.ts";
