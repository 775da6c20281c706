/** The WebAssembly engines for pictures. The host owns the memory, as wasm.ts says. */
import { PREPARE_ABI_VERSION } from "../core/prepare-abi.ts";
import type { WasmKind } from "./engine.ts";
import { prepareBinary } from "./prepare-binary.ts";
import type { PrepareEngine, PrepareVerbs } from "./prepare.ts";
import { SideKernel } from "./side-kernel.ts";

const kernel = /* @__PURE__ */ new SideKernel(prepareBinary, "prepareAbiVersion", PREPARE_ABI_VERSION);

/** Hands over a compiled kernel, in runtimes that compile nothing. */
export function providePrepareKernel(kind: WasmKind, module: object): void {
  kernel.provide(kind, module);
}

/** Returns the fastest kernel that this runtime compiles, null if it compiles none. */
export const bestPrepareKernel = (): WasmKind | null => kernel.best();

/** Makes an engine over at least `bytes` bytes of new memory. */
export function wasmPrepareEngine(name: WasmKind, bytes: number): PrepareEngine {
  const { buffer, verbs } = kernel.instantiate(name, bytes);
  const { unpack, resample, emit, prepare } = verbs as PrepareVerbs;
  return { name, buffer, unpack, resample, emit, prepare };
}
