/** Adapter for LiteRT.js (@litertjs/core). */
import { type SlotArray, type TensorInput, volume } from "../core/tensor.ts";
import type { Outputs } from "../decode/inputs.ts";
import {
  type InputSpec,
  type Lane,
  type Runtime,
  type Session,
  arrayFor,
  viewOf,
  checkModule,
} from "./session.ts";

interface LiteRtBuffer {
  lock(mode: object): number;
  unlock(): void;
}

/** The members of a LiteRT.js tensor that are used here. */
export interface LiteRtTensor {
  readonly liteRtTensorBuffer?: object;
  readonly accelerator?: string;
  data(): Promise<unknown>;
  delete(): void;
}

/** Description of an input or output of a compiled model. */
export interface LiteRtDetails {
  readonly name: string;
  readonly dtype: string;
  readonly shape: ArrayLike<number>;
}

/** The members of a `CompiledModel` that are used here. */
export interface LiteRtModel {
  readonly options?: { readonly accelerator?: string };
  getInputDetails(): readonly LiteRtDetails[];
  getOutputDetails(): readonly LiteRtDetails[];
  run(inputs: never): Promise<unknown>;
  delete(): void;
}

/** The members of the module @litertjs/core that are used here. */
export interface LiteRtModule {
  loadAndCompile(model: Uint8Array, options?: object): Promise<LiteRtModel>;
  readonly Tensor: new (data: never, dims: never) => LiteRtTensor;
  getGlobalLiteRt(): { readonly liteRtWasm: object };
}

interface LiteRtWasm {
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
  readonly LiteRtTensorBufferLockMode: { readonly READ: object; readonly WRITE: object };
}

/**
 * Runs networks by LiteRT.js. Call its `loadLiteRt(path)` first. On the accelerator "wasm" the picture is written into
 * the runtime's memory, and the decoder copies only the needed parts of outputs. Other accelerators copy the whole
 * picture and whole outputs.
 * @param litert the module: `import * as litert from "@litertjs/core"`
 * @param options options of `loadAndCompile`. Default: `{ accelerator: "wasm" }`
 * @example
 * import { createDetector, liteRt } from "boxwright";
 *
 * // In a page: import * as module from "@litertjs/core", and await module.loadLiteRt("/litert/"). Here a model that
 * // finds nothing, in a memory of its own.
 * const HEAPU8 = new Uint8Array(4 * 64 * 64 * 3);
 * const liteRtWasm = { HEAPU8, LiteRtTensorBufferLockMode: { READ: {}, WRITE: {} } };
 * class Tensor {
 *   accelerator = "wasm";
 *   liteRtTensorBuffer = { lock: () => 0, unlock() {} };
 *   data = async () => new Float32Array();
 *   delete() {}
 * }
 * const details = (name: string, ...shape: number[]) => [{ name, dtype: "float32", shape }];
 * const model = {
 *   options: { accelerator: "wasm" },
 *   getInputDetails: () => details("images", 1, 64, 64, 3),
 *   getOutputDetails: () => details("output0", 1, 6, 84),
 *   run: async () => (HEAPU8.fill(0), { output0: new Tensor() }),
 *   delete() {},
 * };
 * const module = { Tensor, loadAndCompile: async () => model, getGlobalLiteRt: () => ({ liteRtWasm }) };
 * const config = { family: "yolov8", labels: ["cat", "dog"] };
 * const detector = await createDetector({ model, runtime: liteRt(module), config });
 * console.log((await detector.detect({ data: new Uint8Array(64), width: 4, height: 4 })).length); // 0
 */
export function liteRt(
  litert: LiteRtModule,
  options: object = { accelerator: "wasm" },
): Runtime<Uint8Array | LiteRtModel> {
  checkModule("liteRt", litert, "loadAndCompile");
  return {
    name: "liteRt",
    open: async (model) => {
      const compiled = ArrayBuffer.isView(model)
        ? await litert.loadAndCompile(model as Uint8Array, options)
        : model;
      return {
        // On "wasm", outputs are valid only until the next run, which may move the runtime's memory.
        overlaps: (compiled as LiteRtModel).options?.accelerator !== "wasm",
        inputs: (compiled as LiteRtModel)
          .getInputDetails()
          .map(({ name, shape, dtype }) => ({ name, dims: Array.from(shape), type: dtype })),
        createLane: (input) => new LiteRtLane(litert, compiled as LiteRtModel, input),
        close: () => (compiled as LiteRtModel).delete(),
      } satisfies Session;
    },
  };
}

interface Output extends LiteRtDetails {
  readonly dims: readonly number[];
}

class LiteRtLane implements Lane {
  readonly #wasm: LiteRtWasm;
  readonly #model: LiteRtModel;
  readonly #spec: InputSpec;
  readonly #input: LiteRtTensor;
  readonly #inputs: { readonly [name: string]: LiteRtTensor };
  readonly #details: readonly Output[];
  readonly #outputs: Record<string, TensorInput> = {};
  /** Output tensors of the last run. */
  #tensors: LiteRtTensor[] = [];
  #locked: LiteRtBuffer[] = [];
  #isWriting = false;

  constructor(litert: LiteRtModule, model: LiteRtModel, input: InputSpec) {
    this.#wasm = litert.getGlobalLiteRt().liteRtWasm as LiteRtWasm;
    this.#model = model;
    this.#spec = input;
    this.#input = new litert.Tensor(arrayFor(input) as never, input.dims as never);
    this.#inputs = { [input.name]: this.#input };
    this.#details = model.getOutputDetails().map((output) => ({ ...output, dims: Array.from(output.shape) }));
  }

  input(): SlotArray {
    const buffer = this.#input.liteRtTensorBuffer as LiteRtBuffer;
    const at = buffer.lock(this.#wasm.LiteRtTensorBufferLockMode.WRITE);
    this.#isWriting = true;
    return viewOf(this.#wasm.HEAPU8.buffer, at, this.#spec);
  }

  async run(): Promise<Outputs> {
    this.#endWriting();
    const outputs = (await this.#model.run(this.#inputs as never)) as {
      readonly [name: string]: LiteRtTensor;
    };
    for (const { name, dims } of this.#details) {
      const tensor = outputs[name];
      this.#tensors.push(tensor);
      this.#outputs[name] = { data: await this.#read(tensor, name), dims };
    }
    return this.#outputs;
  }

  /** Returns a view of a tensor in the runtime's memory, or a copy if the tensor is on another device. */
  async #read(tensor: LiteRtTensor, name: string): Promise<SlotArray> {
    if (tensor.accelerator !== "wasm") return (await tensor.data()) as SlotArray;
    const buffer = tensor.liteRtTensorBuffer as LiteRtBuffer;
    const at = buffer.lock(this.#wasm.LiteRtTensorBufferLockMode.READ);
    this.#locked.push(buffer);
    const { dims, dtype } = this.#details.find((output) => output.name === name) as Output;
    const length = volume(dims);
    const { buffer: memory } = this.#wasm.HEAPU8;
    if (dtype === "int32") return new Int32Array(memory, at, length);
    return dtype === "uint8" ? new Uint8Array(memory, at, length) : new Float32Array(memory, at, length);
  }

  #endWriting(): void {
    if (this.#isWriting) (this.#input.liteRtTensorBuffer as LiteRtBuffer).unlock();
    this.#isWriting = false;
  }

  release(): void {
    for (const buffer of this.#locked) buffer.unlock();
    for (const tensor of this.#tensors) tensor.delete();
    this.#locked = [];
    this.#tensors = [];
  }

  close(): void {
    this.#endWriting();
    this.release();
    this.#input.delete();
  }
}
