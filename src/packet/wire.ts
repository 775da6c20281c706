/** Tensors in packets: the datatypes of the Open Inference Protocol, each with its array class. */
import type { StorageOrder, TensorInput } from "../core/tensor.ts";
import { type PacketErrorKind, need } from "./error.ts";

/** Array classes of tensors in packets. A Uint16Array holds the bits of f16. */
export type WireArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** Element types of tensors in packets: the protocol's datatypes in lower case, which `decode` accepts. */
export type WireType =
  "fp32" | "fp16" | "uint8" | "int8" | "int16" | "int32" | "uint32" | "int64" | "uint64" | "fp64";

/** A tensor of a packet, in the form that `decode` takes. Its data are a view of the packet if aligned, else a copy. */
export interface PacketTensor extends TensorInput {
  readonly name: string;
  readonly data: WireArray;
  readonly type: WireType;
}

export interface WireClass {
  readonly name: string;
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, at: number, length: number): WireArray;
  from(values: readonly unknown[]): WireArray;
}

/** Array class of each datatype that decoders read. Decoders do not read BF16, BYTES, BOOL and UINT16. */
export const ARRAY_CLASSES = {
  FP32: Float32Array,
  FP16: Uint16Array,
  UINT8: Uint8Array,
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  UINT32: Uint32Array,
  INT64: BigInt64Array,
  UINT64: BigUint64Array,
  FP64: Float64Array,
} as unknown as { readonly [datatype: string]: WireClass };

export const DATATYPES = /* @__PURE__ */ Object.keys(ARRAY_CLASSES);

/** True if a value is a whole number from 0 up, below a limit. */
export const isIndex = (n: unknown, limit = Infinity): n is number =>
  Number.isInteger(n) && (n as number) >= 0 && (n as number) < limit;

/**
 * The head of a tensor: its index among the outputs, the count of its bytes after the JSON, its elements if the JSON
 * holds them, and a function that makes the tensor from its bytes.
 */
type TensorHead = readonly [
  place: number,
  size: number,
  values: WireArray | null,
  tensorOf: (bytes: Uint8Array) => PacketTensor,
];

/**
 * Reads the head of a tensor from JSON. Senders also check their tensors with this function.
 * @param i index among the outputs
 * @param count count of the outputs
 */
export function readTensor(
  output: unknown,
  i: number,
  count: number,
  where: string,
  kind?: PacketErrorKind | null,
): TensorHead {
  const { name, shape, datatype, data, parameters } = (output ?? {}) as Record<string, unknown>;
  need(DATATYPES.includes(datatype as string), `${where}.datatype`, datatype, DATATYPES, kind);
  const type = datatype as string;
  const ArrayOf = ARRAY_CLASSES[type];
  const dims = [shape].flat() as number[];
  const length = dims.reduce((n, d) => (isIndex(d) ? n * d : NaN), 1);
  const p = (parameters ?? {}) as Record<string, number | undefined>;
  const { scale = 0, zero_point: zeroPoint = 0, place = i, order, binary_data_size: stated } = p;
  need(
    typeof name === "string" &&
      length < 2 ** 53 &&
      [scale, zeroPoint].every(Number.isFinite) &&
      // A scale of 0 means no scale. Floats are never quantised.
      (type[0] === "F" ? !zeroPoint && [0, 1].includes(scale) : scale >= 0) &&
      isIndex(place, count),
    where,
    [name, shape, p],
    "name, shape, and a scale of integers alone",
    kind,
  );
  const values = stated === undefined ? valuesOf(data, type, length, `${where}.data`, kind) : null;
  const size = values ? 0 : length * ArrayOf.BYTES_PER_ELEMENT;
  // Convert the stated size to a number, since examples of OpenVINO's documentation state sizes as text.
  need(values ?? Number(stated) === size, `${where}.binary_data_size`, stated, size, kind);
  return [
    place,
    size,
    values,
    (bytes) => {
      // Make a view if the address is aligned, else a copy.
      const { buffer, byteOffset } =
        bytes.byteOffset % ArrayOf.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
      return {
        name,
        dims,
        type: type.toLowerCase() as WireType,
        ...(scale && { scale, zeroPoint }),
        ...(order !== undefined && { order: String(order) as StorageOrder }),
        data: values ?? new ArrayOf(buffer, byteOffset, length),
      };
    },
  ];
}

/** Returns the elements of a tensor from `data`, a list in the JSON, which may be nested by the shape. */
function valuesOf(
  data: unknown,
  datatype: string,
  length: number,
  where: string,
  kind?: PacketErrorKind | null,
): WireArray {
  const list = [data].flat(32) as number[];
  const isFloat = datatype[0] === "F";
  const isList =
    datatype !== "FP16" &&
    list.length === length &&
    list.every(isFloat ? Number.isFinite : Number.isSafeInteger);
  const values = isList ? ARRAY_CLASSES[datatype].from(/T64/.test(datatype) ? list.map(BigInt) : list) : [];
  // Check that the array holds each number: array classes silently change numbers out of their range. In UINT8, 300
  // becomes 44; in FP32, 1e39 becomes infinite.
  const holds = (x: number, i: number): boolean =>
    isFloat ? Number.isFinite(values[i]) : Number(values[i]) === x;
  need(
    isList && list.every(holds),
    where,
    data,
    `${length} elements of ${datatype}, or binary_data_size`,
    kind,
  );
  return values as WireArray;
}
