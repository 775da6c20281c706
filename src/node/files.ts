/**
 * Tensor files and network configs from disk, for the command line and the tests; Node only. The parsers themselves
 * (`files/`) are pure: bytes in, tensors out.
 */
import { access, readFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { readModel } from "../config/model/model.ts";
import { isTflite } from "../config/model/tflite.ts";
import type { Model } from "../config/model/types.ts";
import { ConfigError, TensorError } from "../core/errors.ts";
import { packingOf, readArchiveConfig } from "./files/archive.ts";
import {
  isDescription,
  isTensorList,
  parseBin,
  parseTensorList,
  parseTensorSpec,
  type BinSpec,
} from "./files/bin.ts";
import { isNpy, parseNpy } from "./files/npy.ts";
import { isZip, parseNpz } from "./files/npz.ts";
import { checkBytes, readSafetensors, type NamedTensor } from "./files/safetensors.ts";
import { isRecord, showJson } from "../core/json.ts";
import { utf8 } from "./files/text.ts";
import { PLAN_MAGIC } from "../planfile/format.ts";

export { packingOf, readArchiveConfig } from "./files/archive.ts";
export { elementType, isTensorList, parseBin, parseTensorList } from "./files/bin.ts";
export { parseNpy } from "./files/npy.ts";
export { parseNpz } from "./files/npz.ts";
export {
  readSafetensors,
  writeSafetensors,
  type ElementType,
  type NamedTensor,
  type TensorData,
} from "./files/safetensors.ts";

/**
 * The tensors of a file whose format says itself what it holds; a `.bin` does not and needs its JSON. `name` names a lone .npy tensor.
 * @throws TensorError where the bytes are of no such format, or damaged, with got and expected
 */
export function parseTensors(bytes: Uint8Array, name: string): NamedTensor[] {
  checkBytes(bytes, name);
  noPlan(bytes, name);
  if (isNpy(bytes)) return [parseNpy(bytes, tensorName(name), name)];
  if (isZip(bytes)) return someOf(parseNpz(bytes, name), name);
  // the header of safetensors begins with a brace, behind its length; of another kind of file that length would be a riddle
  if (bytes[8] !== BRACE && !/\.safetensors$/i.test(name))
    throw new TensorError(
      `${name}: got ${beginning(bytes)}, expected .npy, .npz, .safetensors, or .bin with a JSON beside it`,
    );
  return readSafetensors(bytes, name).tensors;
}

const BRACE = 0x7b;

/** A plan is a `.bin` as raw tensors are, and stands where a config is expected: without a word of its own it would be asked for its shape. */
function noPlan(bytes: Uint8Array, path: string): void {
  if (bytes.length < 4 || new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) !== PLAN_MAGIC)
    return;
  throw new TensorError(
    `${path}: got a plan file, expected tensors or a config: pass the config that the plan was compiled from (a plan is for loadPlan of boxwright/plan)`,
  );
}

const beginning = (bytes: Uint8Array): string =>
  bytes.length === 0
    ? "an empty file"
    : `a file that begins with ${Array.from(bytes.subarray(0, 8), (b) => b.toString(16).padStart(2, "0")).join(" ")}`;

/** A zip of something else (a PyTorch checkpoint is one) is no file without tensors. */
function someOf(found: NamedTensor[], name: string): NamedTensor[] {
  if (found.length === 0)
    throw new TensorError(`${name}: got a zip with no .npy in it, expected an .npz file`);
  return found;
}

/** What a path on the command line turned out to be. */
export type Input =
  { kind: "config"; path: string; text: string } | { kind: "tensors"; path: string; tensors: NamedTensor[] };

/**
 * Reads a config, an NN Archive, a model file (ONNX, TFLite), or tensors; which of them is told by content first, by the ending where bytes cannot tell.
 * @throws TensorError where the file cannot be read, or is damaged; ConfigError of an archive without a config; both with got and expected
 */
export async function readInput(path: string): Promise<Input> {
  const plain = path.replace(/\.gz$/i, "");
  const extension = extname(plain).toLowerCase();
  if (isRaw(plain)) return tensors(path, [await readBin(path)]);
  const bytes = await bytesOf(path);
  if (isTar(plain, bytes)) return { kind: "config", path, text: await readArchiveConfig(bytes, path) };
  if (extension === ".json" || isJson(bytes)) {
    const text = decodeText(bytes, path);
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined; // parseConfig says what is wrong with it
    }
    if (isTensorList(json)) return tensors(path, await readList(json, path));
    if (isDescription(json)) {
      const file = await describedBy(path);
      throw new TensorError(
        `${path}: got the JSON beside a raw tensor, expected the tensor: pass ${file}, and this is read with it`,
      );
    }
    return { kind: "config", path, text };
  }
  if (isNetwork(plain, bytes))
    return { kind: "config", path, text: JSON.stringify(await readModelFile(bytes, path)) };
  return tensors(path, parseTensors(bytes, path));
}

/** First byte of the ONNX files of all exporters: the field of the format's version. */
const ONNX_VERSION = 8;

/** True for a TFLite or ONNX file. Byte 8 of safetensors, whose first byte may be an 8, is a brace. */
const isNetwork = (plain: string, bytes: Uint8Array): boolean =>
  isTflite(bytes) ||
  [".onnx", ".tflite"].includes(extname(plain).toLowerCase()) ||
  (bytes[0] === ONNX_VERSION && bytes[8] !== BRACE && !/\.safetensors$/i.test(plain));

/** Reads a model file. Errors name the file. */
async function readModelFile(bytes: Uint8Array, path: string): Promise<Model> {
  try {
    return await readModel(bytes);
  } catch (e) {
    if (!(e instanceof ConfigError)) throw e;
    throw new ConfigError(
      e.problems.map((p) => ({ ...p, path: p.path === "" ? path : `${path}: ${p.path}` })),
    );
  }
}

/**
 * All tensors of the files, in order.
 * @throws TensorError where one cannot be read, holds no tensors, or two claim a name, since roles go by name
 */
export async function readTensors(...paths: string[]): Promise<NamedTensor[]> {
  const inputs = await Promise.all(paths.map(readInput));
  const wrong = inputs.find((i) => i.kind === "config");
  if (wrong) throw new TensorError(`${wrong.path}: got a network's config, expected tensors`);
  return mergeTensors(inputs);
}

/**
 * The tensors of several files as one list, in their order.
 * @throws TensorError where two files hold a tensor of the same name
 */
export function mergeTensors(inputs: readonly Input[]): NamedTensor[] {
  if (!Array.isArray(inputs) || inputs.some((i) => !isRecord(i)))
    throw new TensorError(`got inputs ${showJson(inputs)}, expected a list of what readInput gave`);
  const from = new Map<string, string>();
  const out: NamedTensor[] = [];
  for (const input of inputs) {
    if (input.kind !== "tensors") continue;
    for (const tensor of input.tensors) {
      const before = from.get(tensor.name);
      if (before !== undefined)
        throw new TensorError(
          `got tensor ${showJson(tensor.name)} in ${before} and again in ${input.path}, expected each name once`,
        );
      from.set(tensor.name, input.path);
      out.push(tensor);
    }
  }
  return out;
}

const tensors = (path: string, list: NamedTensor[]): Input => ({ kind: "tensors", path, tensors: list });

const tensorName = (path: string): string =>
  basename(path)
    .replace(/\.gz$/i, "")
    .replace(/\.npy$/i, "");

const isRaw = (plain: string): boolean => /\.(bin|raw)$/i.test(plain);

const isTar = (plain: string, bytes: Uint8Array): boolean =>
  /\.(tar|tgz|txz|tar\.xz|nnarchive)$/i.test(plain) || packingOf(bytes) !== null;

const decodeText = (bytes: Uint8Array, path: string): string => {
  const text = utf8(bytes);
  if (text === null) throw new TensorError(`${path}: got text that is not UTF-8, expected JSON`);
  return text;
};

/** Whether a file is JSON by how it begins. Among the first bytes of safetensors, the length of its header, are zeros. */
const isJson = (bytes: Uint8Array): boolean =>
  /^(\ufeff)?\s*[[{]/.test(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, 64))) &&
  !bytes.subarray(0, 8).includes(0);

const unzipped = promisify(gunzip);
/** A typed array cannot be longer on the smallest of our runtimes, and a small file that unpacks to more is hostile. */
const LARGEST = 2 ** 31 - 1;

/** The file's bytes; `x.gz` is unpacked unless it is an archive, which is unpacked as far as needed. A missing `x` may stand there as `x.gz`. */
async function bytesOf(path: string): Promise<Uint8Array> {
  if (/\.(tar\.gz|tgz)$/i.test(path)) return load(path);
  const bytes = await load(path).catch(async (e: unknown) => {
    if (path.endsWith(".gz")) throw e;
    return load(`${path}.gz`).catch(() => {
      throw e;
    });
  });
  if (packingOf(bytes) !== "gz") return bytes;
  try {
    return await unzipped(bytes, { maxOutputLength: LARGEST });
  } catch (e) {
    throw new TensorError(`${path}: got damaged gzip data, expected a whole file: ${(e as Error).message}`);
  }
}

/** @throws TensorError where the system does not give it */
export async function load(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (e) {
    const code = (e as NodeJS.ErrnoException).code;
    const why =
      code === "ENOENT" ? "no such file" : code === "EISDIR" ? "a folder" : (code ?? (e as Error).message);
    throw new TensorError(`${path}: got ${why}, expected a file that can be read`, { cause: e });
  }
}

async function readList(json: unknown, path: string): Promise<NamedTensor[]> {
  const specs = parseTensorList(json, path);
  return Promise.all(
    specs.map(async (spec) => parseBin(await bytesOf(join(dirname(path), spec.file)), spec)),
  );
}

/** The file that a JSON describes, found by the rule of `readBin` the other way round; by its usual name where there is none. */
async function describedBy(path: string): Promise<string> {
  const stem = path.replace(/\.json$/i, "");
  const usual = isRaw(stem) ? [stem] : [`${stem}.bin`, `${stem}.raw`];
  for (const file of usual.flatMap((f) => [f, `${f}.gz`]))
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  return usual[0];
}

/** The description of a lone .bin: `x.bin.json` or `x.json` for it alone, or a list in its folder that names it. */
async function readBin(path: string): Promise<NamedTensor> {
  const data = await bytesOf(path);
  noPlan(data, path);
  const plain = path.replace(/\.gz$/i, "");
  const stem = plain.slice(0, -extname(plain).length);
  const own = [`${plain}.json`, `${stem}.json`];
  const lists = ["tensors.json", "meta.json", "fixture.json"].map((name) => join(dirname(path), name));
  for (const beside of [...own, ...lists]) {
    const bytes = await readFile(beside).catch(() => null);
    if (!bytes) continue;
    const spec = specFor(bytes, beside, basename(plain), own.includes(beside));
    if (spec) return parseBin(data, spec);
  }
  throw new TensorError(
    `${path}: got raw data with no JSON beside it that says what it is, expected ${basename(own[0])} or ${basename(own[1])} with {"dtype": "float32", "shape": [1, 84, 8400]}`,
  );
}

function specFor(bytes: Uint8Array, path: string, file: string, alone: boolean): BinSpec | null {
  let json: unknown;
  try {
    json = JSON.parse(decodeText(bytes, path));
  } catch {
    throw new TensorError(`${path}: got text that is not JSON, expected the description of ${file}`);
  }
  if (isTensorList(json))
    return parseTensorList(json, path).find((s) => s.file.replace(/\.gz$/i, "") === file) ?? null;
  return alone && isRecord(json) ? parseTensorSpec(json, path, file) : null;
}
