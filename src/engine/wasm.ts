/** Engine over the kernel. The host owns the memory: `initial == maximum`, so no view ever detaches. */
import { kernelSource, modules } from "./binary.ts";
import { instantiateSync } from "@assemblyscript/loader";
import { ABI_VERSION } from "../core/abi.ts";
import type { Engine } from "./choose.ts";
import { memoryOf } from "../core/memory.ts";
import { kindOf } from "../core/tensor.ts";

/** The two builds of the kernel: with vector instructions, and without. */
export type WasmKind = "simd" | "scalar";

interface Kernel extends Record<string, unknown> {
  abiVersion(): number;
  scan(plan: number): number;
  sort(plan: number): number;
  nms(plan: number): number;
  decode(plan: number): number;
}

export function hasWebAssembly(): boolean {
  return (
    typeof WebAssembly === "object" &&
    typeof WebAssembly.Module === "function" &&
    typeof WebAssembly.validate === "function"
  );
}

/** Whether this runtime accepts the real binary with vector instructions. */
export function hasSimd(): boolean {
  try {
    return modules.has("simd") || WebAssembly.validate(kernelSource("simd"));
  } catch {
    return false;
  }
}

/**
 * Hands over a binary of the kernel, before the first decoder is made: `boxwright/wasm` holds none itself.
 *
 * `provideKernel("simd", await WebAssembly.compileStreaming(fetch(url)))`, where `url` leads to the file `boxwright/simd.wasm`.
 * What was not handed over does not run: `engine: "auto"` takes `simd`, else `scalar`, else `ts`.
 * @param kind which of the two files it is
 * @param kernel the compiled `WebAssembly.Module`, or the bytes of the file, which are compiled at once
 * @throws TypeError where it is no kernel of boxwright, with got and expected
 */
export function provideKernel(kind: WasmKind, kernel: object): void {
  // "object": the types of WebAssembly are those of the DOM library, which the code of a server leaves out
  if (kind !== "simd" && kind !== "scalar")
    throw new TypeError(`kind: got ${JSON.stringify(kind)}, expected "simd" or "scalar"`);
  const tag = kindOf(kernel);
  const isModule = tag === "WebAssembly.Module";
  if (!isModule && !ArrayBuffer.isView(kernel) && !tag.endsWith("ArrayBuffer"))
    throw new TypeError(
      `kernel: got ${tag === "Promise" ? "a promise, not awaited" : String(kernel)}, expected a WebAssembly.Module, or the bytes of boxwright/${kind}.wasm`,
    );
  const module = isModule ? (kernel as WebAssembly.Module) : new WebAssembly.Module(kernel as BufferSource);
  const found = WebAssembly.Module.exports(module).map((e) => e.name);
  const missing = ["abiVersion", "scan", "sort", "nms", "decode"].filter((name) => !found.includes(name));
  if (missing.length > 0)
    throw new TypeError(
      `kernel: got a module with the exports ${found.join(", ") || "(none)"}, expected ${missing.join(", ")} too: the file boxwright/${kind}.wasm`,
    );
  modules.set(kind, module);
}

/** Throws where this runtime, or this entry of the package, cannot run it. */
export function compileKernel(kind: WasmKind): WebAssembly.Module {
  if (!hasWebAssembly())
    throw new Error(
      `engine "${kind}": got a runtime without WebAssembly, expected one; use engine "ts" or "auto"`,
    );
  const module = modules.get(kind) ?? new WebAssembly.Module(kernelSource(kind));
  modules.set(kind, module);
  return module;
}

/** Compiles off the main thread where the runtime can. */
export async function compileKernelAsync(kind: WasmKind): Promise<void> {
  if (!modules.has(kind)) modules.set(kind, await WebAssembly.compile(kernelSource(kind)));
}

export function wasmEngine(name: WasmKind, pages: number): Engine {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = instantiateSync<Kernel>(compileKernel(name), { env: { memory } });
  const version = exports.abiVersion();
  if (version !== ABI_VERSION)
    throw new Error(
      `kernel: got interface version ${version}, expected ${ABI_VERSION}; rebuild with npm run build`,
    );
  return { ...exports, name, memory: memoryOf(memory.buffer) };
}
