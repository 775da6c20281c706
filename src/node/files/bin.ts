/**
 * Raw little-endian data with a JSON beside it that says what it is: a list of tensors, or an object whose `outputs` or
 * `tensors` is that list. Spellings of several tools are read: shape/dims, float32/fp32/f32, zeroPoint/zero_point.
 */
import { TensorError } from "../../core/errors.ts";
import {
  ELEMENT_TYPES,
  bytesPerElement,
  elementCount,
  quantisation,
  typedData,
  type ElementType,
  type NamedTensor,
  type TensorHead,
} from "./safetensors.ts";
import { isRecord, showJson } from "../../core/json.ts";
import { ELEMENTS, elementType as kernelType } from "../../core/tensor.ts";

/**
 * The element type a spelling means, or null. The spellings are those of the kernel's types, which take wider numbers narrowed: in a
 * file these are types of their own, each of which stands there before its other names. u16 alone is of no tensor of the kernel.
 */
export function elementType(spelling: unknown): ElementType | null {
  const word = typeof spelling === "string" ? spelling.toLowerCase() : "";
  if (word === "u16" || word === "uint16") return "u16";
  const kernel = kernelType(word);
  if (!kernel) return null;
  const names = ELEMENTS[kernel].names.split(" ");
  const own = names.slice(0, names.indexOf(word) + 1).filter((name) => /^[fiu]\d+$/.test(name));
  // the kernel narrows u64 too, which no file has
  return ELEMENT_TYPES.find((type) => type === own[own.length - 1]) ?? null;
}

/** A tensor in a list, and the file its bytes are in. */
export interface BinSpec extends TensorHead {
  file: string;
}

/** Whether a parsed JSON is such a list, as opposed to a network's config: an entry that names no file is a mistake in a list. */
export function isTensorList(json: unknown): boolean {
  const list = listOf(json);
  return list !== null && list.some((t) => isRecord(t) && typeof t["file"] === "string");
}

/** Whether a parsed JSON describes one tensor, as it stands beside a raw file: no config has both a type and a shape. */
export const isDescription = (json: unknown): boolean =>
  isRecord(json) &&
  elementType(json["dtype"] ?? json["type"]) !== null &&
  Array.isArray(json["shape"] ?? json["dims"]);

const listOf = (json: unknown): unknown[] | null => {
  const list = isRecord(json) ? (json["outputs"] ?? json["tensors"]) : json;
  return Array.isArray(list) ? (list as unknown[]) : null;
};

/** The list, checked: no file has been opened yet. */
export function parseTensorList(json: unknown, where: string): BinSpec[] {
  const list = listOf(json);
  if (!list)
    throw new TensorError(`${where}: got ${showJson(json)}, expected a list of {name, file, dtype, shape}`);
  const seen = new Set<string>();
  return list.map((entry, i) => {
    const spec = parseTensorSpec(entry, `${where}: [${i}]`);
    if (seen.has(spec.name))
      throw new TensorError(`${where}: got tensor ${showJson(spec.name)} twice, expected each name once`);
    seen.add(spec.name);
    return spec;
  });
}

/** One entry; `file` and `name` may stand for each other, and both may be given by the caller. */
export function parseTensorSpec(entry: unknown, where: string, beside?: string): BinSpec {
  if (!isRecord(entry))
    throw new TensorError(`${where}: got ${showJson(entry)}, expected {name, file, dtype, shape}`);
  const file = entry["file"] ?? beside;
  if (typeof file !== "string" || file === "")
    throw new TensorError(`${where}: got file ${showJson(file)}, expected the name of a file`);
  // A list is data from elsewhere: it may name files beside it, not any file of the machine.
  if (/^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)/.test(file) || file.includes("\0"))
    throw new TensorError(`${where}: got file ${showJson(file)}, expected one inside the list's own folder`);
  const name =
    entry["name"] ??
    file
      .replace(/^.*[/\\]/, "")
      .replace(/\.gz$/i, "")
      .replace(/\.(bin|raw)$/i, "");
  if (typeof name !== "string" || name === "")
    throw new TensorError(`${where}: got name ${showJson(name)}, expected text`);
  const dtype = entry["dtype"] ?? entry["type"];
  const type = elementType(dtype);
  if (!type)
    throw new TensorError(
      `${where}: ${name}: got dtype ${showJson(dtype)}, expected one of ${ELEMENT_TYPES.join(" ")}`,
    );
  const dims = entry["shape"] ?? entry["dims"];
  elementCount(dims, `${where}: ${name}`);
  return { name, file, type, dims: [...(dims as number[])], ...quantisation(entry, `${where}: ${name}`) };
}

/** The tensor of a checked entry and its bytes; a view on them where alignment allows it. */
export function parseBin(bytes: Uint8Array, spec: BinSpec): NamedTensor {
  const { file, ...head } = spec;
  const expected = elementCount(head.dims, head.name) * bytesPerElement(head.type);
  if (bytes.length !== expected)
    throw new TensorError(
      `${head.name}: got ${bytes.length} bytes in ${file}, expected ${expected} (${head.type}[${head.dims}])`,
    );
  return { ...head, data: typedData(head.type, bytes) };
}
