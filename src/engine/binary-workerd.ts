/** In place of source.ts for runtimes that compile nothing at run time: they hand over the module of an imported .wasm file. */
import scalar from "../scalar.wasm";
import simd from "../simd.wasm";
import type { WasmKind } from "./wasm.ts";

export const modules = new Map<WasmKind, WebAssembly.Module>([
  ["simd", simd],
  ["scalar", scalar],
]);

export function kernelSource(kind: WasmKind): never {
  throw new Error(`engine "${kind}": got no binary, expected an imported module`);
}
