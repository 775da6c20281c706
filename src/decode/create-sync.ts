/** Holds `createDecoderSync` of `boxwright/core` in a separate module, so that pages without it stay smaller. */
import type { DecoderOf } from "./by-task.ts";
import { type CoreOptions, splitOptions } from "./create.ts";
import type { Decoder, FileConfig } from "./decoder.ts";
import { fetched } from "./fetched.ts";
import { makeDecoderSync } from "./tensor-decoder.ts";
import type { DecoderTask } from "./tasks.ts";

/**
 * Does the same as `createDecoder`, without a promise. The first call compiles the kernel on this thread, which takes
 * some milliseconds.
 * @throws as `createDecoder`
 * @example
 * import { createDecoderSync } from "boxwright/core";
 *
 * const decoder = createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] }, { engine: "ts" });
 * console.log(decoder.engine); // ts
 */
export function createDecoderSync<const C, T extends DecoderTask = never>(
  config: FileConfig<C>,
  options?: CoreOptions<T>,
): DecoderOf<C, T>;
export function createDecoderSync(config: unknown, options: CoreOptions = {}): Decoder {
  const [ownOptions, parts] = splitOptions(options);
  return makeDecoderSync(config, ownOptions, parts, () => fetched);
}
