/** Tensors on the wire: the datatypes of the Open Inference Protocol, each with its array class. */
import type { TensorInput } from "../core/tensor.ts";

/** Array classes of the wire. f16 stands as bits in a Uint16Array. */
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

/** Element types of the wire: its datatypes in small letters, which `decode` knows too. */
export type WireType =
  "fp32" | "fp16" | "uint8" | "int8" | "int16" | "int32" | "uint32" | "int64" | "uint64" | "fp64";

/** A tensor of a packet, as `decode` takes it. The data are a view of the packet where their address allows. */
export interface PacketTensor extends TensorInput {
  readonly name: string;
  readonly data: WireArray;
  readonly type: WireType;
}

/** An array class of the wire. */
export interface WireClass {
  readonly name: string;
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, at: number, length: number): WireArray;
  from(values: readonly unknown[]): WireArray;
}

/** Array class of each datatype. A decoder reads no other datatypes: BF16, BYTES, BOOL, UINT16. */
export const CLASSES = {
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
