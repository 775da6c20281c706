/**
 * Codec of the safetensors format. Needs DataView and TextDecoder, but nothing of Node. Checks the whole header before
 * it makes a tensor.
 *
 *      0   u64     n, length of the header, little-endian
 *      8   n bytes JSON: {"name": {"dtype", "shape", "data_offsets": [begin, end]}, ..., "__metadata__": {text: text}}
 *      8+n         data: tensors little-endian and row-major, one after the other, without holes or overlap
 */
import { TensorError } from "../../core/errors.ts";
import { isRecord, showJson, parseJson } from "../../core/json.ts";
import {
  ELEMENT_TYPES,
  type NamedTensor,
  type Quantisation,
  type TensorHead,
  bytesPerElement,
  checkBytes,
  checkDataType,
  elementCount,
  quantisation,
  refusal,
  typedData,
} from "./tensor.ts";

/** Count of bytes that store the header's length. */
const LENGTH_BYTES = 8;
const METADATA = "__metadata__";
/** Metadata key for scale, zero point and storage order. safetensors has no fields for them. */
const EXTRAS = "boxwright.tensors";

type Metadata = Record<string, string>;

/** A tensor's entry in the header, and the tensor's bytes. */
interface Part {
  readonly head: TensorHead;
  readonly begin: number;
  readonly end: number;
}

/**
 * Reads the tensors and the metadata of a safetensors file.
 * @param bytes the whole file. Tensors are views of it where alignment allows
 * @param where name of the file in error messages
 * @throws TensorError if the file is damaged, or holds an element type that `ElementType` does not list
 * @example
 * import { readSafetensors, writeSafetensors } from "boxwright/node";
 *
 * const scores = Float32Array.of(0.25, 0.75);
 * const file = writeSafetensors([{ name: "scores", type: "f32", dims: [1, 2], data: scores }], { camera: "door" });
 *
 * const { tensors, metadata } = readSafetensors(file);
 * console.log(tensors[0].name, tensors[0].data[1], metadata.camera); // scores 0.75 door
 */
export function readSafetensors(
  bytes: Uint8Array,
  where = "safetensors",
): { tensors: NamedTensor[]; metadata: Record<string, string> } {
  const { header, data } = splitFile(bytes, where);
  const metadata = readMetadata(header[METADATA], where);
  const extras = takeExtras(metadata, where);
  const parts = Object.entries(header)
    .filter(([name]) => name !== METADATA)
    .map(([name, entry]) => readEntry(name, entry, data.length, `${where}: ${name}`));
  checkCoverage(parts, data.length, where);
  const tensors = parts.map(({ head: { name, type, dims }, begin, end }) => ({
    name,
    data: typedData(type, data.subarray(begin, end)),
    dims,
    type,
    ...extras.get(name),
  }));
  return { tensors, metadata };
}

function splitFile(bytes: Uint8Array, where: string): { header: Record<string, unknown>; data: Uint8Array } {
  checkBytes(bytes, where);
  if (bytes.length < LENGTH_BYTES)
    throw refusal(where, `${bytes.length} bytes`, `${LENGTH_BYTES} for the length of the header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, LENGTH_BYTES);
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  const room = bytes.length - LENGTH_BYTES;
  if (length > room)
    throw refusal(
      where,
      `a header of ${length} bytes`,
      `at most the ${room} that follow: is the file cut short, or of another format?`,
    );
  const end = LENGTH_BYTES + length;
  return { header: parseHeader(bytes.subarray(LENGTH_BYTES, end), where), data: bytes.subarray(end) };
}

function parseHeader(bytes: Uint8Array, where: string): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal(where, "a header that is not UTF-8", "JSON");
  }
  const header = parseJson(text);
  if (header === undefined)
    throw refusal(
      where,
      `a header that is not JSON (${showJson(text)})`,
      '{"name": {"dtype", "shape", "data_offsets"}}',
    );
  if (!isRecord(header)) throw refusal(where, `header ${showJson(header)}`, "an object of tensors");
  const repeated = repeatedKey(text);
  if (repeated !== null) throw refusal(where, `tensor ${showJson(repeated)} twice`, "each name once");
  return header;
}

/** Returns the first key that occurs twice in the outermost object, or null. `text` must be valid JSON. */
function repeatedKey(text: string): string | null {
  const seen = new Set<string>();
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") depth--;
    else if (c === '"') {
      const start = i;
      while (text[++i] !== '"') if (text[i] === "\\") i++;
      let next = i + 1;
      while (text[next] <= " ") next++;
      if (depth !== 1 || text[next] !== ":") continue;
      const key = JSON.parse(text.slice(start, i + 1)) as string;
      if (seen.has(key)) return key;
      seen.add(key);
    }
  }
  return null;
}

function readMetadata(value: unknown, where: string): Metadata {
  if (value === undefined) return {};
  if (!isRecord(value) || Object.values(value).some((v) => typeof v !== "string"))
    throw refusal(`${where}: ${METADATA}`, showJson(value), "an object of texts");
  return { ...(value as Metadata) };
}

/** Removes the entry EXTRAS from the metadata, and returns scale, zero point and order by tensor name. */
function takeExtras(metadata: Metadata, where: string): Map<string, Quantisation> {
  const text = metadata[EXTRAS];
  if (text === undefined) return new Map();
  delete metadata[EXTRAS];
  const value = parseJson(text, text);
  if (!isRecord(value)) throw refusal(`${where}: ${EXTRAS}`, showJson(value), "an object of tensors");
  return new Map(
    Object.entries(value).map(([name, v]) => [name, quantisation(v, `${where}: ${EXTRAS}: ${name}`)]),
  );
}

const isOffset = (n: unknown): n is number => Number.isSafeInteger(n) && (n as number) >= 0;

function readEntry(name: string, entry: unknown, room: number, where: string): Part {
  if (!isRecord(entry)) throw refusal(where, showJson(entry), '{"dtype", "shape", "data_offsets"}');
  const { dtype, shape, data_offsets: offsets } = entry;
  const type = ELEMENT_TYPES.find((t) => t.toUpperCase() === dtype);
  if (type === undefined)
    throw refusal(where, `dtype ${showJson(dtype)}`, `one of ${ELEMENT_TYPES.join(" ").toUpperCase()}`);
  const bytes = elementCount(shape, where) * bytesPerElement(type);
  const [begin, end] = Array.isArray(offsets) && offsets.length === 2 ? (offsets as unknown[]) : [];
  const isRange = isOffset(begin) && isOffset(end) && begin <= end;
  if (!isRange || end > room)
    throw refusal(
      where,
      `data_offsets ${showJson(offsets)}`,
      `[begin, end] within the ${room} bytes of data${isRange ? ": is the file cut short?" : ""}`,
    );
  if (end - begin !== bytes)
    throw refusal(where, `${end - begin} bytes of data`, `${bytes} (${type}${showJson(shape)})`);
  return { head: { name, type, dims: shape as number[] }, begin, end };
}

/** Throws if the tensors leave a gap in the data, overlap, or end too early. */
function checkCoverage(parts: readonly Part[], length: number, where: string): void {
  // Sort by offset: each tensor must begin where the previous tensor ended.
  let reached = 0;
  for (const { head, begin, end } of [...parts].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== reached)
      throw refusal(
        `${where}: ${head.name}`,
        `data from byte ${begin}`,
        `${reached}: tensors leave no holes and do not overlap`,
      );
    reached = end;
  }
  if (reached !== length) throw refusal(where, `${length} bytes of data`, `${reached} by the header`);
}

/**
 * Writes tensors as a safetensors file. Copies the data. Every tensor begins at a multiple of its element size.
 * @param metadata texts by key, which `readSafetensors` returns
 * @throws TensorError if `readSafetensors` would refuse the file, or read it as something else
 * @example
 * import { writeSafetensors } from "boxwright/node";
 *
 * const file = writeSafetensors([
 *   { name: "boxes", type: "u8", dims: [1, 4], data: Uint8Array.of(0, 64, 128, 255), scale: 1 / 256, zeroPoint: 0 },
 * ]);
 * console.log(file instanceof Uint8Array, file.length % 8); // true 4
 */
export function writeSafetensors(
  tensors: readonly Readonly<NamedTensor>[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  if (!Array.isArray(tensors))
    throw new TensorError(`got tensors ${showJson(tensors)}, expected a list of {name, data, dims, type}`);
  checkTensors(tensors);
  // Write wide elements first. Every tensor is then aligned for its own type, so that a reader need not copy tensors.
  const placed = [...tensors].sort((a, b) => bytesPerElement(b.type) - bytesPerElement(a.type));
  const header = headerOf(placed, metadataWithExtras(placed, metadata));

  let at = LENGTH_BYTES + header.length;
  const bytes = new Uint8Array(at + placed.reduce((n, { data }) => n + data.byteLength, 0));
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  for (let i = 0; i < header.length; i++) bytes[LENGTH_BYTES + i] = header.charCodeAt(i);
  for (const { data } of placed) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}

/** Throws if a tensor is incomplete, such as a runtime's tensor from plain JavaScript, or if a name occurs twice. */
function checkTensors(tensors: readonly Readonly<NamedTensor>[]): void {
  const seen = new Set<string>([METADATA]);
  for (const tensor of tensors) {
    if (!isRecord(tensor))
      throw new TensorError(`got tensor ${showJson(tensor)}, expected {name, data, dims, type}`);
    const { name, data, type, dims, ...rest } = tensor as NamedTensor;
    if (typeof name !== "string")
      throw new TensorError(`got a tensor of name ${showJson(name)}, expected text`);
    if (!ELEMENT_TYPES.includes(type))
      throw refusal(name, `type ${showJson(type)}`, `one of ${ELEMENT_TYPES.join(" ")}`);
    checkDataType(data, type, name);
    quantisation(rest, name);
    if (name === METADATA)
      throw new TensorError(`${METADATA}: this tensor name is reserved for metadata. Use another name.`);
    if (seen.has(name)) throw refusal(name, "this tensor name twice", "each name once");
    seen.add(name);
    const count = elementCount(dims, name);
    if (data.length !== count)
      throw refusal(name, `${data.length} elements`, `${count} (${type}[${dims.join()}])`);
  }
}

/** Returns the metadata. Adds the entry EXTRAS if a tensor needs it. */
function metadataWithExtras(tensors: readonly Readonly<NamedTensor>[], given: unknown): Metadata {
  const metadata = readMetadata(given ?? {}, "metadata");
  if (metadata[EXTRAS] !== undefined)
    throw new TensorError(`metadata: the key ${showJson(EXTRAS)} is reserved. Use another key.`);
  const extras = tensors
    .map(({ name, scale, zeroPoint, order }) => [name, { scale, zeroPoint, order }] as const)
    .filter(([, extra]) => Object.values(extra).some((value) => value !== undefined));
  if (extras.length > 0) metadata[EXTRAS] = jsonObject(extras);
  return metadata;
}

/** Returns the header as ASCII text, padded so that the data begin at a multiple of 8. */
function headerOf(placed: readonly Readonly<NamedTensor>[], metadata: Metadata): string {
  let end = 0;
  const entries = placed.map(({ name, type, dims, data }) => {
    const begin = end;
    end += data.byteLength;
    return [name, { dtype: type.toUpperCase(), shape: dims, data_offsets: [begin, end] }] as const;
  });
  const hasMetadata = Object.keys(metadata).length > 0;
  const json = ascii(jsonObject([...(hasMetadata ? [[METADATA, metadata] as const] : []), ...entries]));
  return json.padEnd(Math.ceil(json.length / 8) * 8);
}

/** Returns a JSON object as text. A JavaScript object would reorder names such as "758", and lose "__proto__". */
const jsonObject = (entries: readonly (readonly [string, unknown])[]): string =>
  `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`;

/** Escapes all characters of JSON that are not ASCII, since QuickJS and Hermes have no TextEncoder to encode them. */
const ascii = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
