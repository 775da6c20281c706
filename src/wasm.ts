/** Engine over the kernel. The host owns the memory: `initial == maximum`, so no view ever detaches. */
import { instantiateSync } from "@assemblyscript/loader";
import { ABI_VERSION } from "./abi.ts";
import type { Engine } from "./engine.ts";
import { scalar, simd } from "./kernel.ts";
import { memoryOf } from "./memory.ts";

export type WasmKind = "simd" | "scalar";

interface Kernel extends Record<string, unknown> {
  abiVersion(): number;
  scan(plan: number): number;
  sort(plan: number): number;
  nms(plan: number): number;
  decode(plan: number): number;
}

// A compiled module holds no state, so all decoders share it.
const modules = new Map<WasmKind, WebAssembly.Module>();

export function hasWebAssembly(): boolean {
  return typeof WebAssembly === "object" && typeof WebAssembly.Module === "function" && typeof WebAssembly.validate === "function";
}

/** Whether this runtime accepts the real binary with vector instructions. */
export function hasSimd(): boolean {
  try {
    return modules.has("simd") || WebAssembly.validate(kernelBytes("simd"));
  } catch {
    return false;
  }
}

/** The kernel's binary, for those who instantiate it themselves. */
export function kernelBytes(kind: WasmKind): Uint8Array<ArrayBuffer> {
  const hex = kind === "simd" ? simd : scalar;
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export function compileKernel(kind: WasmKind): WebAssembly.Module {
  let module = modules.get(kind);
  if (module === undefined) modules.set(kind, (module = new WebAssembly.Module(kernelBytes(kind))));
  return module;
}

/** Compiles off the main thread where the runtime can. */
export async function compileKernelAsync(kind: WasmKind): Promise<void> {
  if (!modules.has(kind)) modules.set(kind, await WebAssembly.compile(kernelBytes(kind)));
}

export function wasmEngine(name: WasmKind, pages: number): Engine {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = instantiateSync<Kernel>(compileKernel(name), { env: { memory } });
  const version = exports.abiVersion();
  if (version !== ABI_VERSION) throw new Error(`kernel: got interface version ${version}, expected ${ABI_VERSION}; rebuild with npm run build`);
  return {
    name,
    memory: memoryOf(memory.buffer),
    scan: exports.scan,
    sort: exports.sort,
    nms: exports.nms,
    decode: exports.decode,
  };
}
