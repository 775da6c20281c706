/** Compiles the three WebAssembly kernels, each in two builds. package.json maps `#kernels` to one file per runtime. */
import { ABI_VERSION } from "../core/abi.ts";
import { MASKS_ABI_VERSION } from "../core/masks-abi.ts";
import { PREPARE_ABI_VERSION } from "../core/prepare-abi.ts";
import { kindOf } from "../core/tensor.ts";

/** The two builds of a kernel: with vector instructions, and without. */
export type WasmKind = "simd" | "scalar";

/** Function that returns the bytes or the compiled module of a build, or null if this package entry has neither. */
export type BinaryOf = (kind: WasmKind) => Uint8Array<ArrayBuffer> | object | null;

/** Exports, version and file name of one kernel. */
interface KernelTraits {
  /** Name of the export that returns the kernel's interface version, and the version expected. */
  readonly version: readonly [exportName: string, version: number];
  readonly exports: readonly string[];
  /** Prefix of the kernel's file names, before "simd.wasm" or "scalar.wasm". */
  readonly filePrefix: string;
}

export const KERNELS = {
  decode: {
    version: ["abiVersion", ABI_VERSION],
    exports: ["scan", "sort", "nms", "decode", "within", "compare"],
    filePrefix: "",
  },
  masks: {
    version: ["masksAbiVersion", MASKS_ABI_VERSION],
    exports: ["product", "cut", "resize", "paint"],
    filePrefix: "masks.",
  },
  prepare: {
    version: ["prepareAbiVersion", PREPARE_ABI_VERSION],
    exports: ["unpack", "resample", "emit", "prepare"],
    filePrefix: "prepare.",
  },
} as const satisfies { readonly [name: string]: KernelTraits };

export type KernelName = keyof typeof KERNELS;

/** Bytes of a WebAssembly page. */
export const PAGE = 65536;

/** Compiled builds by kernel and kind. All instances share them, since a module holds no state. */
const modules = /* @__PURE__ */ new Map<string, WebAssembly.Module>();

const hasWebAssembly = (): boolean =>
  typeof WebAssembly === "object" && typeof WebAssembly.Module === "function";

/** The builds, the fastest first. */
const KINDS: readonly WasmKind[] = ["simd", "scalar"];

/** Compiles the builds of one kernel and makes instances. */
export class Kernel {
  readonly #name: KernelName;
  readonly #binaryOf: BinaryOf;

  constructor(name: KernelName, binaryOf: BinaryOf) {
    this.#name = name;
    this.#binaryOf = binaryOf;
  }

  /** Returns the fastest build that compiles here, or null if none does, for instance by a page's security policy. */
  best(): WasmKind | null {
    for (const kind of KINDS)
      try {
        this.compile(kind);
        return kind;
      } catch {
        // Try the next build: this build is not available, or the runtime cannot compile it.
      }
    return null;
  }

  /** Returns a compiled build. Throws if this package entry lacks the build, or the runtime cannot compile it. */
  compile(kind: WasmKind): WebAssembly.Module {
    const kernel = this.#moduleOrBinary(kind);
    return kernel instanceof Uint8Array
      ? this.#cache(kind, new WebAssembly.Module(kernel as Uint8Array<ArrayBuffer>))
      : kernel;
  }

  /** Compiles a build, or for "auto" the one that `best` will return. Compiles off the main thread if possible. */
  async compileAhead(wanted: WasmKind | "auto"): Promise<void> {
    for (const kind of wanted === "auto" ? KINDS : [wanted])
      try {
        const kernel = this.#moduleOrBinary(kind);
        if (kernel instanceof Uint8Array)
          this.#cache(kind, await WebAssembly.compile(kernel as Uint8Array<ArrayBuffer>));
        return;
      } catch {
        // Ignore errors here: `compile` fails with the same error and reports it.
      }
  }

  /** Instantiates a build over a given memory, or over a new memory of at least `over` bytes. */
  instantiate(
    kind: WasmKind,
    over: number | WebAssembly.Memory,
  ): { readonly memory: WebAssembly.Memory; readonly exports: unknown } {
    const module = this.compile(kind);
    const memory = typeof over === "number" ? newMemory(over) : over;
    const exports = new WebAssembly.Instance(module, { env: { memory } }).exports as {
      readonly [name: string]: () => number;
    };
    const [name, expected] = KERNELS[this.#name].version;
    const version = exports[name]();
    if (version !== expected)
      throw new Error(
        `kernel "${kind}": got interface version ${version}, expected ${expected}: the file is of another release of boxwright`,
      );
    return { memory, exports };
  }

  #cache(kind: WasmKind, module: WebAssembly.Module): WebAssembly.Module {
    modules.set(this.#name + kind, module);
    return module;
  }

  /** Returns a compiled build, or its bytes if it is not compiled yet. Throws if there is neither. */
  #moduleOrBinary(kind: WasmKind): WebAssembly.Module | Uint8Array {
    if (!hasWebAssembly())
      throw new Error(`engine "${kind}": this runtime has no WebAssembly. Use engine "ts" or "auto".`);
    const known = modules.get(this.#name + kind);
    if (known) return known;
    const binary = this.#binaryOf(kind);
    if (binary === null)
      throw new Error(
        `engine "${kind}": got no binary, expected one: this entry of the package carries none. ` +
          `Call provideKernel("${kind}", ...) with boxwright/${KERNELS[this.#name].filePrefix}${kind}.wasm ` +
          'first, or use engine "auto".',
      );
    return binary as Uint8Array;
  }
}

function newMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / PAGE);
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/**
 * Provides the binary of a kernel, before the first decoder is made. `boxwright/wasm` contains no binary, and
 * `boxwright` in a browser only the vector builds. The exports of the module identify the kernel: decode, masks or
 * prepare.
 *
 * `engine: "auto"` uses the first of `simd`, `scalar` and `ts` that is provided and runs here.
 * @param kind build of the kernel
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
  // `kernel` is typed as `object`: TypeScript has WebAssembly's types only in its DOM library, which servers leave out.
  if (kind !== "simd" && kind !== "scalar")
    throw new TypeError(`kind: got ${JSON.stringify(kind)}, expected "simd" or "scalar"`);
  const tag = kindOf(kernel);
  const isModule = tag === "WebAssembly.Module";
  if (!isModule && !ArrayBuffer.isView(kernel) && !tag.endsWith("ArrayBuffer"))
    throw new TypeError(
      `kernel: got ${tag === "Promise" ? "a promise, not awaited" : String(kernel)}, expected a ` +
        `WebAssembly.Module, or the bytes of boxwright/${kind}.wasm`,
    );
  const module = isModule ? (kernel as WebAssembly.Module) : compiled(kind, kernel as BufferSource);
  const exportNames = WebAssembly.Module.exports(module).map((e) => e.name);
  const names = Object.keys(KERNELS) as KernelName[];
  const name = names.find((one) => exportNames.includes(KERNELS[one].version[0])) ?? "decode";
  const { version, exports, filePrefix } = KERNELS[name];
  const missing = [version[0], ...exports].filter((one) => !exportNames.includes(one));
  if (missing.length > 0)
    throw new TypeError(
      `kernel: got a module with the exports ${exportNames.join(", ") || "(none)"}, expected ` +
        `${missing.join(", ")} too: the file boxwright/${filePrefix}${kind}.wasm`,
    );
  modules.set(name + kind, module);
}

/** Compiles the bytes of a file. Throws a TypeError if they are no WebAssembly, such as the page of an error 404. */
function compiled(kind: WasmKind, bytes: BufferSource): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    throw new TypeError(
      `kernel: got ${bytes.byteLength} bytes that do not compile (${(cause as Error).message}), ` +
        `expected the file boxwright/${kind}.wasm`,
      { cause },
    );
  }
}
