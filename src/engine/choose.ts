/** Chooses engines and makes them: for the decoder, for masks and for pictures. The host owns their memory. */
import { decode as decodeBinary, masks as masksBinary, prepare as prepareBinary } from "#kernels";
import { ENGINE_NAMES, type EngineName } from "../core/engine-name.ts";
import { refuse } from "../core/errors.ts";
import { checkSize, memoryOf } from "../core/memory.ts";
import { show } from "../core/tensor.ts";
import { Kernel } from "../kernels/kernel.ts";
import type { Engine, KernelExports } from "./engine.ts";
import type { MasksEngine, MasksKernelExports } from "./masks.ts";
import type { PrepareEngine, PrepareKernelExports } from "./prepare.ts";
import { tsEngine } from "./ts/index.ts";
import { tsMasksEngine } from "./ts/masks/index.ts";
import { tsPrepareEngine } from "./ts/prepare/index.ts";

const decodeKernel = /* @__PURE__ */ new Kernel("decode", decodeBinary);
const masksKernel = /* @__PURE__ */ new Kernel("masks", masksBinary);
const prepareKernel = /* @__PURE__ */ new Kernel("prepare", prepareBinary);

/** Throws a RangeError if `wanted` is not the name of an engine: plain JavaScript may pass anything. */
export function checkEngine(wanted: unknown): void {
  if (wanted !== "auto" && !ENGINE_NAMES.includes(wanted as EngineName))
    refuse("engine", show(wanted), '"auto", "simd", "scalar" or "ts"', RangeError);
}

/** Returns the engine that will run. `auto` is the first of `simd`, `scalar` and `ts` that can. */
const choose = (kernel: Kernel, wanted: EngineName | "auto"): EngineName => {
  // Compile now: an engine that cannot run is refused here and not at the first frame.
  if (wanted === "simd" || wanted === "scalar") kernel.compile(wanted);
  return wanted === "auto" ? (kernel.best() ?? "ts") : wanted;
};

/** Returns the engine of a decoder. */
export const chooseEngine = (wanted: EngineName | "auto"): EngineName => choose(decodeKernel, wanted);

/** Compiles the kernel that `chooseEngine` will choose, off the main thread if the runtime can. */
export async function prepareEngine(wanted: EngineName | "auto"): Promise<void> {
  if (wanted !== "ts") await decodeKernel.compileAhead(wanted);
}

/** Returns memory of at least so many bytes, for the engine in TypeScript. */
const plainMemory = (bytes: number): ArrayBuffer => new ArrayBuffer(Math.ceil(bytes / 16) * 16);

/** Makes an engine over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makeEngine(name: EngineName, bytes: number): Engine {
  checkSize(bytes, RangeError);
  try {
    if (name === "ts") return tsEngine(memoryOf(plainMemory(bytes)));
    const { memory, exports } = decodeKernel.instantiate(name, bytes);
    const { scan, sort, nms, decode, within, compare } = exports as KernelExports;
    return { name, memory: memoryOf(memory.buffer), wasm: memory, scan, sort, nms, decode, within, compare };
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

/** Makes an engine for masks over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makeMasksEngine(wanted: EngineName | "auto", bytes: number): MasksEngine {
  checkEngine(wanted);
  const name = choose(masksKernel, wanted);
  return name === "ts" ? tsMasksEngine(plainMemory(bytes)) : wasmMasksEngine(name, bytes);
}

/** Makes an engine for masks over a decoder's memory: of the decoder's kind, or `ts` where that is not at hand. */
export function masksEngineIn({ name, memory, wasm }: Engine): MasksEngine {
  if (name !== "ts" && wasm)
    try {
      return wasmMasksEngine(name, wasm as WebAssembly.Memory);
    } catch {
      // Not at hand.
    }
  return tsMasksEngine(memory.buffer);
}

function wasmMasksEngine(name: "simd" | "scalar", over: number | WebAssembly.Memory): MasksEngine {
  const { memory, exports } = masksKernel.instantiate(name, over);
  const { product, cut, resize, paint } = exports as MasksKernelExports;
  return { name, buffer: memory.buffer, product, cut, resize, paint };
}

/** Makes an engine for pictures over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makePrepareEngine(wanted: EngineName | "auto", bytes: number): PrepareEngine {
  checkEngine(wanted);
  const name = choose(prepareKernel, wanted);
  if (name === "ts") return tsPrepareEngine(plainMemory(bytes));
  const { memory, exports } = prepareKernel.instantiate(name, bytes);
  const { unpack, resample, emit, prepare } = exports as PrepareKernelExports;
  return { name, buffer: memory.buffer, unpack, resample, emit, prepare };
}
