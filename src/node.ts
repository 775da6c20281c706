/**
 * `boxwright/node`: tensor files, NN Archives, drawing and a look at what shapes can be, for Node. Kept apart from the library itself, which runs anywhere
 * and imports nothing of Node.
 */
import { type Decoder, type DecoderOptions, createDecoder } from "./index.ts";
import { ConfigError, mismatch } from "./errors.ts";
import { readArchiveConfig } from "./files.ts";
import { show } from "./tensor.ts";

export { mergeTensors, packingOf, parseTensors, readArchiveConfig, readInput, readTensors } from "./files.ts";
export { parseNpy, parseNpz } from "./files.ts";
export { readSafetensors, writeSafetensors } from "./safetensors.ts";
export { type Inspection, inspect } from "./inspect.ts";
export { DrawError, drawPng, drawSvg, imageInfo, rasterise } from "./draw.ts";
export type { Input } from "./files.ts";
export type { Packing } from "./files/archive.ts";
export type { ElementType, NamedTensor, TensorData } from "./safetensors.ts";
export type { DrawOptions, Drawn, ImageInfo, RasterOptions } from "./draw.ts";

/**
 * `createDecoder` for an NN Archive: its bytes (`.tar.xz`, `.tar.gz` or `.tar`) in place of its `config.json`.
 * `.tar.xz` needs the optional package `xz-decompress`.
 * @throws ConfigError where the bytes are no archive or hold no usable config.json, with got and expected
 */
export async function createArchiveDecoder(
  bytes: Uint8Array,
  options: DecoderOptions = {},
): Promise<Decoder> {
  if (!(bytes instanceof Uint8Array))
    throw new ConfigError([
      { path: "", message: mismatch(show(bytes), "the bytes of an NN Archive, a Uint8Array") },
    ]);
  return createDecoder(await readArchiveConfig(bytes, "archive"), options);
}
