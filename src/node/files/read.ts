/** Reads tensor files and network configs from disk. */
import { extname } from "node:path";
import { TensorError } from "../../core/errors.ts";
import { otherFormatOfName } from "../../config/model/other-files.ts";
import { isRecord, showJson, parseJson } from "../../core/json.ts";
import { packingOf, readArchiveConfig } from "./archive.ts";
import { isDescription, isTensorList } from "./bin.ts";
import { loadUnpacked } from "./load.ts";
import { isModelFile, readModelFile } from "./model-file.ts";
import { parseTensors } from "./parse.ts";
import { decodeText, isRaw, rawFileOf, readList, readRaw } from "./raw.ts";
import { LARGEST, type NamedTensor, refusal } from "./tensor.ts";

/** Content of a file: the text of a network's config, or tensors. */
export type Input =
  { kind: "config"; path: string; text: string } | { kind: "tensors"; path: string; tensors: NamedTensor[] };

/**
 * Reads a config, an NN Archive, a network's own file (ONNX, TFLite), or tensors. Detects the format by the bytes, or
 * by the ending of the file name. Files may be gzipped.
 * @throws TensorError if the file cannot be read, or is damaged; ConfigError if an archive holds no config, or a
 * network's own file is damaged
 * @example
 * import { readInput } from "boxwright/node";
 *
 * const archive = await readInput("test/fixtures/files/nnarchive.tar.xz");
 * const file = await readInput("test/fixtures/files/c.npy");
 * console.log(archive.kind, file.kind); // config tensors
 */
export async function readInput(path: string): Promise<Input> {
  return readInputUpTo(LARGEST)(path);
}

/** Returns a function like `readInput` that refuses files of more than `most` bytes. */
export const readInputUpTo =
  (most: number) =>
  async (path: string): Promise<Input> => {
    const plain = path.replace(/\.gz$/i, "");
    if (isRaw(plain)) return { kind: "tensors", path, tensors: [await readRaw(path, most)] };
    const bytes = await loadUnpacked(path, most);
    const other = otherFormatOfName(plain);
    if (other !== null) throw refusal(path, other, "a config, an NN Archive, ONNX, TFLite, or tensors");
    if (isTar(plain, bytes)) return { kind: "config", path, text: await readArchiveConfig(bytes, path) };
    if (extname(plain).toLowerCase() === ".json" || isJson(bytes)) return readJson(bytes, path, most);
    if (isModelFile(plain, bytes))
      return { kind: "config", path, text: JSON.stringify(await readModelFile(bytes, path)) };
    return { kind: "tensors", path, tensors: parseTensors(bytes, path) };
  };

/** Reads a JSON as a list of tensors, else as a config. */
async function readJson(bytes: Uint8Array, path: string, most: number): Promise<Input> {
  const text = decodeText(bytes, path);
  // Go on if the text is no JSON: parseConfig reports the fault.
  const json = parseJson(text);
  if (isTensorList(json)) return { kind: "tensors", path, tensors: await readList(json, path, most) };
  if (isDescription(json))
    throw new TensorError(
      `${path} describes a raw tensor. Pass the tensor, ${await rawFileOf(path)}: the description is read with it.`,
    );
  return { kind: "config", path, text };
}

/**
 * Returns all tensors of several files, in order.
 * @throws TensorError if a file cannot be read, holds no tensors, or two files hold a tensor of the same name
 * @example
 * import { readTensors } from "boxwright/node";
 *
 * const [output] = await readTensors("test/fixtures/mobilenet-ssd/coffee/meta.json");
 * console.log(output.name, output.dims.join("x")); // detection_out 1x1x100x7
 */
export async function readTensors(...paths: string[]): Promise<NamedTensor[]> {
  return tensorsOf(await Promise.all(paths.map(readInput)));
}

/** Returns the tensors of inputs. Throws if one of the inputs is a config. */
export function tensorsOf(inputs: readonly Input[]): NamedTensor[] {
  const config = inputs.find((i) => i.kind === "config");
  if (config) throw new TensorError(`${config.path}: got a network's config, expected tensors`);
  return mergeTensors(inputs);
}

/**
 * Returns the tensors of several inputs as one list, in order. Skips configs.
 * @throws TensorError if two inputs hold tensors of the same name
 * @example
 * import { mergeTensors, readInput } from "boxwright/node";
 *
 * const paths = ["test/fixtures/mobilenet-ssd/config.json", "test/fixtures/files/c.npy"];
 * const inputs = await Promise.all(paths.map(readInput));
 * console.log(mergeTensors(inputs).map((tensor) => tensor.name).join()); // c
 */
export function mergeTensors(inputs: readonly Input[]): NamedTensor[] {
  if (!Array.isArray(inputs) || inputs.some((i) => !isRecord(i)))
    throw new TensorError(`got inputs ${showJson(inputs)}, expected a list of what readInput returns`);
  const pathOf = new Map<string, string>();
  const out: NamedTensor[] = [];
  for (const input of inputs) {
    if (input.kind !== "tensors") continue;
    for (const tensor of input.tensors) {
      const earlier = pathOf.get(tensor.name);
      if (earlier !== undefined)
        throw new TensorError(
          `tensor ${showJson(tensor.name)} is in ${earlier} and again in ${input.path}. Each name may occur once.`,
        );
      pathOf.set(tensor.name, input.path);
      out.push(tensor);
    }
  }
  return out;
}

const isTar = (plain: string, bytes: Uint8Array): boolean =>
  /\.(tar|tgz|txz|tar\.xz|nnarchive)$/i.test(plain) || packingOf(bytes) !== null;

/** True if a file begins like JSON. The zeros in its header length exclude a safetensors file. */
const isJson = (bytes: Uint8Array): boolean =>
  /^(\ufeff)?\s*[[{]/.test(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, 64))) &&
  !bytes.subarray(0, 8).includes(0);
