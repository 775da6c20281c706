/** Contains `createDecoderSync` of `boxwright/core` for Node. decode/create-sync.ts documents the function. */
import { type CoreOptions, splitOptions } from "../decode/create.ts";
import type { Decoder } from "../decode/decoder.ts";
import { makeDecoderSync } from "../decode/tensor-decoder.ts";
import { laterFetched } from "./later.ts";

export function createDecoderSync(config: unknown, options: CoreOptions = {}): Decoder {
  const [ownOptions, parts] = splitOptions(options);
  return makeDecoderSync(config, ownOptions, parts, laterFetched);
}
