/**
 * The safetensors format, both ways, without Node and without TextEncoder (QuickJS and Hermes lack it): raw tensors travel
 * in it between agent and host. Everything in the header is checked before anything is allocated for the data.
 *
 *     0   u64     n, length of the header, little-endian
 *     8   n bytes JSON: {"name": {"dtype", "shape", "data_offsets": [begin, end]}, ..., "__metadata__": {text: text}}
 *     8+n         the data, each tensor little-endian and row-major, back to back, without holes or overlap
 */
import { isRecord, showJson } from "../../core/json.ts";
import { TensorError } from "../../core/errors.ts";
import { isBytes, kindOf, type StorageOrder } from "../../core/tensor.ts";

/** f16 is carried as raw bits in a Uint16Array. */
export type ElementType = "f32" | "f16" | "u8" | "i8" | "i16" | "u16" | "i32" | "u32" | "i64" | "f64";

/** Values of a tensor of a file: one typed array per element type, f16 as its bits. */
export type TensorData =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigInt64Array;

/** What every reader of tensor files gives; `createDecoder().decode()` takes a list of these as it is. */
export interface NamedTensor {
  name: string;
  data: TensorData;
  dims: number[];
  type: ElementType;
  /** Real value = (data - zeroPoint) * scale. */
  scale?: number;
  zeroPoint?: number;
  /** Storage order in letters ("NCHW", "NHWC"), where a file states it. */
  order?: StorageOrder;
}

/** A tensor of a file before its bytes are looked at. */
export type TensorHead = Omit<NamedTensor, "data">;

interface ArrayType {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): TensorData;
  readonly BYTES_PER_ELEMENT: number;
}

const ARRAYS: Record<ElementType, ArrayType> = {
  f32: Float32Array,
  f16: Uint16Array,
  u8: Uint8Array,
  i8: Int8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  f64: Float64Array,
};

export const ELEMENT_TYPES = Object.keys(ARRAYS) as ElementType[];

export const bytesPerElement = (type: ElementType): number => ARRAYS[type].BYTES_PER_ELEMENT;

/** Product of the dims; throws on anything a file cannot mean: not a list, negative, fractional, or beyond 2^53 elements. */
export function elementCount(dims: unknown, where: string): number {
  if (!Array.isArray(dims))
    throw new TensorError(`${where}: got shape ${showJson(dims)}, expected a list of sizes`);
  let count = 1;
  let empty = false;
  for (const d of dims as unknown[]) {
    if (typeof d !== "number" || !Number.isSafeInteger(d) || d < 0)
      throw new TensorError(`${where}: got shape ${showJson(dims)}, expected whole sizes of 0 or more`);
    // A zero must not hide that the other sizes overflow, nor overflow be hidden by a zero further on.
    if (d === 0) empty = true;
    else count *= d;
    if (!Number.isSafeInteger(count))
      throw new TensorError(`${where}: got shape ${showJson(dims)}, expected at most 2^53 - 1 elements`);
  }
  return empty ? 0 : count;
}

/** What a reader is given; in plain JavaScript it may be an ArrayBuffer, or a path. */
export function checkBytes(bytes: unknown, where: string): void {
  if (!isBytes(bytes))
    throw new TensorError(
      `${where}: got ${kindOrValue(bytes)}, expected the bytes of the file, a Uint8Array`,
    );
}

const kindOrValue = (value: unknown): string =>
  typeof value === "object" && value !== null ? kindOf(value) : showJson(value);

/** A view on `bytes` where the address allows it, else a copy: typed arrays must start at a multiple of their element size. */
export function typedData(type: ElementType, bytes: Uint8Array): TensorData {
  const make = ARRAYS[type];
  const size = make.BYTES_PER_ELEMENT;
  const at = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  return new make(at.buffer, at.byteOffset, at.byteLength / size);
}

/** Tensors and metadata of a safetensors file. The data are views on `bytes` where alignment allows it. */
export function readSafetensors(
  bytes: Uint8Array,
  where = "safetensors",
): { tensors: NamedTensor[]; metadata: Record<string, string> } {
  checkBytes(bytes, where);
  if (bytes.length < 8)
    throw new TensorError(`${where}: got ${bytes.length} bytes, expected 8 for the length of the header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 0x1_0000_0000;
  const room = bytes.length - 8;
  if (length > room)
    throw new TensorError(
      `${where}: got a header of ${length} bytes, expected at most the ${room} that follow: is the file cut short, or of another format?`,
    );
  const text = fromUtf8(bytes.subarray(8, 8 + length), where);
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    throw new TensorError(
      `${where}: got a header that is not JSON (${showJson(text)}), expected {"name": {"dtype", "shape", "data_offsets"}}`,
    );
  }
  if (!isRecord(header))
    throw new TensorError(`${where}: got header ${showJson(header)}, expected an object of tensors`);
  const twice = repeatedKey(text);
  if (twice !== null)
    throw new TensorError(`${where}: got tensor ${showJson(twice)} twice, expected each name once`);

  const data = bytes.subarray(8 + length);
  const metadata = readMetadata(header["__metadata__"], where);
  const extras = readExtras(metadata, where);
  const parts: { head: TensorHead; begin: number; end: number }[] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name !== "__metadata__") parts.push(readEntry(name, entry, data.length, `${where}: ${name}`));
  }
  // In order of place, each must begin where the one before ended: that excludes holes and overlaps in one test.
  let reached = 0;
  for (const { head, begin, end } of [...parts].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== reached)
      throw new TensorError(
        `${where}: ${head.name}: got data from byte ${begin}, expected ${reached} (no holes, no overlap)`,
      );
    reached = end;
  }
  if (reached !== data.length)
    throw new TensorError(`${where}: got ${data.length} bytes of data, expected ${reached} by the header`);

  const tensors = parts.map(({ head, begin, end }) => ({
    name: head.name,
    data: typedData(head.type, data.subarray(begin, end)),
    dims: head.dims,
    type: head.type,
    ...extras.get(head.name),
  }));
  return { tensors, metadata };
}

/** Key of the metadata under which scale, zero point and order travel: the format itself has no place for them. */
const EXTRAS = "boxwright.tensors";

/**
 * The bytes of a safetensors file. Data are copied; tensors begin at multiples of 8 where their sizes allow it.
 * @throws TensorError of what `readSafetensors` would refuse, or read as something else
 */
export function writeSafetensors(
  tensors: readonly Readonly<NamedTensor>[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  if (!Array.isArray(tensors))
    throw new TensorError(`got tensors ${showJson(tensors)}, expected a list of {name, data, dims, type}`);
  const header: [string, unknown][] = [];
  const extras: [string, unknown][] = [];
  const seen = new Set<string>(["__metadata__"]);
  let end = 0;
  // Wide elements first: then every tensor is aligned for its own type, and a reader needs no copy.
  for (const t of tensors) checkTensor(t);
  const placed = [...tensors].sort((a, b) => bytesPerElement(b.type) - bytesPerElement(a.type));
  for (const { name, data, dims, type, scale, zeroPoint, order } of placed) {
    if (seen.has(name))
      throw new TensorError(`${name}: got this tensor name twice, or reserved, expected each once`);
    seen.add(name);
    const count = elementCount(dims, name);
    if (data.length !== count)
      throw new TensorError(`${name}: got ${data.length} elements, expected ${count} (${type}[${dims}])`);
    header.push([
      name,
      { dtype: type.toUpperCase(), shape: dims, data_offsets: [end, (end += data.byteLength)] },
    ]);
    if (scale !== undefined || zeroPoint !== undefined || order !== undefined)
      extras.push([name, { scale, zeroPoint, order }]);
  }
  // Built by hand because an object would reorder names such as "758" and swallow "__proto__".
  const object = (entries: readonly [string, unknown][]) =>
    `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`;
  const words = readMetadata(metadata ?? {}, "metadata");
  if (words[EXTRAS] !== undefined)
    throw new TensorError(`metadata: got the key ${showJson(EXTRAS)}, expected another: it is reserved`);
  if (extras.length) words[EXTRAS] = object(extras);
  const meta = Object.keys(words).length
    ? `"__metadata__":${JSON.stringify(words)}${header.length ? "," : ""}`
    : "";
  let text = ascii(`{${meta}${object(header).slice(1)}`);
  text += " ".repeat((8 - (text.length % 8)) % 8);

  const bytes = new Uint8Array(8 + text.length + end);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  for (let i = 0; i < text.length; i++) bytes[8 + i] = text.charCodeAt(i);
  let at = 8 + text.length;
  for (const { data } of placed) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}

/** In plain JavaScript a tensor may come as a runtime gives it: its type spelled otherwise, or data of another kind. */
function checkTensor(tensor: Readonly<NamedTensor>): void {
  if (!isRecord(tensor))
    throw new TensorError(`got tensor ${showJson(tensor)}, expected {name, data, dims, type}`);
  const { name, data, type, ...rest } = tensor;
  if (typeof name !== "string")
    throw new TensorError(`got a tensor of name ${showJson(name)}, expected text`);
  if (!ELEMENT_TYPES.includes(type))
    throw new TensorError(`${name}: got type ${showJson(type)}, expected one of ${ELEMENT_TYPES.join(" ")}`);
  const kind = ARRAYS[type].name;
  // a Buffer is a Uint8Array too
  if (kindOf(data) !== kind)
    throw new TensorError(`${name}: got data in ${kindOrValue(data)}, expected ${kind} for ${type}`);
  quantisation(rest, name);
}

function readEntry(
  name: string,
  entry: unknown,
  room: number,
  where: string,
): { head: TensorHead; begin: number; end: number } {
  if (!isRecord(entry))
    throw new TensorError(`${where}: got ${showJson(entry)}, expected {"dtype", "shape", "data_offsets"}`);
  const type = ELEMENT_TYPES.find((t) => t.toUpperCase() === entry["dtype"]);
  if (type === undefined)
    throw new TensorError(
      `${where}: got dtype ${showJson(entry["dtype"])}, expected one of ${ELEMENT_TYPES.join(" ").toUpperCase()}`,
    );
  const count = elementCount(entry["shape"], where);
  const offsets = entry["data_offsets"];
  const [begin, end] = Array.isArray(offsets) && offsets.length === 2 ? (offsets as unknown[]) : [];
  const whole = isOffset(begin) && isOffset(end) && begin <= end;
  if (!whole || end > room)
    throw new TensorError(
      `${where}: got data_offsets ${showJson(offsets)}, expected [begin, end] within the ${room} bytes of data${whole ? ": is the file cut short?" : ""}`,
    );
  const bytes = count * bytesPerElement(type);
  if (end - begin !== bytes)
    throw new TensorError(
      `${where}: got ${end - begin} bytes of data, expected ${bytes} (${type}${showJson(entry["shape"])})`,
    );
  return { head: { name, type, dims: entry["shape"] as number[] }, begin, end };
}

function readMetadata(value: unknown, where: string): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value) || Object.values(value).some((v) => typeof v !== "string"))
    throw new TensorError(`${where}: __metadata__: got ${showJson(value)}, expected an object of texts`);
  return { ...(value as Record<string, string>) };
}

/** Takes the entry EXTRAS out of the metadata, so that what was written is what is read. */
function readExtras(metadata: Record<string, string>, where: string): Map<string, Partial<NamedTensor>> {
  const text = metadata[EXTRAS];
  if (text === undefined) return new Map();
  delete metadata[EXTRAS];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = text;
  }
  if (!isRecord(value))
    throw new TensorError(`${where}: ${EXTRAS}: got ${showJson(value)}, expected an object of tensors`);
  return new Map(
    Object.entries(value).map(([name, v]) => [name, quantisation(v, `${where}: ${EXTRAS}: ${name}`)]),
  );
}

/** Scale, zero point and order as any file beside the data states them; `zero_point` and `storage_order` are read too. */
export function quantisation(value: unknown, where: string): Partial<NamedTensor> {
  if (!isRecord(value)) throw new TensorError(`${where}: got ${showJson(value)}, expected an object`);
  const out: Partial<NamedTensor> = {};
  const scale = value["scale"];
  const zeroPoint = value["zeroPoint"] ?? value["zero_point"];
  const order = value["order"] ?? value["storage_order"];
  // runtimes say scale 0 of what is not quantised
  if (scale !== undefined && scale !== null && scale !== 0) {
    if (!Number.isFinite(scale) || (scale as number) <= 0)
      throw new TensorError(`${where}: got scale ${showJson(scale)}, expected a positive number`);
    out.scale = scale as number;
  }
  if (zeroPoint !== undefined && zeroPoint !== null) {
    if (!Number.isFinite(zeroPoint))
      throw new TensorError(`${where}: got zero point ${showJson(zeroPoint)}, expected a finite number`);
    out.zeroPoint = zeroPoint as number;
  }
  if (order !== undefined && order !== null) {
    if (typeof order !== "string" || !/^[A-Za-z]{1,8}$/.test(order))
      throw new TensorError(
        `${where}: got order ${showJson(order)}, expected letters such as "NCHW" or "NHWC"`,
      );
    // A decoder refuses letters that are no order.
    out.order = order as StorageOrder;
  }
  return out;
}

const isOffset = (n: unknown): n is number => Number.isSafeInteger(n) && (n as number) >= 0;

/** The first key of the outermost object that stands there twice; JSON.parse keeps the last one silently. `text` is valid JSON. */
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

/** JSON in ASCII alone: what lies outside may only stand inside its strings, where an escape means the same. */
const ascii = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Strict UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
function fromUtf8(bytes: Uint8Array, where: string): string {
  const parts: string[] = [];
  let units: number[] = [];
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i++];
    const more =
      first < 0x80
        ? 0
        : first >= 0xc2 && first < 0xe0
          ? 1
          : first >= 0xe0 && first < 0xf0
            ? 2
            : first >= 0xf0 && first < 0xf5
              ? 3
              : -1;
    let code = more < 1 ? first : first & (0x3f >> more);
    let good = more >= 0;
    for (let k = 0; k < more; k++) {
      const next = bytes[i++]; // past the end: undefined, which fails the test below
      good &&= (next & 0xc0) === 0x80;
      code = (code << 6) | (next & 0x3f);
    }
    if (more === 2) good &&= code >= 0x800 && (code < 0xd800 || code > 0xdfff);
    if (more === 3) good &&= code >= 0x10000 && code <= 0x10ffff;
    if (!good)
      throw new TensorError(`${where}: got a header that is not UTF-8 (byte ${i - 1}), expected JSON`);
    if (code > 0xffff) units.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
    else units.push(code);
    if (units.length > 4096) {
      parts.push(String.fromCharCode(...units));
      units = [];
    }
  }
  return parts.join("") + String.fromCharCode(...units);
}
