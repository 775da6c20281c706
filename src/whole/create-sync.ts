/** Contains `createDecoderSync` of `boxwright`, which imports every part. Pages with `createDecoder` do not load it. */
import type { DecoderOptions } from "../config/types.ts";
import type { DecoderOf } from "../decode/by-task.ts";
import type { Decoder, FileConfig } from "../decode/decoder.ts";
import { fetched } from "../decode/fetched.ts";
import { makeDecoderSync } from "../decode/tensor-decoder.ts";
import { ALL_PARTS } from "./parts.ts";

/**
 * Makes a decoder as `createDecoder` does, without a promise. The first call compiles the kernel on this thread, which
 * takes some milliseconds. A page that imports this function loads the code of every task.
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
