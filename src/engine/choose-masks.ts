/** Chooses an engine for masks and makes it. */
import { ENGINE_NAMES, type EngineName } from "../core/engine-name.ts";
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import { bestMasksKernel, wasmMasksEngine, wasmMasksEngineIn } from "./masks-wasm.ts";
import type { Engine } from "./engine.ts";
import type { MasksEngine } from "./masks.ts";
import { tsMasksEngine } from "./ts/masks/index.ts";

/** Makes an engine over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makeMasksEngine(wanted: EngineName | "auto", bytes: number): MasksEngine {
  if (wanted !== "auto" && !ENGINE_NAMES.includes(wanted))
    refuse("engine", show(wanted), '"auto", "simd", "scalar" or "ts"', RangeError);
  const kind = wanted === "auto" ? bestMasksKernel() : wanted;
  if (kind === null || kind === "ts") return tsMasksEngine(new ArrayBuffer(Math.ceil(bytes / 16) * 16));
  return wasmMasksEngine(kind, bytes);
}

/** Makes an engine over a decoder's memory: of the decoder's kind, or `ts` where that kind is not at hand. */
export function masksEngineIn({ name, memory, wasm }: Engine): MasksEngine {
  const engine = name !== "ts" && wasm ? wasmMasksEngineIn(name, wasm) : null;
  return engine ?? tsMasksEngine(memory.buffer);
}
