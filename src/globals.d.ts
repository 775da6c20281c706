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

/** The binaries of the kernels. package.json maps the name by condition. */
declare module "#kernels" {
  type BinaryOf = (kind: "simd" | "scalar") => Uint8Array<ArrayBuffer> | object | null;
  export const decode: BinaryOf;
  export const masks: BinaryOf;
  export const prepare: BinaryOf;
}

/** Decoder of photo files, null if no package can decode them. package.json maps the name by condition. */
declare module "#photos" {
  interface Photo {
    readonly data: Uint8Array;
    readonly width: number;
    readonly height: number;
  }
  export const decodePhoto: ((bytes: Uint8Array) => Promise<Photo>) | null;
}

/** Output of scripts/build-kernel.mjs: the bytes of both builds of each kernel, and each vector build as text. */
declare module "kernel-data" {
  interface Lengths {
    readonly simd: number;
    readonly scalar: number;
  }
  export const decodeLengths: Lengths;
  export const masksLengths: Lengths;
  export const prepareLengths: Lengths;
}
declare module "kernel-data/decode" {
  export const decodeText: string;
}
declare module "kernel-data/masks" {
  export const masksText: string;
}
declare module "kernel-data/prepare" {
  export const prepareText: string;
}
