/** Chooses an engine and makes it. */
import { ENGINE_NAMES, type EngineName } from "../core/engine-name.ts";
import { refuse } from "../core/errors.ts";
import { checkSize, memoryOf } from "../core/memory.ts";
import { show } from "../core/tensor.ts";
import type { Engine } from "./engine.ts";
import { tsEngine } from "./ts/index.ts";
import { compileKernel, compileKernelAsync, hasKernel, hasWebAssembly, wasmEngine } from "./wasm.ts";

/** Bytes of a WebAssembly page. */
export const PAGE = 65536;

/** Throws a RangeError if `wanted` is not the name of an engine: plain JavaScript may pass anything. */
export function checkEngine(wanted: unknown): void {
  if (wanted !== "auto" && !ENGINE_NAMES.includes(wanted as EngineName))
    refuse("engine", show(wanted), '"auto", "simd", "scalar" or "ts"', RangeError);
}

/**
 * Returns the engine that will run. `auto` is the first of `simd`, `scalar` and `ts` that can. A page whose
 * Content-Security-Policy forbids compiling, and a runtime that refuses at the last step, get `ts`.
 */
export function chooseEngine(wanted: EngineName | "auto"): EngineName {
  if (wanted === "ts") return wanted;
  if (wanted !== "auto") {
    // Compile now: an engine that cannot run is refused here and not at the first frame.
    compileKernel(wanted);
    return wanted;
  }
  if (!hasWebAssembly()) return "ts";
  for (const kind of ["simd", "scalar"] as const) {
    if (!hasKernel(kind)) continue;
    try {
      compileKernel(kind);
      return kind;
    } catch {
      // The runtime refuses to compile: try the next one.
    }
  }
  return "ts";
}

/** Compiles the kernel that will be chosen, off the main thread if the runtime can. */
export async function prepareEngine(wanted: EngineName | "auto"): Promise<void> {
  if (!hasWebAssembly() || wanted === "ts") return;
  const kind = wanted === "auto" ? (["simd", "scalar"] as const).find(hasKernel) : wanted;
  // `chooseEngine` meets a refusal again, and reports it.
  if (kind) await compileKernelAsync(kind).catch(() => undefined);
}

/** Makes an engine over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makeEngine(name: EngineName, bytes: number): Engine {
  checkSize(bytes, RangeError);
  try {
    if (name === "ts") return tsEngine(memoryOf(new ArrayBuffer(Math.ceil(bytes / 16) * 16)));
    return wasmEngine(name, Math.ceil(bytes / PAGE));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    // Runtimes reserve gigabytes of addresses for each WebAssembly memory, so that some thousands use up the process.
    throw new RangeError(
      `memory: got none from the runtime (${cause.message}), expected ${bytes} bytes. Keep one decoder for each network ` +
        'and use it for every frame; engine "ts" takes ordinary memory',
      { cause },
    );
  }
}
