/** `createDecoder` of `boxwright`, which loads every part that the config needs. */
import type { DecoderOptions } from "../config/types.ts";
import type { DecoderOf } from "../decode/by-task.ts";
import type { Decoder, FileConfig } from "../decode/decoder.ts";
import { makeDecoder } from "../decode/tensor-decoder.ts";
import { fetchParts } from "./fetch.ts";

/**
 * Makes a decoder from a config. Compiles the kernel off the main thread if the runtime can. A page whose bundler
 * splits code fetches a task when a config needs it.
 * @param config parsed JSON or its text (NN_config, nn_config, NN Archive config.json), or typed options
 * @param options options that override the config, and options that no config has
 * @throws ConfigError with every problem of the config at once; TensorError if shapes stated in advance do not fit;
 * RangeError for an unknown engine, Error for an engine that cannot run here
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
  return makeDecoder(config, options, fetchParts);
}
