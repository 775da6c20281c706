/**
 * Chooses and makes the engine of a decoder. masks-engine.ts and prepare-engine.ts do the same for their kernels, so
 * that a bundle carries only the kernels that it uses.
 */
import { decode as decodeBinary } from "#kernels";
import { ENGINE_NAMES, type EngineName } from "../core/engine-name.ts";
import { refuseValue } from "../core/errors.ts";
import { type Memory, checkSize, memoryOf } from "../core/memory.ts";
import { show } from "../core/tensor.ts";
import { Kernel } from "../kernels/kernel.ts";
import type { Engine, KernelExports } from "./engine.ts";

const decodeKernel = /* @__PURE__ */ new Kernel("decode", decodeBinary);

/** Throws a RangeError unless `wanted` is `auto` or the name of an engine. Plain JavaScript may pass anything. */
export function checkEngine(wanted: unknown): void {
  if (wanted !== "auto" && !ENGINE_NAMES.includes(wanted as EngineName))
    refuseValue("engine", show(wanted), '"auto", "simd", "scalar" or "ts"');
}

/** Returns the name of the engine to run. `auto` is the first of `simd`, `scalar` and `ts` that works here. */
export const choose = (kernel: Kernel, wanted: EngineName | "auto"): EngineName => {
  // Compile now, so that an engine that cannot run here is refused before the first frame.
  if (wanted === "simd" || wanted === "scalar") kernel.compile(wanted);
  return wanted === "auto" ? (kernel.best() ?? "ts") : wanted;
};

/** Returns the name of the engine that a decoder runs. */
export const chooseEngine = (wanted: EngineName | "auto"): EngineName => choose(decodeKernel, wanted);

/** Makes the engine in TypeScript, once its code is loaded. Pages load it only if WebAssembly is refused. */
let makeTs: ((memory: Memory) => Engine) | null = null;

/** Provides the engine in TypeScript. Synchronous callers must call this before they choose. */
export function provideTs(make: (memory: Memory) => Engine): void {
  makeTs = make;
}

/** Compiles the kernel that `chooseEngine` will choose, off the main thread if possible, or loads the `ts` engine. */
export async function prepareEngine(wanted: EngineName | "auto"): Promise<void> {
  if (wanted !== "ts") await decodeKernel.compileAhead(wanted);
  if (wanted === "ts" || (wanted === "auto" && decodeKernel.best() === null))
    provideTs((await import("./ts/index.ts")).tsEngine);
}

/** Returns memory of `bytes` bytes, rounded up to a multiple of 16, for the engine in TypeScript. */
export const plainMemory = (bytes: number): ArrayBuffer => new ArrayBuffer(Math.ceil(bytes / 16) * 16);

/** Makes an engine over new memory of at least `bytes` bytes. Throws if a named engine cannot run here. */
export function makeEngine(name: EngineName, bytes: number): Engine {
  checkSize(bytes, RangeError);
  try {
    if (name === "ts") {
      if (!makeTs) throw new Error('engine "ts" is not there: await prepareEngine, or call provideTs');
      return makeTs(memoryOf(plainMemory(bytes)));
    }
    const { memory, exports } = decodeKernel.instantiate(name, bytes);
    const { scan, sort, nms, decode, within, compare } = exports as KernelExports;
    return { name, memory: memoryOf(memory.buffer), wasm: memory, scan, sort, nms, decode, within, compare };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    // Explain the failure: runtimes reserve gigabytes of address space per WebAssembly memory, so some thousands
    // exhaust the process.
    throw new RangeError(
      `memory: got none from the runtime (${cause.message}), expected ${bytes} bytes. Keep one decoder for each network ` +
        'and use it for every frame; engine "ts" takes ordinary memory',
      { cause },
    );
  }
}
