/** `createDecoder` of `boxwright/core`, which receives tasks, checks and explanations as values. */
import type { DecoderOptions } from "../config/types.ts";
import type { Explain } from "../plan/explain.ts";
import type { DecoderOf } from "./by-task.ts";
import type { Checks } from "./checks.ts";
import type { Decoder, FileConfig } from "./decoder.ts";
import { type Parts, checkPart } from "./parts.ts";
import { makeDecoder } from "./tensor-decoder.ts";
import { type DecoderTask, checkTaskList } from "./tasks.ts";

/** Options of `createDecoder` of `boxwright/core`. */
export interface CoreOptions<T extends DecoderTask = DecoderTask> extends DecoderOptions {
  /** Tasks besides plain boxes: any of `pose`, `masks`, `oriented`, `peaks`, `text`, `suppression`, `prepare`. */
  readonly tasks?: readonly T[];
  /** Checks for wrong input: pass the value `checks`. Without checks, only probabilities outside 0..1 are refused. */
  readonly checks?: Checks;
  /** Pass the value `explain` for long errors, notes on plans and `describe()`. Without it, errors are short. */
  readonly explain?: Explain;
}

/**
 * Makes a decoder from a config, as `createDecoder` of `boxwright` does, but only with the tasks, checks and
 * explanations in `options`.
 * @throws ConfigError if a needed task is missing, with the code line to write; and as `createDecoder` of `boxwright`
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
  const [ownOptions, parts] = splitOptions(options);
  return makeDecoder(config, ownOptions, () => parts);
}

/**
 * Separates the decoder's own options from tasks, checks and explanations. Returns options that are not an object
 * unchanged: `readConfig` refuses them.
 */
export function splitOptions(options: CoreOptions | null): [DecoderOptions, Parts] {
  const isObject = typeof options === "object" && options !== null && !Array.isArray(options);
  const { tasks = [], checks, explain, ...own } = isObject ? options : ({} as CoreOptions);
  checkTaskList(tasks);
  checkPart("checks", checks, "watch");
  checkPart("explain", explain, "describePlan");
  return [isObject ? own : (options ?? {}), { tasks, checks: checks ?? null, explain: explain ?? null }];
}
