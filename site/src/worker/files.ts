/** Identifies a dropped file by its bytes, and reads it. */
import { type Model, readModel } from "boxwright";
import { otherFormatOf, otherFormatOfName } from "@repo/src/config/model/other-files.ts";
import { settingNames } from "@repo/src/config/options.ts";
import { readLabelFile } from "@repo/src/config/label-file.ts";
import { parseTensors } from "@repo/src/node/files/parse.ts";
import type { NamedTensor } from "@repo/src/node/files/tensor.ts";

/** A photo that can be drawn. */
export interface Photo {
  readonly name: string;
  readonly bitmap: ImageBitmap;
}

/** The contents of a file. */
export type FileContents =
  | { readonly kind: "photo"; readonly photo: Photo }
  | { readonly kind: "video"; readonly file: File }
  | { readonly kind: "tensors"; readonly tensors: readonly NamedTensor[] }
  | { readonly kind: "config"; readonly name: string; readonly text: string }
  | { readonly kind: "labels"; readonly name: string; readonly labels: readonly string[] }
  | { readonly kind: "model"; readonly name: string; readonly model: Model; readonly bytes: Uint8Array };

const KNOWN =
  "a photo, a video, a model (.onnx), tensors (.npy, .npz, .safetensors), a config (.json), an NN Archive (.tar, .tar.gz) or a file of labels (.txt)";

/** Smallest size in bytes that is too large for one buffer in every browser. */
const LARGEST = 2 ** 31 - 1;

const startsWith = (bytes: Uint8Array, text: string, at = 0): boolean =>
  [...text].every((c, i) => bytes[at + i] === c.charCodeAt(0));

/** True for the first bytes of picture formats that browsers show. */
const isPicture = (bytes: Uint8Array): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xd8) ||
  startsWith(bytes, "\x89PNG") ||
  startsWith(bytes, "GIF8") ||
  startsWith(bytes, "BM") ||
  (startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8)) ||
  startsWith(bytes, "ftypavif", 4);

/** True for the bytes of a tar file, which has "ustar" at byte 257. */
const isTar = (bytes: Uint8Array): boolean => startsWith(bytes, "ustar", 257);

const isModel = (name: string, bytes: Uint8Array): boolean =>
  /\.(onnx|tflite)$/i.test(name) ||
  startsWith(bytes, "TFL3", 4) ||
  (bytes[0] === 8 && bytes[8] !== 0x7b && !/\.safetensors$/i.test(name));

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Reads a file.
 * @throws Error with the file's name, its content and what was expected
 */
export async function readFile(file: File): Promise<FileContents> {
  if (file.type.startsWith("video/") || /\.(mp4|webm|mov|m4v|ogv)$/i.test(file.name))
    return { kind: "video", file };
  if (file.size === 0) throw new Error(`${file.name}: got an empty file, expected ${KNOWN}.`);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch (cause) {
    const reason =
      file.size >= LARGEST
        ? "a browser reads less than 2 GiB at once. On the command line, npx boxwright inspect reads larger files."
        : (cause as Error).message;
    throw new Error(`${file.name} (${megabytes(file.size)}) cannot be read: ${reason}`, { cause });
  }
  return readBytes(file.name, bytes);
}

export const megabytes = (bytes: number): string =>
  `${(bytes / 2 ** 20).toFixed(bytes < 2 ** 20 ? 2 : 0)} MiB`;

/** Reads the contents of a file from its bytes, as `readFile` does. */
export async function readBytes(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<FileContents> {
  if (isPicture(bytes)) return { kind: "photo", photo: await readPhoto(name, bytes) };
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    return readBytes(name.replace(/\.gz$/i, ""), await unpacked(bytes));
  if (startsWith(bytes, "7zXZ", 1))
    throw new Error(`${name}: got an archive packed with xz. Unpack it, and drop the .tar.`);
  if (isTar(bytes) || isModel(name, bytes)) {
    const model = await readModel(bytes).catch((cause: Error) => {
      throw new Error(`${name}: ${cause.message}`, { cause });
    });
    return { kind: "model", name, model, bytes };
  }
  if (/\.(txt|names|pbtxt|ya?ml)$/i.test(name)) return readLabels(name, bytes);
  if (/\.json$/i.test(name) || bytes[0] === 0x7b) return readConfigText(name, bytes);
  const other = otherFormatOfName(name) ?? otherFormatOf(bytes);
  if (other !== null && !startsWith(bytes, "PK"))
    throw new Error(`${name}: got ${other}, expected ${KNOWN}.`);
  try {
    return { kind: "tensors", tensors: parseTensors(bytes, name) };
  } catch (cause) {
    if (/\.(npy|npz|safetensors)$/i.test(name) || startsWith(bytes, "PK") || startsWith(bytes, "NUMPY", 1))
      throw cause;
    throw new Error(`${name}: got a file that begins with ${beginning(bytes)}, expected ${KNOWN}.`, {
      cause,
    });
  }
}

/** Keys of configs: every config has at least one of them. */
const CONFIG_KEYS = new Set([
  ...settingNames(),
  "nn_config",
  "NN_config",
  "model",
  "mappings",
  "config_version",
]);

const beginning = (bytes: Uint8Array): string =>
  Array.from(bytes.subarray(0, 6), (b) => b.toString(16).padStart(2, "0")).join(" ");

async function readPhoto(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<Photo> {
  try {
    return { name, bitmap: await createImageBitmap(new Blob([bytes])) };
  } catch (cause) {
    throw new Error(`${name}: the browser cannot decode this picture. Is the file whole?`, { cause });
  }
}

function readConfigText(name: string, bytes: Uint8Array): FileContents {
  const text = textOf(name, bytes);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${name} is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (Array.isArray(json) && json.length > 0 && json.every((label) => typeof label === "string"))
    return { kind: "labels", name, labels: json };
  const names = Object.keys(json ?? {});
  if (!names.some((key) => CONFIG_KEYS.has(key)))
    throw new Error(
      `${name}: got ${Array.isArray(json) ? "an array" : `an object with ${names.slice(0, 4).join(", ") || "nothing"}`}, ` +
        "expected a config: NN_config, nn_config, an NN Archive's config.json, or options such as family and labels.",
    );
  return { kind: "config", name, text };
}

function readLabels(name: string, bytes: Uint8Array): FileContents {
  const found = readLabelFile(textOf(name, bytes));
  if ("labels" in found) return { kind: "labels", name, labels: found.labels };
  throw new Error(`${name}: got ${found.got}, expected ${found.expected}`);
}

function textOf(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error(`${name}: got bytes that are not UTF-8, expected text.`, { cause });
  }
}
