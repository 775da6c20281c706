/** The WebAssembly engines. The host owns the memory and never grows it, so that no view of it detaches. */
import { ABI_VERSION } from "../core/abi.ts";
import { memoryOf } from "../core/memory.ts";
import { kindOf } from "../core/tensor.ts";
import { kernelBinary } from "./binary.ts";
import type { Engine, Verbs, WasmKind } from "./engine.ts";
import { instantiate } from "./instantiate.ts";

/** Compiled kernels, shared by all decoders: a module holds no state. */
const modules = new Map<WasmKind, WebAssembly.Module>();

const VERBS = ["abiVersion", "scan", "sort", "nms", "decode"];

/** True if this runtime can run WebAssembly at all. */
export function hasWebAssembly(): boolean {
  return (
    typeof WebAssembly === "object" &&
    typeof WebAssembly.Module === "function" &&
    typeof WebAssembly.validate === "function"
  );
}

/**
 * True if a kernel is at hand that this runtime accepts. The vector build is validated as a whole, because runtimes
 * differ in which vector instructions they know.
 */
export function hasKernel(kind: WasmKind): boolean {
  if (modules.has(kind)) return true;
  const binary = kernelBinary(kind);
  try {
    return binary !== null && WebAssembly.validate(binary);
  } catch {
    // A runtime that refuses to validate will not compile either.
    return false;
  }
}

/**
 * Hands over the binary of a kernel, before the first decoder is made. `boxwright/wasm` carries no binary itself, and
 * `boxwright` in a browser carries the vector build alone.
 *
 * `engine: "auto"` takes `simd` if it is at hand and runs here, else `scalar` likewise, else `ts`.
 * @param kind which of the two builds it is
 * @param kernel the compiled `WebAssembly.Module`, or the bytes of the file, which are compiled at once
 * @throws TypeError if `kernel` is not a kernel of boxwright
 * @example
 * import { readFileSync } from "node:fs";
 * import { createDecoderSync, provideKernel } from "boxwright/wasm";
 *
 * provideKernel("simd", readFileSync("node_modules/boxwright/dist/simd.wasm"));
 * const decoder = createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] }, { engine: "simd" });
 * console.log(decoder.engine); // simd
 */
export function provideKernel(kind: WasmKind, kernel: object): void {
  // The parameter is an `object`: WebAssembly's types belong to the DOM library, which server code leaves out.
  if (kind !== "simd" && kind !== "scalar")
    throw new TypeError(`kind: got ${JSON.stringify(kind)}, expected "simd" or "scalar"`);
  const tag = kindOf(kernel);
  const isModule = tag === "WebAssembly.Module";
  if (!isModule && !ArrayBuffer.isView(kernel) && !tag.endsWith("ArrayBuffer"))
    throw new TypeError(
      `kernel: got ${tag === "Promise" ? "a promise, not awaited" : String(kernel)}, expected a WebAssembly.Module, or the bytes of boxwright/${kind}.wasm`,
    );
  const module = isModule ? (kernel as WebAssembly.Module) : compiled(kind, kernel as BufferSource);
  const found = WebAssembly.Module.exports(module).map((e) => e.name);
  const missing = VERBS.filter((name) => !found.includes(name));
  if (missing.length > 0)
    throw new TypeError(
      `kernel: got a module with the exports ${found.join(", ") || "(none)"}, expected ${missing.join(", ")} too: the file boxwright/${kind}.wasm`,
    );
  modules.set(kind, module);
}

/** Compiles the bytes of a file. Throws a TypeError for another file, such as the page of an error 404. */
function compiled(kind: WasmKind, bytes: BufferSource): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    throw new TypeError(
      `kernel: got ${bytes.byteLength} bytes that do not compile (${(cause as Error).message}), expected the file boxwright/${kind}.wasm`,
      { cause },
    );
  }
}

/** Returns a compiled kernel. Throws if this runtime, or this entry of the package, cannot run it. */
export function compileKernel(kind: WasmKind): WebAssembly.Module {
  checkRuntime(kind);
  const module = modules.get(kind) ?? new WebAssembly.Module(binaryOf(kind));
  modules.set(kind, module);
  return module;
}

/** Compiles a kernel off the main thread if the runtime can. */
export async function compileKernelAsync(kind: WasmKind): Promise<void> {
  checkRuntime(kind);
  if (!modules.has(kind)) modules.set(kind, await WebAssembly.compile(binaryOf(kind)));
}

function checkRuntime(kind: WasmKind): void {
  if (!hasWebAssembly())
    throw new Error(`engine "${kind}": this runtime has no WebAssembly. Use engine "ts" or "auto".`);
}

function binaryOf(kind: WasmKind): Uint8Array<ArrayBuffer> {
  const binary = kernelBinary(kind);
  if (binary === null)
    throw new Error(
      `engine "${kind}": got no binary, expected one: this entry of the package carries none. ` +
        `Call provideKernel("${kind}", ...) with boxwright/${kind}.wasm first, or use engine "auto".`,
    );
  return binary;
}

/** Makes an engine over `pages` pages (64 KiB each) of new memory. */
export function wasmEngine(name: WasmKind, pages: number): Engine {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { abiVersion, scan, sort, nms, decode } = instantiate(compileKernel(name), memory) as Verbs & {
    abiVersion(): number;
  };
  if (abiVersion() !== ABI_VERSION)
    throw new Error(
      `kernel "${name}": got interface version ${abiVersion()}, expected ${ABI_VERSION}: the file is of another release of boxwright`,
    );
  return { name, memory: memoryOf(memory.buffer), wasm: memory, scan, sort, nms, decode };
}
