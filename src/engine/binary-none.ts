/** In place of source.ts in `boxwright/wasm`: the caller brings the binaries. */
import type { WasmKind } from "./wasm.ts";

export const modules = new Map<WasmKind, WebAssembly.Module>();

export function kernelSource(kind: WasmKind): never {
  throw new Error(`engine "${kind}": got no binary, expected provideKernel("${kind}", module) before it`);
}
