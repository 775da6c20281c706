/**
 * Raw little-endian tensors, described by a JSON. The JSON is a list of tensors, or an object with such a list in
 * `outputs` or `tensors`. The spellings of several tools are accepted: shape and dims; float32, fp32 and f32; zeroPoint
 * and zero_point.
 */
import { isRecord, showJson } from "../../core/json.ts";
import { ELEMENTS, elementType as slotType } from "../../core/tensor.ts";
import {
  ELEMENT_TYPES,
  type FileElementType,
  type NamedTensor,
  type TensorHead,
  bytesPerElement,
  elementCount,
  quantisation,
  refusal,
  typedData,
} from "./tensor.ts";

/**
 * Returns the element type for a spelling such as "float32". Returns null for an unknown spelling.
 *
 * `ELEMENTS` lists, for each type of a decoder's slot, its own names and then the names of wider types, which the slot
 * narrows: f32 also lists "f64 fp64 ...". The first name of each type has the form f32 or u8. So the file's type is the
 * last name of this form, up to the spelling.
 */
export function elementType(spelling: unknown): FileElementType | null {
  const word = typeof spelling === "string" ? spelling.toLowerCase() : "";
  // Handle u16 first: slots have no such type, since a slot's Uint16Array holds f16.
  if (word === "u16" || word === "uint16") return "u16";
  const slot = slotType(word);
  if (!slot) return null;
  const names = ELEMENTS[slot].names.split(" ");
  const types = names.slice(0, names.indexOf(word) + 1).filter((name) => /^[fiu]\d+$/.test(name));
  // Return null for u64, which only slots accept.
  return ELEMENT_TYPES.find((type) => type === types[types.length - 1]) ?? null;
}

/** An entry of a list of tensors, with the name of the tensor's file. */
export interface BinSpec extends TensorHead {
  file: string;
}

/** True if a parsed JSON is a list of tensors: one entry names a file. Other entries may be invalid. */
export function isTensorList(json: unknown): boolean {
  const list = listOf(json);
  return list !== null && list.some((t) => isRecord(t) && typeof t["file"] === "string");
}

/** True if a parsed JSON describes one raw tensor: it has a type and a shape, as no config has. */
export const isDescription = (json: unknown): boolean =>
  isRecord(json) &&
  elementType(json["dtype"] ?? json["type"]) !== null &&
  Array.isArray(json["shape"] ?? json["dims"]);

const listOf = (json: unknown): unknown[] | null => {
  const list = isRecord(json) ? (json["outputs"] ?? json["tensors"]) : json;
  return Array.isArray(list) ? (list as unknown[]) : null;
};

/** Checks a list of tensors and returns its entries. Does not open the files. */
export function parseTensorList(json: unknown, where: string): BinSpec[] {
  const list = listOf(json);
  if (!list) throw refusal(where, showJson(json), "a list of {name, file, dtype, shape}");
  const seen = new Set<string>();
  return list.map((entry, i) => {
    const spec = parseTensorSpec(entry, `${where}: [${i}]`);
    if (seen.has(spec.name)) throw refusal(where, `tensor ${showJson(spec.name)} twice`, "each name once");
    seen.add(spec.name);
    return spec;
  });
}

/** Checks one entry. An entry without a name gets the name of its file, or of `beside`. */
export function parseTensorSpec(entry: unknown, where: string, beside?: string): BinSpec {
  if (!isRecord(entry)) throw refusal(where, showJson(entry), "{name, file, dtype, shape}");
  const file = checkFileName(entry["file"] ?? beside, where);
  const name = entry["name"] ?? stemOf(file);
  if (typeof name !== "string" || name === "") throw refusal(where, `name ${showJson(name)}`, "text");
  const here = `${where}: ${name}`;
  const dtype = entry["dtype"] ?? entry["type"];
  const type = elementType(dtype);
  if (!type) throw refusal(here, `dtype ${showJson(dtype)}`, `one of ${ELEMENT_TYPES.join(" ")}`);
  const dims = entry["shape"] ?? entry["dims"];
  elementCount(dims, here);
  return { name, file, type, dims: [...(dims as number[])], ...quantisation(entry, here) };
}

/** Throws unless a file is in the list's folder or below it, so that a foreign list cannot open other files. */
function checkFileName(file: unknown, where: string): string {
  if (typeof file !== "string" || file === "")
    throw refusal(where, `file ${showJson(file)}`, "the name of a file");
  if (/^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)/.test(file) || file.includes("\0"))
    throw refusal(where, `file ${showJson(file)}`, "one inside the list's own folder");
  return file;
}

const stemOf = (file: string): string =>
  file
    .replace(/^.*[/\\]/, "")
    .replace(/\.gz$/i, "")
    .replace(/\.(bin|raw)$/i, "");

/** Returns the tensor for an entry. The data are a view of `bytes` if they are aligned, else a copy. */
export function parseBin(bytes: Uint8Array, spec: BinSpec): NamedTensor {
  const { file, ...head } = spec;
  const expected = elementCount(head.dims, head.name) * bytesPerElement(head.type);
  if (bytes.length !== expected)
    throw refusal(
      head.name,
      `${bytes.length} bytes in ${file}`,
      `${expected} (${head.type}[${head.dims.join()}])`,
    );
  return { ...head, data: typedData(head.type, bytes) };
}
