/** Template of the module that `boxwright compile --out detector.mjs` writes, with the vector kernel. */
import { decodeText } from "kernel-data/decode";
import { memoryOf } from "../core/memory.ts";
import type { KernelExports } from "../engine/engine.ts";
import { fromAscii } from "../kernels/ascii.ts";
import { type EmbeddedPlan, type SmallEngine, decoderOf } from "./decode.ts";

declare const BOXWRIGHT_PLAN: EmbeddedPlan;

function makeEngine(bytes: number): SmallEngine {
  const pages = Math.ceil(bytes / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const kernel = new WebAssembly.Instance(new WebAssembly.Module(fromAscii(decodeText)), { env: { memory } });
  return { memory: memoryOf(memory.buffer), decode: (kernel.exports as unknown as KernelExports).decode };
}

export const decode = /* @__PURE__ */ decoderOf(BOXWRIGHT_PLAN, makeEngine);
