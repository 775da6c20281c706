/** A kernel beside the decoder's own. It has two builds, and its own interface version. */
import type { WasmKind } from "./engine.ts";

const PAGE = 65536;

/** Compiles the builds of one kernel, and makes instances of them. */
export class SideKernel {
  /** Compiled builds, shared by all instances: a module holds no state. */
  readonly #modules = new Map<WasmKind, WebAssembly.Module>();
  readonly #binaryOf: (kind: WasmKind) => Uint8Array<ArrayBuffer> | null;
  readonly #versionName: string;
  readonly #version: number;

  /** @param versionName the export that returns the interface version of a build, which has to be `version` */
  constructor(
    binaryOf: (kind: WasmKind) => Uint8Array<ArrayBuffer> | null,
    versionName: string,
    version: number,
  ) {
    this.#binaryOf = binaryOf;
    this.#versionName = versionName;
    this.#version = version;
  }

  /** Hands over a compiled build, in runtimes that compile nothing. */
  provide(kind: WasmKind, module: object): void {
    this.#modules.set(kind, module as WebAssembly.Module);
  }

  /** Returns the fastest build that this runtime compiles, null if it compiles none. */
  best(): WasmKind | null {
    for (const kind of ["simd", "scalar"] as const)
      try {
        // Compiling validates: a runtime without some vector instruction refuses the vector build.
        this.#moduleOf(kind);
        return kind;
      } catch {
        // Try the next one.
      }
    return null;
  }

  /** Returns the exports of a build over a memory, or over at least so many bytes of new memory. */
  instantiate(
    kind: WasmKind,
    over: number | WebAssembly.Memory,
  ): { readonly buffer: ArrayBuffer; readonly verbs: unknown } {
    const module = this.#moduleOf(kind);
    const memory = typeof over === "number" ? memoryOf(over) : over;
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const version = (exports as { [name: string]: () => number })[this.#versionName]();
    if (version !== this.#version)
      throw new Error(
        `kernel "${kind}": got interface version ${version}, expected ${this.#version}: the file is of another release of boxwright`,
      );
    return { buffer: memory.buffer, verbs: exports };
  }

  /** Returns a compiled build. Throws if this runtime, or this entry of the package, cannot run it. */
  #moduleOf(kind: WasmKind): WebAssembly.Module {
    const known = this.#modules.get(kind);
    if (known) return known;
    if (typeof WebAssembly !== "object")
      throw new Error(`engine "${kind}": this runtime has no WebAssembly. Use engine "ts" or "auto".`);
    const binary = this.#binaryOf(kind);
    if (binary === null)
      throw new Error(
        `engine "${kind}": got no binary, expected one: this entry of the package carries none. Use engine "auto".`,
      );
    const module = new WebAssembly.Module(binary);
    this.#modules.set(kind, module);
    return module;
  }
}

function memoryOf(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / PAGE);
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}
