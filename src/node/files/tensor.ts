/** Tensors in files: types, and the checks of all readers. Uses nothing of Node, since devices write safetensors. */
import { TensorError } from "../../core/errors.ts";
import { isRecord, showJson } from "../../core/json.ts";
import { type StorageOrder, isBytes, kindOf } from "../../core/tensor.ts";

/** Element type of a tensor in a file. f16 is stored as raw bits. */
export type FileElementType = "f32" | "f16" | "u8" | "i8" | "i16" | "u16" | "i32" | "u32" | "i64" | "f64";

/** Elements of a tensor in a file: one typed array per element type. A Uint16Array holds u16, or the bits of f16. */
export type FileTensorData =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigInt64Array;

/** A tensor from a file. A list of tensors may be passed to `decode` unchanged. */
export interface NamedTensor {
  name: string;
  data: FileTensorData;
  dims: number[];
  type: FileElementType;
  /** Scale of quantised data: real = (raw - zeroPoint) * scale. */
  scale?: number;
  /** Zero point of quantised data, in raw units. */
  zeroPoint?: number;
  /** Storage order, if the file states it, for example "NCHW" or "NHWC". */
  order?: StorageOrder;
}

/** Name, shape, type and quantisation of a tensor, without its data. */
export type TensorHead = Omit<NamedTensor, "data">;

interface ArrayType {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): FileTensorData;
  readonly BYTES_PER_ELEMENT: number;
}

const ARRAYS: Record<FileElementType, ArrayType> = {
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

/** Largest byte length of a typed array in the smallest supported runtime. Larger files are not read. */
export const LARGEST = 2 ** 31 - 1;

export const ELEMENT_TYPES = Object.keys(ARRAYS) as FileElementType[];

export const bytesPerElement = (type: FileElementType): number => ARRAYS[type].BYTES_PER_ELEMENT;

/** Returns an error about the part of a file that `where` names. */
export const refusal = (where: string, got: string, expected: string): TensorError =>
  new TensorError(`${where}: got ${got}, expected ${expected}`);

/** Returns a text for errors about a value: its kind if it is an object, else the value. */
const kindOrValue = (value: unknown): string =>
  typeof value === "object" && value !== null ? kindOf(value) : showJson(value);

/** Throws if a name is not text. Callers in plain JavaScript may omit a name. */
export function checkName(name: unknown, of: string): void {
  if (typeof name !== "string") throw refusal(`name of the ${of}`, showJson(name), "text");
}

/** Throws unless `bytes` is a Uint8Array and `where` a text. Callers in plain JavaScript may pass other values. */
export function checkBytes(bytes: unknown, where: string): void {
  checkName(where, "file");
  if (!isBytes(bytes)) throw refusal(where, kindOrValue(bytes), "the bytes of the file, a Uint8Array");
}

/** Throws if `data` is not the typed array for elements of `type`. A Buffer counts as a Uint8Array. */
export function checkDataType(data: unknown, type: FileElementType, where: string): void {
  const kind = ARRAYS[type].name;
  if (kindOf(data) !== kind) throw refusal(where, `data in ${kindOrValue(data)}`, `${kind} for ${type}`);
}

/** Returns the count of elements. Throws if `dims` is no list of whole sizes, or for more than 2^53 - 1 elements. */
export function elementCount(dims: unknown, where: string): number {
  const shape = `shape ${showJson(dims)}`;
  if (!Array.isArray(dims)) throw refusal(where, shape, "a list of sizes");
  let count = 1;
  let isEmpty = false;
  for (const d of dims as unknown[]) {
    if (typeof d !== "number" || !Number.isSafeInteger(d) || d < 0)
      throw refusal(where, shape, "whole sizes of 0 or more");
    // Leave zeros out of the product, where they would hide an overflow of the other sizes.
    if (d === 0) isEmpty = true;
    else count *= d;
    if (!Number.isSafeInteger(count)) throw refusal(where, shape, "at most 2^53 - 1 elements");
  }
  return isEmpty ? 0 : count;
}

/** Returns bytes as elements of a type: a view if the bytes are aligned, else a copy. */
export function typedData(type: FileElementType, bytes: Uint8Array): FileTensorData {
  const ArrayOf = ARRAYS[type];
  const size = ArrayOf.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  return new ArrayOf(aligned.buffer, aligned.byteOffset, aligned.byteLength / size);
}

/** Scale, zero point and storage order of a tensor. A field is absent if neither file nor caller states it. */
export type Quantisation = Pick<NamedTensor, "scale" | "zeroPoint" | "order">;

/** Reads scale, zero point and storage order from an object. Also accepts `zero_point` and `storage_order`. */
export function quantisation(value: unknown, where: string): Quantisation {
  if (!isRecord(value)) throw refusal(where, showJson(value), "an object");
  const scale = value["scale"] ?? null;
  const zeroPoint = value["zeroPoint"] ?? value["zero_point"] ?? null;
  const order = value["order"] ?? value["storage_order"] ?? null;
  const out: Quantisation = {};
  // Ignore a scale of 0, which runtimes state for a tensor that is not quantised.
  if (scale !== null && scale !== 0) {
    if (!Number.isFinite(scale) || (scale as number) <= 0)
      throw refusal(where, `scale ${showJson(scale)}`, "a positive number");
    out.scale = scale as number;
  }
  if (zeroPoint !== null) {
    if (!Number.isFinite(zeroPoint))
      throw refusal(where, `zero point ${showJson(zeroPoint)}`, "a finite number");
    out.zeroPoint = zeroPoint as number;
  }
  if (order !== null) {
    if (typeof order !== "string" || !/^[A-Za-z]{1,8}$/.test(order))
      throw refusal(where, `order ${showJson(order)}`, 'letters such as "NCHW" or "NHWC"');
    // Accept any letters here, since the decoder refuses unknown orders.
    out.order = order as StorageOrder;
  }
  return out;
}
