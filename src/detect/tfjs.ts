/** Adapter for TensorFlow.js: graph models and layers models on any backend. */
import { TensorError } from "../core/errors.ts";
import { show, type SlotArray, type TensorInput } from "../core/tensor.ts";
import type { Outputs } from "../decode/inputs.ts";
import { type InputSpec, type Lane, type Runtime, type Session, checkModule, ownInput } from "./session.ts";

/** The members of a TensorFlow.js tensor that are used here. */
export interface TfTensor {
  readonly shape: readonly number[];
  readonly dtype: string;
  data(): Promise<unknown>;
  dispose(): void;
}

interface TfInfo {
  readonly name: string;
  readonly shape?: readonly (number | null)[] | undefined;
  readonly dtype?: string | undefined;
}

/** A model of TensorFlow.js: the result of `loadGraphModel`, or any object with `predict`. */
export interface TfModel {
  readonly inputs?: readonly TfInfo[];
  readonly outputs?: readonly TfInfo[];
  predict(input: never): unknown;
  /** Needed for graph models with control flow. */
  executeAsync?(input: never): Promise<unknown>;
  dispose?(): void;
}

/** The members of the module that are used here. */
export interface Tf {
  tensor(data: never, shape: never, dtype: never): TfTensor;
  ready(): Promise<void>;
  getBackend(): string;
  backend(): object;
}

/**
 * Runs models of TensorFlow.js. The backend copies the picture. On the backend "wasm", the decoder reads the outputs
 * directly in the backend's memory. Other backends copy each output to a new array.
 * @param tf the module: `import * as tf from "@tensorflow/tfjs"`
 * @param options `executeAsync`: needed for networks with operators whose output shapes depend on data, such as NMS
 * @example
 * import * as tf from "@tensorflow/tfjs-core";
 * import "@tensorflow/tfjs-backend-wasm";
 * import { createDetector, tfjs } from "boxwright";
 *
 * // In an application: const model = await tf.loadGraphModel(url). Here a network that finds nothing.
 * const model = { predict: () => tf.zeros([1, 6, 84]) };
 * const config = { family: "yolov8", labels: ["cat", "dog"], inputSize: [64, 64] };
 * const detector = await createDetector({ model, runtime: tfjs(tf), config }, { prepare: { layout: "NHWC" } });
 * const found = await detector.detect({ data: new Uint8Array(64), width: 4, height: 4 });
 * console.log(found.length); // 0
 */
export function tfjs(tf: Tf, options: { readonly executeAsync?: boolean } = {}): Runtime<TfModel> {
  checkModule("tfjs", tf, "ready");
  return {
    name: "tfjs",
    open: async (model) => {
      await tf.ready();
      return {
        // On "wasm", outputs are valid only until the next run, which may move the backend's memory.
        overlaps: tf.getBackend() !== "wasm",
        // Report int32 as uint8: TensorFlow.js has no type for bytes and stores them as int32.
        inputs: model.inputs?.map(({ name, shape = null, dtype = null }) => ({
          name,
          dims: shape,
          type: dtype === "int32" ? "uint8" : dtype,
        })) ?? [{ name: "input", dims: null, type: null }],
        createLane: (input) => laneOf(tf, model, input, options.executeAsync ?? false),
        close: () => model.dispose?.(),
      } satisfies Session;
    },
  };
}

/** TensorFlow.js's name of each supported element type of the picture's input. */
const TYPES: { readonly [type: string]: string } = { f32: "float32", u8: "int32" };

function laneOf(tf: Tf, model: TfModel, spec: InputSpec, isAsync: boolean): Lane {
  const { dims, type } = spec;
  if (!(type in TYPES))
    throw new TensorError(`tfjs: got an input of ${type}, expected f32 or u8: it has no other`);
  const input = ownInput(spec);
  let tensors: TfTensor[] = [];

  /** Returns a view of the backend's memory on "wasm", valid until the next tensor is made. Else returns a copy. */
  const read = async (tensor: TfTensor): Promise<SlotArray> => {
    const backend = tf.backend() as { typedArrayFromHeap?(tensor: TfTensor): SlotArray };
    const view = tf.getBackend() === "wasm" ? backend.typedArrayFromHeap?.(tensor) : undefined;
    return view ?? ((await tensor.data()) as SlotArray);
  };
  /** Returns outputs by name, from a record or in the order of the model's list. */
  const outputsOf = async (result: unknown): Promise<Outputs> => {
    const list = isTensor(result) ? [result] : result;
    if (typeof list !== "object" || list === null)
      throw new TensorError(
        `tfjs: got ${show(result)} of the model, expected a tensor, a list or a record of tensors`,
      );
    const names = Array.isArray(list)
      ? list.map((_, i) => model.outputs?.[i]?.name ?? `output${i}`)
      : Object.keys(list);
    const outputs: Record<string, TensorInput> = {};
    tensors = Object.values(list) as TfTensor[];
    for (const [i, tensor] of tensors.entries())
      outputs[names[i]] = { data: await read(tensor), dims: tensor.shape };
    return outputs;
  };
  const release = (): void => {
    for (const tensor of tensors) tensor.dispose();
    tensors = [];
  };
  return {
    input: () => input.data,
    run: async () => {
      const picture = tf.tensor(input.data as never, dims as never, TYPES[type] as never);
      try {
        const { executeAsync } = model;
        return await outputsOf(
          isAsync && executeAsync
            ? await executeAsync.call(model, picture as never)
            : model.predict(picture as never),
        );
      } finally {
        picture.dispose();
      }
    },
    release,
    close: release,
  };
}

const isTensor = (value: unknown): value is TfTensor =>
  typeof (value as Partial<TfTensor> | null)?.dispose === "function" && "shape" in (value as object);
