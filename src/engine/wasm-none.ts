/** Stands in for wasm.ts in `boxwright/ts` and `boxwright/plan/ts`, which carry neither a kernel nor the loader. */
import type { Engine, WasmKind } from "./engine.ts";

export const hasWebAssembly = (): boolean => false;
export const hasKernel = (): boolean => false;

export function provideKernel(kind: WasmKind, _kernel: object): void {
  compileKernel(kind);
}

export function compileKernel(kind: WasmKind): never {
  throw new Error(
    `engine "${kind}": this entry of the package holds no WebAssembly. Use engine "ts" or "auto", or import boxwright or boxwright/plan.`,
  );
}

export async function compileKernelAsync(kind: WasmKind): Promise<void> {
  compileKernel(kind);
}

export const wasmEngine = (kind: WasmKind): Engine => compileKernel(kind);
