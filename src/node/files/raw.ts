/** Finds the JSON that describes a raw tensor file, and the raw file that a JSON describes. */
import { access } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { TensorError } from "../../core/errors.ts";
import { isRecord, parseJson } from "../../core/json.ts";
import { type BinSpec, isTensorList, parseBin, parseTensorList, parseTensorSpec } from "./bin.ts";
import { load, loadUnpacked } from "./load.ts";
import { checkNotPlan } from "./parse.ts";
import { type NamedTensor, refusal } from "./tensor.ts";
import { utf8 } from "./text.ts";

/** Names of JSON files that may list the raw files in their folder. */
const LISTS = ["tensors.json", "meta.json", "fixture.json"];

/** True if a path, without `.gz`, has the ending of a raw tensor. */
export const isRaw = (path: string): boolean => /\.(bin|raw)$/i.test(path);

/** Reads the tensors of a list. Each tensor has its own file beside the list. */
export async function readList(json: unknown, path: string, most?: number): Promise<NamedTensor[]> {
  const specs = parseTensorList(json, path);
  return Promise.all(
    specs.map(async (spec) => parseBin(await loadUnpacked(join(dirname(path), spec.file), most), spec)),
  );
}

/** Reads a raw tensor `x.bin`, described by `x.bin.json`, `x.json`, or an entry of a list in its folder. */
export async function readRaw(path: string, most?: number): Promise<NamedTensor> {
  const data = await loadUnpacked(path, most);
  checkNotPlan(data, path);
  const plain = path.replace(/\.gz$/i, "");
  const stem = plain.slice(0, -extname(plain).length);
  const siblings = [`${plain}.json`, `${stem}.json`];
  const lists = LISTS.map((name) => join(dirname(path), name));
  for (const beside of [...siblings, ...lists]) {
    const bytes = await load(beside, most).catch(() => null);
    if (!bytes) continue;
    const spec = findSpec(bytes, beside, basename(plain), siblings.includes(beside));
    if (spec) return parseBin(data, spec);
  }
  const networks = [".param", ".xml"].map((ending) => stem + ending);
  for (const network of networks)
    if (await isThere(network))
      throw refusal(
        path,
        `the weights of ${basename(network)}`,
        "tensors, or the ONNX file that the network was made from",
      );
  throw new TensorError(
    `${path} is raw data without a description. Put ${basename(siblings[0])} or ${basename(siblings[1])} beside ` +
      'it, with {"dtype": "float32", "shape": [1, 84, 8400]}.',
  );
}

/** Returns the entry for `file` in a JSON. `isOwn` is true if the JSON's name is derived from this file's. */
function findSpec(bytes: Uint8Array, path: string, file: string, isOwn: boolean): BinSpec | null {
  const json = parseJson(decodeText(bytes, path));
  if (json === undefined) throw refusal(path, "text that is not JSON", `the description of ${file}`);
  if (isTensorList(json))
    return parseTensorList(json, path).find((s) => s.file.replace(/\.gz$/i, "") === file) ?? null;
  return isOwn && isRecord(json) ? parseTensorSpec(json, path, file) : null;
}

/** Returns the text of a file. Throws if the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array, path: string): string {
  const text = utf8(bytes);
  if (text === null) throw refusal(path, "text that is not UTF-8", "JSON");
  return text;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Returns the existing raw file that a JSON describes (see `readRaw`). If there is none, returns the usual name. */
export async function rawFileOf(path: string): Promise<string> {
  const stem = path.replace(/\.json$/i, "");
  const usual = isRaw(stem) ? [stem] : [`${stem}.bin`, `${stem}.raw`];
  for (const file of usual.flatMap((f) => [f, `${f}.gz`])) if (await isThere(file)) return file;
  return usual[0];
}
