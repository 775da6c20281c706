/** Stands in for prepare-wasm.ts in `boxwright/prepare/ts`, which carries no kernel. */
import type { WasmKind } from "./engine.ts";
import type { PrepareEngine } from "./prepare.ts";

export const bestPrepareKernel = (): WasmKind | null => null;

export function providePrepareKernel(kind: WasmKind): void {
  wasmPrepareEngine(kind);
}

export function wasmPrepareEngine(kind: WasmKind): PrepareEngine {
  throw new Error(
    `engine "${kind}": this entry of the package holds no WebAssembly. Use engine "ts" or "auto", or import boxwright/prepare.`,
  );
}
