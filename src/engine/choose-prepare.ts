/** Chooses an engine for pictures and makes it. */
import { ENGINE_NAMES, type EngineName } from "../core/engine-name.ts";
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import { bestPrepareKernel, wasmPrepareEngine } from "./prepare-wasm.ts";
import type { PrepareEngine } from "./prepare.ts";
import { tsPrepareEngine } from "./ts/prepare/index.ts";

/** Makes an engine over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makePrepareEngine(wanted: EngineName | "auto", bytes: number): PrepareEngine {
  if (wanted !== "auto" && !ENGINE_NAMES.includes(wanted))
    refuse("engine", show(wanted), '"auto", "simd", "scalar" or "ts"', RangeError);
  const kind = wanted === "auto" ? bestPrepareKernel() : wanted;
  if (kind === null || kind === "ts") return tsPrepareEngine(new ArrayBuffer(Math.ceil(bytes / 16) * 16));
  return wasmPrepareEngine(kind, bytes);
}
