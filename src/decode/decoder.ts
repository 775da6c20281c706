/** The interface `Decoder`. `tensor-decoder.ts` implements it. */
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
  /** The config as it was read, with the caller's options in place of its own fields. */
  readonly config: Config;
  /**
   * Hash of the config, 16 hexadecimal digits (FNV-1a). Configs that decode in the same way have the same hash.
   * `output_format` and `update` do not change it. Packets carry this hash. The hash finds mistakes, but not forgery.
   * Null if the config does not say how to decode.
   */
  readonly configHash: string | null;
  /** Counters. The object is updated in place. */
  readonly stats: Stats;
  /** Tensor slots by name. Empty until the shapes are known. */
  readonly slots: { readonly [name: string]: Slot };
  /**
   * The best score of the last frame, with its class and cell. If the frame has detections, it is the first detection's
   * score. If the frame has none, it is the best score above 0, even if its box lies outside the image. If objectness
   * only gates the class score, every cell with an objectness above 0 counts.
   *
   * `null` before the first frame, after a packet of detections, and if every score is 0 or NaN. Also `null` if nothing
   * passed and the decoder copied only rows whose objectness passes. To get a score then, decode the same outputs with
   * a new decoder.
   *
   * Reading this property may run another scan: read it before you write the next frame into the slots.
   */
  readonly best: Best | null;
  /**
   * Decodes one image. The next call overwrites the result; `copy()` keeps it. Rows are in order of confidence.
   * Coordinates are 0..1 across the image of `frame`, or across the network's input if there is no frame.
   * @param outputs a record or an array of `{data, dims}`, or one such tensor. Default: the contents of the slots
   * @param frame size of the original image in pixels, and how it was resized to the input
   * @throws TensorError if the outputs do not fit the config, hold values that the config rules out, or are a batch;
   * RangeError if the frame is wrong
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
   * else from the family's usual preparation. `describe()` prints the rule.
   */
  readonly prepareRule: PartialRule;
  /**
   * Makes the network's input tensor from an image, by `prepareRule`.
   * @param image bytes and their format; an `ImageData` fits as it is
   * @returns the tensor, and the frame that `decode` takes
   * @throws RangeError if the image or the rule is wrong, or the network's input size is unknown
   */
  prepare(image: ImageInput, options?: PrepareOptions): Prepared;
  /**
   * Returns the detections in a packet that `fromPacket` read. Decodes the tensors of a raw packet. The next call may
   * overwrite the result.
   * @throws PacketError if the packet was made with another config; TensorError as `decode`
   */
  receive(packet: Receivable): Detections;
  /**
   * Changes thresholds between frames without building a new plan.
   * @throws RangeError for an unknown name or a wrong value. No threshold changes then
   */
  update(thresholds: Update): void;
  /** Describes the plan as text and as data: how each tensor is read, and why. */
  describe(): Description;
}

/** A packet that `receive` accepts. */
export interface Receivable {
  /** Returns the detections. `decoder` decodes a raw packet. For other packets, `columnsOf` converts the records. */
  detectionsBy(
    decoder: Decoder,
    columnsOf: (rows: readonly DetectionFields[], sources: readonly number[]) => Detections,
  ): Detections;
}

/**
 * Type of a config: the content of a file, or typed options. An object literal with `family` must be `TypedOptions`, so
 * that the compiler finds a misspelt option. The last branch is for editors: it lists the typed options, so that names
 * are completed before `family` is written.
 */
export type FileConfig<C> = C extends { readonly family: infer F }
  ? string extends F
    ? C
    : TypedOptions
  : C | Partial<TypedOptions>;
