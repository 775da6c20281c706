/** In place of source.ts for runtimes that compile nothing at run time: they hand over the module of an imported .wasm file. */
import scalar from "./scalar.wasm";
import simd from "./simd.wasm";
import type { KernelSource } from "./source.ts";
import type { WasmKind } from "./wasm.ts";

export function kernelSource(kind: WasmKind): KernelSource {
  return kind === "simd" ? simd : scalar;
}
