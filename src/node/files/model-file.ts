/** Finds model files (ONNX, TFLite) among a command's files. */
import { extname } from "node:path";
import { readModel } from "../../config/model/model.ts";
import { isTflite } from "../../config/model/tflite.ts";
import type { Model } from "../../config/model/types.ts";
import { ConfigError } from "../../core/errors.ts";

/** First byte of ONNX files from all exporters: the field of the format version. */
const ONNX_VERSION = 8;
/** Byte 8 of a safetensors file. The first byte of such a file may also be 8. */
const BRACE = 0x7b;

/** True for a file that `readModelFile` reads, or refuses with advice. `plain` is the path without `.gz`. */
export const isModelFile = (plain: string, bytes: Uint8Array): boolean =>
  isTflite(bytes) ||
  // .pt and .pth are PyTorch checkpoints, which are refused with advice.
  [".onnx", ".tflite", ".pt", ".pth"].includes(extname(plain).toLowerCase()) ||
  (bytes[0] === ONNX_VERSION && bytes[8] !== BRACE && !/\.safetensors$/i.test(plain));

/** Reads a model file. Throws a ConfigError whose problems name the file. */
export async function readModelFile(bytes: Uint8Array, path: string): Promise<Model> {
  try {
    return await readModel(bytes);
  } catch (e) {
    if (!(e instanceof ConfigError)) throw e;
    throw new ConfigError(
      e.problems.map((p) => ({ ...p, path: p.path === "" ? path : `${path}: ${p.path}` })),
    );
  }
}
