/** `boxwright/node`: tensor files, NN Archives, plan files, PNG, and `inspect` for the possible meanings of shapes. */
import { refuseConfig } from "../core/errors.ts";
import { isBytes, show } from "../core/tensor.ts";
import { readArchiveConfig } from "../node/files/archive.ts";
import { compilePlan as compile } from "../planfile/write.ts";
import type { DecoderOptions } from "../config/types.ts";
import type { TensorData } from "../core/tensor.ts";
import type { Decoder } from "../decode/decoder.ts";
import { createDecoder } from "../whole/decoder.ts";

export { type Packing, packingOf, readArchiveConfig } from "../node/files/archive.ts";
export { parseNpy } from "../node/files/npy.ts";
export { parseNpz } from "../node/files/npz.ts";
export { parseTensors } from "../node/files/parse.ts";
export { type Input, mergeTensors, readInput, readTensors } from "../node/files/read.ts";
export { readPacketFile, writePacketFile } from "../node/files/packet-file.ts";
export { readSafetensors, writeSafetensors } from "../node/files/safetensors.ts";
export type { FileElementType, NamedTensor, FileTensorData } from "../node/files/tensor.ts";
export { type Inspection, type PossibilityList, inspect } from "../node/inspect-tensors.ts";
export type { Possibility } from "../node/possibility.ts";
export { type Pixels, readImage } from "../node/images.ts";
export { type RasterOptions, drawPng, rasterise } from "../node/raster.ts";
export { type ImageInfo, imageInfo } from "../picture/image-info.ts";

/**
 * Makes a decoder from the bytes of an NN Archive, `.tar.xz`, `.tar.gz` or `.tar`, as `createDecoder` does from its
 * `config.json`. `.tar.xz` needs the optional package `xz-decompress`.
 * @throws ConfigError if the bytes are no archive, or hold no usable `config.json`; and as `createDecoder` does
 * @example
 * import { readFileSync } from "node:fs";
 * import { createArchiveDecoder } from "boxwright/node";
 *
 * const decoder = await createArchiveDecoder(readFileSync("test/fixtures/files/nnarchive.tar.xz"));
 * console.log(Object.keys(decoder.slots).join(", ")); // output1_yolov6r2, output2_yolov6r2, output3_yolov6r2
 */
export async function createArchiveDecoder(
  bytes: Uint8Array,
  options: DecoderOptions = {},
): Promise<Decoder> {
  if (!isBytes(bytes)) refuseConfig("", show(bytes), "the bytes of an NN Archive, a Uint8Array");
  return createDecoder(await readArchiveConfig(bytes, "archive"), options);
}

/**
 * Compiles a config to a plan file, as `boxwright compile` does. `boxwright/plan` and C programs use the file to
 * decode, without reading config and shapes again. Thresholds are part of the plan.
 * @param options must state the shapes as `outputs`, unless the config states them
 * @param values the values of outputs that hold prior boxes: arrays or tensors, by output name
 * @throws ConfigError, TensorError as `createDecoder` and its first frame
 * @example
 * import { compilePlan } from "boxwright/node";
 *
 * const network = { family: "yolov8", classes: 80, inputSize: [640, 640] };
 * const file = compilePlan(network, { outputs: [{ name: "output0", dims: [1, 84, 8400] }] });
 * console.log(new TextDecoder().decode(file.subarray(0, 4))); // BXWP
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
