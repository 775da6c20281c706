/** `createDecoder` of `boxwright`: with every part. */
import type { DecoderOptions } from "../config/types.ts";
import type { DecoderOf } from "../decode/by-task.ts";
import type { Decoder, FileConfig } from "../decode/decoder.ts";
import { makeDecoder, makeDecoderSync } from "../decode/tensor-decoder.ts";
import { ALL_PARTS } from "./parts.ts";

/**
 * Makes a decoder from a config. Compiles the kernel off the main thread if the runtime can.
 * @param config parsed JSON or its text (NN_config, nn_config, NN Archive config.json), or typed options
 * @param options what overrides the config, and what no config states
 * @throws ConfigError with every problem of the config at once; TensorError if shapes that are known beforehand do not
 * fit it; RangeError for an unknown engine, Error for an engine that cannot run here
 * @example
 * import { createDecoder } from "boxwright";
 *
 * const decoder = await createDecoder({ family: "yolov8", classes: 80, inputSize: [640, 640] });
 * console.log(decoder.engine); // simd
 */
export function createDecoder<const C>(
  config: FileConfig<C>,
  options?: DecoderOptions,
): Promise<DecoderOf<C>>;
export function createDecoder(config: unknown, options: DecoderOptions = {}): Promise<Decoder> {
  return makeDecoder(config, options, ALL_PARTS);
}

/**
 * `createDecoder` without a promise: the kernel is compiled on this thread, some milliseconds once.
 * @throws as `createDecoder`
 * @example
 * import { createDecoderSync } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] }, { engine: "ts" });
 * console.log(decoder.engine); // ts
 */
export function createDecoderSync<const C>(config: FileConfig<C>, options?: DecoderOptions): DecoderOf<C>;
export function createDecoderSync(config: unknown, options: DecoderOptions = {}): Decoder {
  return makeDecoderSync(config, options, ALL_PARTS);
}
