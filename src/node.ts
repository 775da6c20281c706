/**
 * `boxwright/node`: tensor files, NN Archives and drawing, for Node. Kept apart from the library itself, which runs anywhere
 * and imports nothing of Node.
 */
export { mergeTensors, parseTensors, readArchiveConfig, readInput, readTensors } from "./files.ts";
export { parseNpy, parseNpz } from "./files.ts";
export { readSafetensors, writeSafetensors } from "./safetensors.ts";
export { DrawError, drawPng, drawSvg, imageInfo, rasterise } from "./draw.ts";
export type { Input } from "./files.ts";
export type { ElementType, NamedTensor, TensorData } from "./safetensors.ts";
export type { DrawOptions, Drawn, ImageInfo, RasterOptions } from "./draw.ts";
