/** `createDecoder` of `boxwright` in Node, which loads a task at its first use. create.ts documents the function. */
import type { DecoderOptions } from "../config/types.ts";
import type { Decoder } from "../decode/decoder.ts";
import { makeDecoder, makeDecoderSync } from "../decode/tensor-decoder.ts";
import { checks } from "../checks/checks.ts";
import type { Parts } from "../decode/parts.ts";
import { explain } from "../plan/explain.ts";
import { laterFetched, masks, oriented, peaks, pose, prepare, suppression, text } from "./later.ts";

const PARTS: Parts = {
  tasks: [pose, masks, oriented, peaks, text, suppression, prepare],
  checks,
  explain,
};

export const createDecoder = (config: unknown, options: DecoderOptions = {}): Promise<Decoder> =>
  makeDecoder(config, options, () => PARTS);

export const createDecoderSync = (config: unknown, options: DecoderOptions = {}): Decoder =>
  makeDecoderSync(config, options, PARTS, laterFetched);
