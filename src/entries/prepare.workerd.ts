/** `boxwright/prepare` under the condition `workerd`, as workerd.ts. */
import { providePrepareKernel } from "../engine/prepare-wasm.ts";
import scalar from "../prepare.scalar.wasm";
import simd from "../prepare.simd.wasm";

providePrepareKernel("simd", simd);
providePrepareKernel("scalar", scalar);
export * from "./prepare.ts";
