/** In place of wasm.ts in `boxwright/ts`: neither the kernel nor the loader comes along. */
import type { Engine } from "./choose.ts";
import type { WasmKind } from "./wasm.ts";

export function hasWebAssembly(): boolean {
  return false;
}

export function hasSimd(): boolean {
  return false;
}

export function compileKernel(kind: WasmKind): never {
  throw new Error(
    `engine "${kind}": got an entry that holds no WebAssembly, expected engine "ts" or "auto", or an import of boxwright or boxwright/plan`,
  );
}

export async function compileKernelAsync(kind: WasmKind): Promise<void> {
  compileKernel(kind);
}

export function wasmEngine(name: WasmKind): Engine {
  return compileKernel(name);
}
