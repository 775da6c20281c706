import { masks as binary } from "#kernels";
import type { EngineName } from "../core/engine-name.ts";
import { Kernel } from "../kernels/kernel.ts";
import { checkEngine, choose, plainMemory } from "./choose.ts";
import type { Engine } from "./engine.ts";
import type { MasksEngine, MasksKernelExports } from "./masks.ts";
import { tsMasksEngine } from "./ts/masks/index.ts";

const masksKernel = /* @__PURE__ */ new Kernel("masks", binary);

/** Makes an engine for masks over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makeMasksEngine(wanted: EngineName | "auto", bytes: number): MasksEngine {
  checkEngine(wanted);
  const name = choose(masksKernel, wanted);
  return name === "ts" ? tsMasksEngine(plainMemory(bytes)) : wasmMasksEngine(name, bytes);
}

/** Makes an engine for masks over a decoder's memory: the decoder's engine, or `ts` if that one cannot run. */
export function masksEngineIn({ name, memory, wasm }: Engine): MasksEngine {
  if (name !== "ts" && wasm)
    try {
      return wasmMasksEngine(name, wasm as WebAssembly.Memory);
    } catch {
      // Go on with `ts`.
    }
  return tsMasksEngine(memory.buffer);
}

function wasmMasksEngine(name: "simd" | "scalar", over: number | WebAssembly.Memory): MasksEngine {
  const { memory, exports } = masksKernel.instantiate(name, over);
  const { product, cut, resize, paint } = exports as MasksKernelExports;
  return { name, buffer: memory.buffer, product, cut, resize, paint };
}
