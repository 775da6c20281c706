/** Helpers that all readers of model files share: limits, text, and the one error. */
import { ConfigError, mismatch } from "../../core/errors.ts";

/** Longest name of a tensor or operator, in bytes. TensorFlow joins the names of fused layers. */
export const MAX_NAME = 4096;
/** Most inputs or outputs of a network. Old ONNX files list all weights among the inputs. */
export const MAX_TENSORS = 10_000;
/** Most inputs or outputs of a TFLite network. */
export const MAX_PORTS = 128;
/** Most dimensions of a tensor. */
export const MAX_RANK = 32;
/** Longest text of metadata, in bytes: names of 40,000 classes. Also the most that is unpacked of one packed file. */
export const MAX_TEXT = 1 << 20;
/** Most entries of metadata. */
export const MAX_ENTRIES = 256;

/** Throws the one error of the readers. `where` is a place in the file, empty for the whole file. */
export function refuseFile(where: string, got: string, expected: string): never {
  throw new ConfigError([{ path: where, message: mismatch(got, expected) }]);
}

/** Returns bytes as text. Bytes that are not UTF-8 become U+FFFD: names are for people and for comparison. */
export const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  new TextDecoder().decode(bytes.subarray(start, end));
