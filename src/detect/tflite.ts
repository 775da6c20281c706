/** Adapter for TensorFlow Lite in the browser (@tensorflow/tfjs-tflite). */
import { TensorError } from "../core/errors.ts";
import type { SlotArray, TensorInput } from "../core/tensor.ts";
import { type Lane, type Runtime, type Session, checkModule } from "./session.ts";

/** A tensor of the interpreter. `data` returns a view of the interpreter's memory. */
export interface TfliteTensor {
  readonly name: string;
  /** Sizes as text: "1,640,640,3". */
  readonly shape: string;
  readonly dataType: string;
  data(): unknown;
}

/** The interpreter under a `TFLiteModel`. */
export interface TfliteRunner {
  getInputs(): readonly TfliteTensor[];
  getOutputs(): readonly TfliteTensor[];
  infer(): boolean;
  cleanUp?(): void;
}

/** The members of the module that are used here. */
export interface Tflite {
  loadTFLiteModel(model: ArrayBuffer, options?: object): Promise<object>;
}

/** A `TFLiteModel`, or the interpreter under it. */
export type TfliteModel = object;

/**
 * Runs networks by @tensorflow/tfjs-tflite. The picture is written into the interpreter's memory. From the outputs in
 * that memory, the decoder copies only the values that it reads.
 * @param module the module: `import * as tflite from "@tensorflow/tfjs-tflite"`
 * @param options options of `loadTFLiteModel`, for instance `{ numThreads: 4 }`
 * @example
 * import { createDetector, tflite } from "boxwright";
 *
 * // In a page: import * as module from "@tensorflow/tfjs-tflite". Here an interpreter that finds nothing.
 * const tensor = (name: string, ...dims: number[]) => {
 *   const data = new Float32Array(dims.reduce((product, size) => product * size));
 *   return { name, shape: dims.join(), dataType: "float32", data: () => data };
 * };
 * const [picture, output] = [tensor("images", 1, 64, 64, 3), tensor("output0", 1, 6, 84)];
 * const model = { getInputs: () => [picture], getOutputs: () => [output], infer: () => true };
 * const module = { loadTFLiteModel: async () => model };
 * const config = { family: "yolov8", labels: ["cat", "dog"] };
 * const detector = await createDetector({ model, runtime: tflite(module), config });
 * console.log((await detector.detect({ data: new Uint8Array(64), width: 4, height: 4 })).length); // 0
 */
export function tflite(module: Tflite, options: object = {}): Runtime<Uint8Array | TfliteModel> {
  checkModule("tflite", module, "loadTFLiteModel");
  return {
    name: "tflite",
    open: async (model) => {
      const opened = ArrayBuffer.isView(model)
        ? await module.loadTFLiteModel(bufferOf(model as Uint8Array), options)
        : model;
      return sessionOf(runnerOf(opened));
    },
  };
}

/** Returns an ArrayBuffer that holds exactly these bytes. Copies only if necessary. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  const isWhole = byteOffset === 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer;
  return isWhole ? buffer : (buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}

function runnerOf(model: object): TfliteRunner {
  const runner = ((model as { modelRunner?: object }).modelRunner ?? model) as Partial<TfliteRunner>;
  if (typeof runner.infer !== "function" || typeof runner.getInputs !== "function")
    throw new TensorError(
      "model: got an object without an interpreter, expected what loadTFLiteModel returned",
    );
  return runner as TfliteRunner;
}

const dimsOf = ({ shape }: TfliteTensor): number[] => shape.split(",").map(Number);

/** Frames do not overlap: the interpreter has one set of outputs, which must be decoded before the next run. */
const sessionOf = (runner: TfliteRunner): Session => ({
  overlaps: false,
  inputs: runner.getInputs().map((tensor) => ({
    name: tensor.name,
    dims: dimsOf(tensor),
    type: tensor.dataType,
  })),
  createLane: () => laneOf(runner),
  close: () => runner.cleanUp?.(),
});

function laneOf(runner: TfliteRunner): Lane {
  const outputs: Record<string, TensorInput> = {};
  return {
    input: () => runner.getInputs()[0].data() as SlotArray,
    run: async () => {
      if (!runner.infer())
        throw new TensorError(
          "tflite: the interpreter failed to run the network. Its own message is on the console.",
        );
      for (const tensor of runner.getOutputs())
        outputs[tensor.name] = { data: tensor.data() as SlotArray, dims: dimsOf(tensor) };
      return outputs;
    },
    // Nothing to free: input and outputs belong to the interpreter.
    release: () => undefined,
    close: () => undefined,
  };
}
