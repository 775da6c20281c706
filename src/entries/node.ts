/**
 * `boxwright/node`: tensor files, NN Archives, plan files, drawing and a look at what shapes can be, for Node. Kept apart from the library itself, which runs anywhere
 * and imports nothing of Node.
 */
import { type Decoder, type DecoderOptions, type TensorData, createDecoder } from "./index.ts";
import { ConfigError, mismatch } from "../core/errors.ts";
import { compilePlan as compile } from "../planfile/write.ts";
import { readArchiveConfig } from "../node/files.ts";
import { show } from "../core/tensor.ts";

export {
  mergeTensors,
  packingOf,
  parseTensors,
  readArchiveConfig,
  readInput,
  readTensors,
} from "../node/files.ts";
export { parseNpy, parseNpz } from "../node/files.ts";
export { readSafetensors, writeSafetensors } from "../node/files/safetensors.ts";
export { type Inspection, inspect } from "../node/inspect.ts";
export { drawPng, rasterise } from "../node/raster.ts";
export { DrawError } from "../picture/drawn.ts";
export { imageInfo } from "../picture/image-info.ts";
export { drawSvg } from "../picture/svg.ts";
export type { Input } from "../node/files.ts";
export type { Packing } from "../node/files/archive.ts";
export type { ElementType, NamedTensor, TensorData } from "../node/files/safetensors.ts";
export type { RasterOptions } from "../node/raster.ts";
export type { Drawn } from "../picture/drawn.ts";
export type { ImageInfo } from "../picture/image-info.ts";
export type { DrawOptions } from "../picture/svg.ts";

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

/**
 * The plan file of a config, for `boxwright/plan` and for C: everything that a decoder works out from config and shapes, done beforehand,
 * as `boxwright compile` does. The shapes come with the config or as `options.outputs`; thresholds are part of the plan.
 * @param values outputs on which boxes rest, by name: prior boxes that the network gives, as arrays or as tensors
 * @throws ConfigError, TensorError as `createDecoder` and its first frame would
 */
export function compilePlan(
  config: unknown,
  options: DecoderOptions = {},
  values: { readonly [name: string]: TensorData | { readonly data: TensorData } } = {},
): Uint8Array<ArrayBuffer> {
  const valuesOf = (name: string): TensorData | null => {
    const given = (values as typeof values | null)?.[name] ?? null;
    return given !== null && "data" in given ? given.data : given;
  };
  return compile(config, options ?? {}, valuesOf).bytes;
}
