/** `createDecoder` of `boxwright` in Node: a task is read when a config needs it. decoder.ts documents it. */
import type { DecoderOptions } from "../config/types.ts";
import type { Decoder } from "../decode/decoder.ts";
import { makeDecoder, makeDecoderSync } from "../decode/tensor-decoder.ts";
import type { DecoderTask } from "../decode/tasks.ts";
import { masks, oriented, peaks, pose, prepare, suppression, text } from "./later.ts";

const LATER_TASKS: readonly DecoderTask[] = [pose, masks, oriented, peaks, text, suppression, prepare];

export const createDecoder = (config: unknown, options: DecoderOptions = {}): Promise<Decoder> =>
  makeDecoder(config, options, LATER_TASKS);

export const createDecoderSync = (config: unknown, options: DecoderOptions = {}): Decoder =>
  makeDecoderSync(config, options, LATER_TASKS);
