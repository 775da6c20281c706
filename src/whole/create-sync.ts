/** `createDecoderSync` of `boxwright`, with every part. A page that calls `createDecoder` does not fetch this file. */
import type { DecoderOptions } from "../config/types.ts";
import type { DecoderOf } from "../decode/by-task.ts";
import type { Decoder, FileConfig } from "../decode/decoder.ts";
import { fetched } from "../decode/fetched.ts";
import { makeDecoderSync } from "../decode/tensor-decoder.ts";
import { ALL_PARTS } from "./parts.ts";

/**
 * `createDecoder` without a promise: the kernel is compiled on this thread, some milliseconds once. In a page it brings
 * the code of every task.
 * @throws as `createDecoder`
 * @example
 * import { createDecoderSync } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] }, { engine: "ts" });
 * console.log(decoder.engine); // ts
 */
export function createDecoderSync<const C>(config: FileConfig<C>, options?: DecoderOptions): DecoderOf<C>;
export function createDecoderSync(config: unknown, options: DecoderOptions = {}): Decoder {
  return makeDecoderSync(config, options, ALL_PARTS, () => fetched);
}
