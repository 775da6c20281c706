/** The WebAssembly engines for masks. The host owns the memory, as wasm.ts says. */
import { MASKS_ABI_VERSION } from "../core/masks-abi.ts";
import type { WasmKind } from "./engine.ts";
import { masksBinary } from "./masks-binary.ts";
import type { MasksEngine, MasksVerbs } from "./masks.ts";
import { SideKernel } from "./side-kernel.ts";

const kernel = /* @__PURE__ */ new SideKernel(masksBinary, "masksAbiVersion", MASKS_ABI_VERSION);

/** Hands over a compiled kernel, in runtimes that compile nothing. */
export function provideMasksKernel(kind: WasmKind, module: object): void {
  kernel.provide(kind, module);
}

/** Returns the fastest kernel that this runtime compiles, null if it compiles none. */
export const bestMasksKernel = (): WasmKind | null => kernel.best();

/** Makes an engine over at least `bytes` bytes of new memory. */
export const wasmMasksEngine = (name: WasmKind, bytes: number): MasksEngine => engineOver(name, bytes);

/** Makes an engine over the memory of a decoder. `null`: its kernel is not at hand. */
export function wasmMasksEngineIn(name: WasmKind, memory: object): MasksEngine | null {
  try {
    return engineOver(name, memory as WebAssembly.Memory);
  } catch {
    return null;
  }
}

function engineOver(name: WasmKind, over: number | WebAssembly.Memory): MasksEngine {
  const { buffer, verbs } = kernel.instantiate(name, over);
  const { product, cut, resize, paint } = verbs as MasksVerbs;
  return { name, buffer, product, cut, resize, paint };
}
