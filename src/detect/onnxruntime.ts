/** Adapter for ONNX Runtime: onnxruntime-node, onnxruntime-web and onnxruntime-react-native share one interface. */
import type { Outputs } from "../decode/inputs.ts";
import type { OwnInput } from "../decode/prepare.ts";
import type { SlotArray } from "../core/tensor.ts";
import {
  type InputSpec,
  type Lane,
  type Runtime,
  type Session,
  type Slots,
  arrayFor,
  checkModule,
  ownInput,
} from "./session.ts";

/** The members of an ONNX Runtime tensor that are used here. */
export interface OrtTensor {
  readonly type: string;
  readonly dims: readonly number[];
  /** Device that holds the data: "cpu", "gpu-buffer", "ml-tensor" ... */
  readonly location?: string;
  getData?(releaseData?: boolean): Promise<unknown>;
}

/** The members of an ONNX Runtime session that are used here. */
export interface OrtSession {
  readonly inputNames: readonly string[];
  readonly inputMetadata?: readonly {
    readonly name: string;
    readonly isTensor: boolean;
    readonly type?: string;
    readonly shape?: readonly (number | string)[];
  }[];
  // Methods, not properties, so that the package's own types are assignable.
  run(
    feeds: { readonly [name: string]: never },
    fetches?: { readonly [name: string]: never },
  ): Promise<object>;
  release?(): Promise<void>;
}

export interface Ort {
  readonly env: {
    readonly versions?: { readonly node?: string };
    readonly wasm?: { readonly proxy?: boolean };
  };
  readonly InferenceSession: { create(model: Uint8Array, options?: object): Promise<OrtSession> };
  readonly Tensor: new (type: never, data: never, dims: readonly number[]) => object;
}

/** Session options of ONNX Runtime. Only the common options are typed here, but all are passed on. */
export interface OrtOptions {
  /** Devices that may run the network, in order of preference: `["webgpu"]`, `["cuda", "cpu"]`. */
  readonly executionProviders?: readonly unknown[];
  /**
   * Lowest severity that is printed: 0 verbose, 2 warning, 3 error, 4 fatal. Default 3, since some files cause 200
   * warnings.
   */
  readonly logSeverityLevel?: number;
  readonly intraOpNumThreads?: number;
  readonly [option: string]: unknown;
}

/**
 * Runs networks by ONNX Runtime.
 *
 * onnxruntime-node writes outputs directly into the decoder's memory if their shapes are known before the run.
 * onnxruntime-web makes an array of each output, and the decoder copies what it reads.
 * @param ort the module: `import * as ort from "onnxruntime-node"`, or `"onnxruntime-web"`
 * @param options session options of ONNX Runtime, for instance `{ executionProviders: ["webgpu"] }`
 * @example
 * import { readFile } from "node:fs/promises";
 * import * as ort from "onnxruntime-node";
 * import { createDetector, onnxRuntime } from "boxwright";
 *
 * const model = await readFile("test/fixtures/detect/network.onnx");
 * const detector = await createDetector({ model, runtime: onnxRuntime(ort) });
 * const image = { data: new Uint8Array(32 * 24 * 4), width: 32, height: 24 }; // RGBA: ImageData, pngjs, sharp
 * image.data.set([0, 1, 2, 3, 4, 5].flatMap((i) => [[0, 0, 255, 255, 230, 255][i], 0, 0, 255])); // what it will find
 * for (const d of await detector.detect(image)) console.log(d.label, d.confidence.toFixed(2)); // dog 0.90
 */
export function onnxRuntime(ort: Ort, options: OrtOptions = {}): Runtime<Uint8Array | OrtSession> {
  checkModule("onnxRuntime", ort, "Tensor");
  const all = { logSeverityLevel: 3, ...options };
  return {
    name: "onnxRuntime",
    open: async (model) =>
      sessionOf(
        ort,
        ArrayBuffer.isView(model) ? await ort.InferenceSession.create(model as Uint8Array, all) : model,
      ),
  };
}

const sessionOf = (ort: Ort, session: OrtSession): Session => ({
  feedsConstants: true,
  // onnxruntime-node 1.30 runs the network on the calling thread, so nothing overlaps.
  overlaps: !isNode(ort),
  inputs: session.inputNames.map((name) => {
    const known = session.inputMetadata?.find((input) => input.name === name);
    return { name, dims: known?.shape ?? null, type: known?.type ?? null };
  }),
  createLane: (input) => new OnnxLane(ort, session, input),
  close: async () => session.release?.(),
});

const isNode = (ort: Ort): boolean => ort.env.versions?.node !== undefined;

/** Names of element types in ONNX Runtime. */
const TYPES = {
  f32: "float32",
  f16: "float16",
  u8: "uint8",
  i8: "int8",
  i16: "int16",
  i32: "int32",
} as const;

/** Returns outputs with their data on the CPU. With `preferredOutputLocation` they may be on the GPU. */
async function onCpu(outputs: object): Promise<Outputs> {
  const all = Object.entries(outputs) as [string, OrtTensor][];
  if (all.every(([, { location = "cpu" }]) => location.startsWith("cpu"))) return outputs as Outputs;
  const read = all.map(async ([name, tensor]) => {
    const { type, dims, location = "cpu" } = tensor;
    if (location.startsWith("cpu") || tensor.getData === undefined) return [name, tensor] as const;
    // Free the memory on the GPU, since only this tensor uses it.
    return [name, { type, dims, data: await tensor.getData(true) }] as const;
  });
  return Object.fromEntries(await Promise.all(read)) as Outputs;
}

class OnnxLane implements Lane {
  readonly #ort: Ort;
  readonly #session: OrtSession;
  readonly #spec: InputSpec;
  #input: OwnInput;
  /** ONNX Runtime tensors over the input memory. They are made again if the picture's memory is no longer `#fed`. */
  #feeds: { readonly [name: string]: never } = {};
  #fed: SlotArray | null = null;
  /** ONNX Runtime tensors over the decoder's slots (`#slots`), which receive the outputs. */
  #fetches: { readonly [name: string]: never } | null = null;
  #slots: Slots = {};

  constructor(ort: Ort, session: OrtSession, input: InputSpec) {
    this.#ort = ort;
    this.#session = session;
    this.#spec = input;
    this.#input = this.#newInput();
  }

  input(): SlotArray {
    // Replace the array if it is empty: env.wasm.proxy transferred it to a worker.
    if (this.#input.data.length === 0) this.#input = this.#newInput();
    return this.#input.data;
  }

  /**
   * Returns new memory for pictures, outside of the kernel's memory. With env.wasm.proxy, onnxruntime-web transfers an
   * input's whole buffer to a worker.
   */
  #newInput(): OwnInput {
    const { wasm } = this.#ort.env;
    return wasm?.proxy ? { data: arrayFor(this.#spec), padding: null } : ownInput(this.#spec);
  }

  #makeFeeds(): { readonly [name: string]: never } {
    const { name, type, dims, constants = [] } = this.#spec;
    // Copy the constants, since a transfer empties their arrays.
    const others = constants.map(
      (one) => [one.name, this.#tensor(one.type, one.data.slice(), one.dims)] as const,
    );
    return { [name]: this.#tensor(TYPES[type], this.#input.data, dims), ...Object.fromEntries(others) };
  }

  async run(slots: Slots | null): Promise<Outputs | null> {
    if (this.#fed !== this.#input.data) {
      this.#fed = this.#input.data;
      this.#feeds = this.#makeFeeds();
    }
    if (slots !== null && slots !== this.#slots) {
      this.#slots = slots;
      this.#fetches = this.#fetchesInto(slots);
    }
    if (slots === null || this.#fetches === null) return onCpu(await this.#session.run(this.#feeds));
    await this.#session.run(this.#feeds, this.#fetches);
    return null;
  }

  release(): void {
    // Nothing to free: the garbage collector frees the outputs.
  }

  close(): void {
    this.#fetches = null;
  }

  #tensor(type: string, data: SlotArray | BigInt64Array, dims: readonly number[]): never {
    return new this.#ort.Tensor(type as never, data as never, dims) as never;
  }

  /**
   * Returns tensors over the slots, or `null` if the runtime cannot write to the slots. onnxruntime-web 1.30 accepts
   * such tensors but does not write to them. Also returns `null` if a slot is not f32.
   */
  #fetchesInto(slots: Slots): { readonly [name: string]: never } | null {
    const list = Object.entries(slots);
    if (!isNode(this.#ort) || list.length === 0 || list.some(([, { type }]) => type !== "f32")) return null;
    return Object.fromEntries(
      list.map(([name, { data, dims, type }]) => [name, this.#tensor(TYPES[type], data, dims)]),
    );
  }
}
