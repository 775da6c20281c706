/** The WebAssembly engines for masks. The host owns the memory, as wasm.ts says. */
import { MASKS_ABI_VERSION } from "../core/masks-abi.ts";
import type { WasmKind } from "./engine.ts";
import { masksBinary } from "./masks-binary.ts";
import type { MasksEngine, MasksVerbs } from "./masks.ts";

/** Compiled kernels, shared by all decoders: a module holds no state. */
const modules = new Map<WasmKind, WebAssembly.Module>();

const PAGE = 65536;

/** Hands over a compiled kernel, in runtimes that compile nothing. */
export function provideMasksKernel(kind: WasmKind, module: object): void {
  modules.set(kind, module as WebAssembly.Module);
}

/** Returns a compiled kernel. Throws if this runtime, or this entry of the package, cannot run it. */
function moduleOf(kind: WasmKind): WebAssembly.Module {
  const known = modules.get(kind);
  if (known) return known;
  if (typeof WebAssembly !== "object")
    throw new Error(`engine "${kind}": this runtime has no WebAssembly. Use engine "ts" or "auto".`);
  const binary = masksBinary(kind);
  if (binary === null)
    throw new Error(
      `engine "${kind}": got no binary, expected one: this entry of the package carries none. Use engine "auto".`,
    );
  const module = new WebAssembly.Module(binary);
  modules.set(kind, module);
  return module;
}

/** Returns the fastest kernel that this runtime compiles, null if it compiles none. */
export function bestMasksKernel(): WasmKind | null {
  for (const kind of ["simd", "scalar"] as const)
    try {
      // Compiling validates: a runtime without some vector instruction refuses the vector build.
      moduleOf(kind);
      return kind;
    } catch {
      // Try the next one.
    }
  return null;
}

/** Makes an engine over at least `bytes` bytes of new memory. */
export function wasmMasksEngine(name: WasmKind, bytes: number): MasksEngine {
  const pages = Math.ceil(bytes / PAGE);
  const module = moduleOf(name);
  return wasmMasksEngineOver(name, module, new WebAssembly.Memory({ initial: pages, maximum: pages }));
}

/** Makes an engine over the memory of a decoder. `null`: its kernel is not at hand. */
export function wasmMasksEngineIn(name: WasmKind, memory: object): MasksEngine | null {
  try {
    return wasmMasksEngineOver(name, moduleOf(name), memory as WebAssembly.Memory);
  } catch {
    return null;
  }
}

function wasmMasksEngineOver(
  name: WasmKind,
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
): MasksEngine {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const { masksAbiVersion, product, cut, resize, paint } = exports as unknown as MasksVerbs & {
    masksAbiVersion(): number;
  };
  if (masksAbiVersion() !== MASKS_ABI_VERSION)
    throw new Error(
      `kernel "${name}": got interface version ${masksAbiVersion()}, expected ${MASKS_ABI_VERSION}: the file is of another release of boxwright`,
    );
  return { name, buffer: memory.buffer, product, cut, resize, paint };
}
