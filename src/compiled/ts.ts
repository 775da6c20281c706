/** Template like simd.ts but without WebAssembly, for React Native and workers that cannot compile a kernel. */
import { memoryOf } from "../core/memory.ts";
import { tsEngine } from "../engine/ts/index.ts";
import { type EmbeddedPlan, decoderOf } from "./decode.ts";

declare const BOXWRIGHT_PLAN: EmbeddedPlan;

export const decode = /* @__PURE__ */ decoderOf(BOXWRIGHT_PLAN, (bytes) =>
  tsEngine(memoryOf(new ArrayBuffer(Math.ceil(bytes / 16) * 16))),
);
