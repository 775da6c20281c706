/** Limits, text decoding and the error that all readers of model files share. */
import { refuseConfig } from "../../core/errors.ts";

/** Longest name of a tensor or operator, in bytes. TensorFlow joins the names of fused layers, so names are long. */
export const MAX_NAME = 4096;
/** Largest count of a network's inputs or outputs. Old ONNX files list all weights as inputs. */
export const MAX_TENSORS = 10_000;
/** Largest count of a TFLite network's inputs or outputs. */
export const MAX_PORTS = 128;
/** Largest count of a tensor's dimensions. */
export const MAX_RANK = 32;
/** Longest metadata text in bytes, enough for 40,000 class names. Also limits the unpacked size of a file. */
export const MAX_TEXT = 1 << 20;
/** Largest count of metadata entries. */
export const MAX_ENTRIES = 256;

/** Throws a ConfigError about the model file. `where` is a path inside the file, empty for the whole file. */
export function refuseFile(where: string, got: string, expected: string): never {
  refuseConfig(where, got, expected);
}

/** Returns UTF-8 bytes as text. Invalid bytes become U+FFFD: names are only shown and compared. */
export const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  new TextDecoder().decode(bytes.subarray(start, end));
