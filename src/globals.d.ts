/**
 * The part of WebAssembly that the package uses: neither the ES nor the Node library types declare it, and "dom" would
 * let the DOM in.
 */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: BufferSource);
    static exports(module: Module): { name: string; kind: string }[];
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number });
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports?: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  function validate(bytes: BufferSource): boolean;
  function compile(bytes: BufferSource): Promise<Module>;
}
type BufferSource = ArrayBufferView<ArrayBuffer> | ArrayBuffer;

/** Resolved by the runtime that imports it (condition `workerd`): the default export is the compiled module. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** The binaries of a kernel. package.json maps the three names by condition. */
declare module "#kernel" {
  export const binaryOf: (kind: "simd" | "scalar") => Uint8Array<ArrayBuffer> | object | null;
}
declare module "#masks-kernel" {
  export const binaryOf: (kind: "simd" | "scalar") => Uint8Array<ArrayBuffer> | object | null;
}
declare module "#prepare-kernel" {
  export const binaryOf: (kind: "simd" | "scalar") => Uint8Array<ArrayBuffer> | object | null;
}

/** What scripts/build-kernel.mjs writes of a kernel. The build of each kernel takes its own. */
declare module "kernel-data" {
  export const prefix: string;
  export const byteLengths: { readonly simd: number; readonly scalar: number };
  export const simdText: string;
}
