/** Stands in for masks-wasm.ts in `boxwright/masks/ts`, which carries no kernel. */
import type { WasmKind } from "./engine.ts";
import type { MasksEngine } from "./masks.ts";

export const bestMasksKernel = (): WasmKind | null => null;

export function provideMasksKernel(kind: WasmKind): void {
  wasmMasksEngine(kind);
}

export const wasmMasksEngineIn = (): null => null;

export function wasmMasksEngine(kind: WasmKind): MasksEngine {
  throw new Error(
    `engine "${kind}": this entry of the package holds no WebAssembly. Use engine "ts" or "auto", or import boxwright/masks.`,
  );
}
