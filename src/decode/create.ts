/** `createDecoder` of `boxwright/core`: with the tasks that the caller passes. */
import type { DecoderOptions } from "../config/types.ts";
import type { DecoderOf } from "./by-task.ts";
import type { Decoder, FileConfig } from "./decoder.ts";
import { makeDecoder, makeDecoderSync } from "./tensor-decoder.ts";
import { type DecoderTask, checkTaskList } from "./tasks.ts";

/** Options of `createDecoder` of `boxwright/core`. */
export interface CoreOptions<T extends DecoderTask = DecoderTask> extends DecoderOptions {
  /** What the decoder does besides boxes: some of `pose`, `masks`, `oriented`, `peaks`, `text`, `suppression` and
   * `prepare`. */
  readonly tasks?: readonly T[];
}

/**
 * Makes a decoder from a config, as `createDecoder` of `boxwright` does. It carries the tasks that are passed, and no
 * other: a config that needs another one is refused.
 * @throws ConfigError if a task is missing, with the line to write; and as `createDecoder` of `boxwright`
 * @example
 * import { createDecoder, pose } from "boxwright/core";
 *
 * const network = { family: "yolov8", task: "pose", classes: 1, inputSize: [640, 640], keypoints: [17, 3] };
 * const decoder = await createDecoder(network, { tasks: [pose] });
 * console.log(decoder.engine); // simd
 */
export function createDecoder<const C, T extends DecoderTask = never>(
  config: FileConfig<C>,
  options?: CoreOptions<T>,
): Promise<DecoderOf<C, T>>;
export async function createDecoder(config: unknown, options: CoreOptions = {}): Promise<Decoder> {
  const [ownOptions, tasks] = split(options);
  return makeDecoder(config, ownOptions, tasks);
}

/**
 * `createDecoder` without a promise: the kernel is compiled on this thread, some milliseconds once.
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
  const [ownOptions, tasks] = split(options);
  return makeDecoderSync(config, ownOptions, tasks);
}

/** Returns the options of the decoder, and its tasks. `readConfig` refuses options that are no object. */
function split(options: CoreOptions | null): [DecoderOptions, readonly DecoderTask[]] {
  if (typeof options !== "object" || options === null || Array.isArray(options)) return [options ?? {}, []];
  const { tasks, ...decoderOptions } = options;
  checkTaskList(tasks ?? []);
  return [decoderOptions, tasks ?? []];
}
