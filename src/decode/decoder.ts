/** The interface `Decoder`. `tensor-decoder.ts` makes one. */
import type { EngineName } from "../core/engine-name.ts";
import type { PartialRule } from "../core/prepare-rule.ts";
import type { TensorInput } from "../core/tensor.ts";
import type { Config, TypedOptions } from "../config/types.ts";
import type { Description } from "../plan/describe.ts";
import type { Best } from "./best.ts";
import type { DetectionFields, Detections, ReusedDetections } from "./detections.ts";
import type { Frame } from "./frame.ts";
import type { Outputs, Slot } from "./inputs.ts";
import type { ImageInput, PrepareOptions, Prepared } from "./prepare.ts";
import type { Stats } from "./stats.ts";
import type { Update } from "./update.ts";

/**
 * Turns the output tensors of one network into detections. Made by `createDecoder`.
 * @example
 * import { createDecoderSync } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
 * const data = new Float32Array(5 * 84);
 * data.set([32, 20, 10, 8, 0.9].flatMap((value) => [value, ...Array(83).fill(0)])); // one box: cx cy w h score
 * for (const d of decoder.decode({ output0: { data, dims: [1, 5, 84] } }))
 *   console.log(d.label, d.x_min * 64, d.y_min * 64); // 0 27 16
 */
export interface Decoder {
  /** The engine that runs. */
  readonly engine: EngineName;
  /** The config as read, overridden by the options. */
  readonly config: Config;
  /**
   * Name of the config, 16 hexadecimal digits (FNV-1a): the same for configs that decode alike. `output_format` and
   * `update` do not change it. Packets carry it. It finds mistakes and is no proof against forgery. Null: the config
   * does not say how to decode.
   */
  readonly configHash: string | null;
  /** Counters, kept up to date in place. */
  readonly stats: Stats;
  /** Tensor slots by name. Empty until the shapes are known. */
  readonly slots: { readonly [name: string]: Slot };
  /**
   * The best score of the last frame, with its class and its cell. In a frame with detections, that of the first
   * detection. In a frame without any, the best score above 0, even of a box outside the image. A class score that
   * objectness only gates counts whatever its objectness is.
   *
   * `null` before the first frame, after a packet of detections, and if every score is 0 or NaN. `null` too if nothing
   * passed and the decoder copied only the rows whose objectness passes: decode the same outputs with a new decoder to
   * see theirs.
   *
   * It is computed when it is asked for, by another scan: ask before you write the next frame into the slots.
   */
  readonly best: Best | null;
  /**
   * Decodes one image. The next call overwrites the result; `copy()` keeps it. Rows stand in order of confidence.
   * Coordinates are 0..1 across the image of `frame`, or across the network's input without one.
   * @param outputs a record or an array of `{data, dims}`, or one such tensor; without them, what stands in the slots
   * @param frame size of the original image in pixels, and how it was resized to the input
   * @throws TensorError if the outputs do not fit the config, hold values that the config rules out, or are a batch;
   * RangeError if the frame is none
   */
  decode(outputs?: Outputs | TensorInput, frame?: Frame): ReusedDetections;
  /**
   * Decodes all images of a batch. The next call overwrites the results.
   * @param frames one frame for all images, or one for each
   * @returns one `Detections` for each image, in the order of the batch
   * @throws as `decode`
   */
  decodeBatch(
    outputs?: Outputs | TensorInput,
    frames?: Frame | readonly Frame[],
  ): readonly ReusedDetections[];
  /**
   * Rule by which `prepare` makes the input tensor. Each field comes from the option `prepare`, else from the file,
   * else from the family's usual preparation. `describe()` prints it.
   */
  readonly prepareRule: PartialRule;
  /**
   * Makes the network's input tensor of an image, by `prepareRule`.
   * @param image bytes and their format; an `ImageData` fits as it is
   * @returns the tensor, and the frame that `decode` takes
   * @throws RangeError if the image or the rule is none, or the size of
   * the network's input is not known
   */
  prepare(image: ImageInput, options?: PrepareOptions): Prepared;
  /**
   * Returns the detections of a packet that `fromPacket` read. Decodes the tensors of a raw packet. The next call may
   * overwrite the result.
   * @throws PacketError if the packet is from another config; TensorError as `decode`
   */
  receive(packet: Receivable): Detections;
  /**
   * Changes thresholds between frames without building a new plan.
   * @throws RangeError for an unknown name or value; then nothing has changed
   */
  update(thresholds: Update): void;
  /** Returns the plan in words and as data: what each tensor is taken for, and why. */
  describe(): Description;
}

/** A packet that can be turned into detections. */
export interface Receivable {
  /** Returns the detections, which `decoder` decodes if the packet is raw. `columnsOf` makes columns of records. */
  detectionsBy(
    decoder: Decoder,
    columnsOf: (rows: readonly DetectionFields[], sources: readonly number[]) => Detections,
  ): Detections;
}

/**
 * Type of a config: any file's content, or typed options. An object that names its `family` on the spot has to be
 * `TypedOptions`, so that the compiler names a misspelt option. The names of typed options are in the last branch for
 * editors, which complete them before `family` is there.
 */
export type FileConfig<C> = C extends { readonly family: infer F }
  ? string extends F
    ? C
    : TypedOptions
  : C | Partial<TypedOptions>;
