/** Recognises and reads model files (ONNX, TFLite) among a command's files. */
import { extname } from "node:path";
import { readModel } from "../../config/model/model.ts";
import { isTflite } from "../../config/model/tflite.ts";
import type { Model } from "../../config/model/types.ts";
import { ConfigError } from "../../core/errors.ts";

/** First byte of ONNX files from all exporters: the tag of the field with the format version. */
const ONNX_VERSION = 8;
/** Byte 8 of a safetensors file, "{". Byte 0 of such a file may equal `ONNX_VERSION`. */
const BRACE = 0x7b;

/** True for a file that `readModelFile` can read or refuses with advice. `plain` is the path without `.gz`. */
export const isModelFile = (plain: string, bytes: Uint8Array): boolean =>
  isTflite(bytes) ||
  // Include PyTorch checkpoints (.pt, .pth), which are refused with advice.
  [".onnx", ".tflite", ".pt", ".pth"].includes(extname(plain).toLowerCase()) ||
  (bytes[0] === ONNX_VERSION && bytes[8] !== BRACE && !/\.safetensors$/i.test(plain));

/** Reads a model file. Errors name the file. */
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
