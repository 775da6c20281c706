/** Room 4: what an engine is, and the choice of one. */
import { tsEngine } from "./ts/index.ts";
import { refuse } from "../core/errors.ts";
import { type Memory, checkSize, memoryOf } from "../core/memory.ts";
import { show } from "../core/tensor.ts";
import {
  type WasmKind,
  compileKernel,
  compileKernelAsync,
  hasSimd,
  hasWebAssembly,
  wasmEngine,
} from "./wasm.ts";

/** WebAssembly with vectors, without, and plain TypeScript: three engines with the same answers to the last bit. */
export type EngineName = "simd" | "scalar" | "ts";

/** The kernel's verbs over one memory image; `plan` is the address of a plan block. Counts come back, never errors. */
export interface Engine {
  readonly name: EngineName;
  readonly memory: Memory;
  scan(plan: number): number;
  sort(plan: number): number;
  nms(plan: number): number;
  decode(plan: number): number;
}

/** Bytes of a WebAssembly page. */
export const PAGE = 65536;

/** Throws where the name is none of ours: plain JavaScript may pass anything. */
export function checkEngine(wanted: unknown): void {
  if (!["auto", "simd", "scalar", "ts"].includes(wanted as string))
    refuse("engine", show(wanted), '"auto", "simd", "scalar" or "ts"', RangeError);
}

/**
 * `auto`: vectors if the engine validates the real binary, else plain WebAssembly, else TypeScript. A page whose
 * Content-Security-Policy forbids compiling, or a runtime that refuses at the last step, gets TypeScript too.
 */
export function chooseEngine(wanted: EngineName | "auto"): EngineName {
  if (wanted === "ts") return wanted;
  if (wanted !== "auto") {
    // where it cannot run, that is said here and not at the first frame
    compileKernel(wanted);
    return wanted;
  }
  if (!hasWebAssembly()) return "ts";
  for (const kind of ["simd", "scalar"] as const satisfies readonly WasmKind[]) {
    if (kind === "simd" && !hasSimd()) continue;
    try {
      compileKernel(kind);
      return kind;
    } catch {
      // refused: the next one down
    }
  }
  return "ts";
}

/** Compiles the kernel that will be chosen, off the main thread where the runtime can. */
export async function prepareEngine(wanted: EngineName | "auto"): Promise<void> {
  if (!hasWebAssembly() || wanted === "ts") return;
  const kind = wanted === "scalar" || (wanted === "auto" && !hasSimd()) ? "scalar" : "simd";
  // a refusal is met again, and answered, when the engine is chosen
  await compileKernelAsync(kind).catch(() => undefined);
}

/** An engine over fresh memory of at least `bytes`. Throws where a named engine cannot run here. */
export function makeEngine(name: EngineName, bytes: number): Engine {
  checkSize(bytes, RangeError);
  if (name === "ts") return tsEngine(memoryOf(new ArrayBuffer(Math.ceil(bytes / 16) * 16)));
  return wasmEngine(name, Math.ceil(bytes / PAGE));
}
