/** Tensors as runtimes pass them, and the facts that may be known before the data: name, dims, type, quantisation. */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I32, TYPE_I8, TYPE_U8 } from "./abi.ts";
import { refuse } from "./errors.ts";
import { namesFor, nearestName } from "./names.ts";
import type { RowFacts } from "./row-orders.ts";

/** Element types of the kernel. */
export type ElementType = "f32" | "f16" | "u8" | "i8" | "i16" | "i32";

/** Spellings of element types. f64 and 64-bit integers are narrowed when a tensor is copied into its slot. */
export type TypeName =
  | ElementType
  | "fp32"
  | "float"
  | "float32"
  | "f64"
  | "fp64"
  | "float64"
  | "double"
  | "fp16"
  | "float16"
  | "half"
  | "uint8"
  | "int8"
  | "int16"
  | "int"
  | "int32"
  | "i64"
  | "int64"
  | "u32"
  | "uint32"
  | "u64"
  | "uint64";

/** Other types that runtimes and files have. `TensorInput` allows them, but decoders refuse them. */
export type RefusedTypeName = "bool" | "string" | "u16" | "uint16" | "int4" | "uint4";

/** Storage order of a tensor whose dims do not show it. "rows": [N,C]; "planes": [C,N]. */
export type StorageOrder = "NCHW" | "NHWC" | "CHW" | "HWC" | "rows" | "planes";

/** The array class of a tensor's slot. f16 is stored as bits. */
export type SlotArray = Float32Array | Uint16Array | Uint8Array | Int8Array | Int16Array | Int32Array;

interface Element {
  readonly code: number;
  readonly bytes: number;
  readonly array: new (buffer: ArrayBuffer, at: number, length: number) => SlotArray;
  /** Sortable key of the smallest element (see memory/thresholds.ts). */
  readonly low: number;
  /** Sortable key of the largest element. */
  readonly high: number;
  /**
   * Names of this type for callers, such as "float32" or the class "Float32Array". Some are names of wider types (f64,
   * 64-bit integers), whose values the decoder narrows when it copies them. Readers of tensor files use the same names,
   * but keep the wider values.
   */
  readonly names: string;
}

export const ELEMENTS: { readonly [T in ElementType]: Element } = {
  f32: {
    code: TYPE_F32,
    bytes: 4,
    array: Float32Array,
    // From the lowest finite value to the largest. Masked logits may be -Infinity, which passes no threshold.
    low: -0x7f800000,
    high: 0x7f7fffff,
    names: "f32 fp32 float float32 f64 fp64 float64 double",
  },
  f16: {
    code: TYPE_F16,
    bytes: 2,
    array: Uint16Array,
    // The keys of half floats, up to +Infinity.
    low: -0x7c00,
    high: 0x7c00,
    names: "f16 fp16 float16 half",
  },
  u8: {
    code: TYPE_U8,
    bytes: 1,
    array: Uint8Array,
    low: 0,
    high: 255,
    names: "u8 uint8 u8f uint8clamped",
  },
  i8: { code: TYPE_I8, bytes: 1, array: Int8Array, low: -128, high: 127, names: "i8 int8" },
  i16: { code: TYPE_I16, bytes: 2, array: Int16Array, low: -32768, high: 32767, names: "i16 int16" },
  i32: {
    code: TYPE_I32,
    bytes: 4,
    array: Int32Array,
    low: -2147483648,
    // One less than the largest i32, so that the next key, which means "nothing passes", still fits an i32.
    high: 2147483646,
    names: "i32 int int32 i64 int64 bigint64 u32 uint32 u64 uint64 biguint64",
  },
};

/** Array classes of a tensor's data. f16 is passed as bits in a Uint16Array, or as a Float16Array. */
export type TensorData =
  | Float32Array
  | Float64Array
  | Uint16Array
  | Int16Array
  | Uint8Array
  | Uint8ClampedArray
  | Int8Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | ArrayLike<number>
  // ONNX Runtime's tensor type allows text. A tensor of text is refused.
  | readonly string[];

/** Shape and type of a tensor. The data may come later. */
export interface TensorSpecInput {
  /** Name of the output, if outputs are passed as an array. In a record, the key is the name. */
  readonly name?: string;
  readonly dims: readonly number[];
  /** Element type. Default: the type of the data, where a Uint16Array means f16. Without data: f32. */
  readonly type?: TypeName | RefusedTypeName;
  /**
   * Scale of quantised data: real = (raw - zeroPoint) * scale. A list has one scale for each index of `axis`. Then the
   * slot is f32, and the tensor is converted when it is copied.
   */
  readonly scale?: number | readonly number[];
  readonly zeroPoint?: number | readonly number[];
  /** Dimension along which a list of scales runs. Default: the dimension that is as long as the list. */
  readonly axis?: number;
  /** Storage order, if the dims do not show it. */
  readonly order?: StorageOrder;
}

/** A tensor with data. A tensor of ONNX Runtime has these fields and may be passed unchanged. */
export interface TensorInput extends TensorSpecInput {
  readonly data: TensorData;
}

/** Quantisation per channel: real = (raw - zeroPoint[k]) * scale[k], where k is the index along `axis`. */
export interface Channels {
  /** Element type of the raw data. */
  readonly type: ElementType;
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
  readonly axis: number;
}

/** Facts about a tensor that the caller stated before the data came. */
export interface KnownSpec {
  readonly order?: string | null;
  readonly type?: string | null;
  readonly scale?: number | readonly number[] | null;
  readonly zeroPoint?: number | readonly number[];
  readonly axis?: number;
}

/** A checked tensor without its data. */
export interface TensorSpec {
  readonly name: string;
  readonly dims: readonly number[];
  /** Type of the slot: f32 if the data have scales per channel. */
  readonly type: ElementType;
  /** Scale. null: the tensor has no scale. Of integers, only class ids and counts may lack a scale. */
  readonly scale: number | null;
  readonly zeroPoint: number;
  readonly order: string | null;
  /** Set if the raw data have scales per channel. */
  readonly channels?: Channels;
  /** Present if the tensor holds finished rows. */
  readonly finished?: RowFacts;
}

/** Storage orders. Plan files store the index in this list, plus 1. */
export const ORDERS = ["nchw", "nhwc", "chw", "hwc", "rows", "planes"];
export const TYPES = /* @__PURE__ */ Object.keys(ELEMENTS) as ElementType[];

export function elementType(name: string): ElementType | null {
  const spelled = name.toLowerCase();
  return TYPES.find((t) => ELEMENTS[t].names.split(" ").includes(spelled)) ?? null;
}

/** True if elements are real values, not quantised integers. */
export const isFloat = (s: { readonly type: string }): boolean => s.type === "f32" || s.type === "f16";

/** True for arrays of bytes: Uint8Array, Buffer, Int8Array, Uint8ClampedArray. */
export const isBytes = (x: unknown): x is Uint8Array =>
  ArrayBuffer.isView(x) && (x as Uint8Array).BYTES_PER_ELEMENT === 1;

/** True for an array whose memory was transferred. Such an array looks empty. Node 20 has no `detached`. */
export function isDetached(x: unknown): boolean {
  if (!ArrayBuffer.isView(x) || x.byteLength > 0) return false;
  try {
    // The constructor throws a TypeError for transferred memory.
    void new Uint8Array(x.buffer);
    return false;
  } catch {
    return true;
  }
}

/** Returns the class of a value as text: "Float32Array", "Array", "Map", ... */
export const kindOf = (data: unknown): string => Object.prototype.toString.call(data).slice(8, -1);

/**
 * True for an object whose content is its keys. False for lists, and for a Map, a Promise or another built-in object:
 * these would look like an object without keys.
 */
export const isKeyed = (x: unknown): x is object =>
  typeof x === "object" && x !== null && ["Object", "Module"].includes(kindOf(x));

/** End of an error about 16-bit integers that may be half floats. */
export const HALF_FLOATS = '; bits of half floats are of type "float16"';

/** Returns the element type that the array's class implies, or null. */
function typeOfData(data: TensorData): ElementType | null {
  if (Array.isArray(data)) return /string|bigint/.test(typeof data[0]) ? null : "f32";
  const [, kind = ""] = /^(.*)Array$/.exec(kindOf(data)) ?? [];
  return kind === "Uint16" ? "f16" : elementType(kind);
}

export function volume(dims: readonly number[]): number {
  let n = 1;
  // Use a plain loop, since every frame runs this: `for of` over a frozen array makes garbage in V8.
  for (let i = 0; i < dims.length; i++) n *= dims[i];
  return n;
}

/** Returns the given scale. Returns null for 0, which runtimes state for a tensor that is not quantised. */
export const scaleOf = <S>(given: S | null | undefined): S | null =>
  given === undefined || given === 0 ? null : given;

/** Names of the fields that a tensor may have, with or without data. */
export const SPEC_NAMES: readonly string[] = [
  "name",
  "data",
  "dims",
  "type",
  "scale",
  "zeroPoint",
  "axis",
  "order",
];

/**
 * Throws for a field name that looks misspelt, and for another runtime's name of scale, zero point or type: the value
 * would be ignored. Allows other names, since runtimes' tensors have more fields. Allows any name whose value is null
 * or undefined.
 */
function checkNamesOf(where: string, t: object): void {
  for (const [name, value] of Object.entries(t)) {
    if (SPEC_NAMES.includes(name) || (value ?? null) === null) continue;
    if (/^(quant.*|dtype)$/i.test(name) || nearestName(name, SPEC_NAMES) !== undefined)
      refuse(where, `an unknown name, ${name}`, namesFor(name, SPEC_NAMES));
  }
}

/** Throws if a tensor's data are not in CPU memory: ONNX Runtime's `data` would then throw a less clear error. */
export function checkLocation(name: string, t: object): void {
  const { location } = t as { readonly location?: unknown };
  if (location === undefined || location === null || location === "cpu" || location === "cpu-pinned") return;
  refuse(
    `tensor "${name}"`,
    `data at location ${show(location)}`,
    location === "none"
      ? "a tensor that was not disposed"
      : "data on the CPU: pass { data: await tensor.getData(), dims: tensor.dims, type: tensor.type }",
  );
}

/**
 * Checks the class and the length of a tensor's data. Returns the element type. A stated type overrides the type of the
 * array's class if elements of both have the same size: f16 and i16, i8 and u8.
 */
function checkData(
  where: string,
  data: TensorData,
  dims: readonly number[],
  givenType: ElementType | null,
  hint: ElementType | null,
): ElementType {
  const arrayType = typeOfData(data);
  const kind = kindOf(data);
  if (arrayType === null)
    return refuse(
      where,
      `data of type ${kind}${Array.isArray(data) ? ` of ${typeof data[0]}s` : ""}`,
      kind === "ArrayBuffer" ? "a typed array over it: new Float32Array(data) for f32" : "a typed array",
    );
  const shares = (type: ElementType): boolean =>
    ["f16 i16", "i16 f16", "i8 u8"].includes(`${type} ${arrayType}`);
  const type = givenType ?? (hint && shares(hint) ? hint : arrayType);
  if (Array.isArray(data) ? type === "f16" : type !== arrayType && !shares(type))
    refuse(
      where,
      `${kind} data`,
      `${ELEMENTS[type].array.name} data for its type "${type}"${arrayType === "f16" || arrayType === "i16" ? HALF_FLOATS : ""}`,
    );
  const { length } = data;
  const count = volume(dims);
  if (length !== count)
    refuse(
      where,
      `${length} elements` +
        (length === 0 && (data as Float32Array).buffer?.byteLength === 0
          ? " (its buffer is detached or empty)"
          : ""),
      `${count} for dims [${dims.join(",")}]` +
        (arrayType === "u8" && length === 4 * count
          ? "; bytes of floats are new Float32Array(data.buffer, data.byteOffset, data.length / 4)"
          : ""),
    );
  return type;
}

/**
 * Checks a tensor and returns its specification, which has no data. Reads only the class and the length of the data.
 * `before` holds the facts that were stated before the data came. Treats null as undefined, since plain JavaScript may
 * pass null.
 * @throws TensorError naming the tensor
 */
export function specOf(
  name: string,
  t: TensorSpecInput & { readonly data?: TensorData },
  before?: KnownSpec,
): TensorSpec {
  const where = `tensor "${name}"`;
  if (t === null || typeof t !== "object" || ArrayBuffer.isView(t)) refuse(where, show(t), "{data, dims}");
  checkLocation(name, t);
  const { dims, data } = t;
  if (before !== undefined && (data === null || typeof data !== "object"))
    refuse(where, `data ${show(data)}`, "a typed array");
  const stated = t.type ?? null;
  if ((dims ?? null) === null && "shape" in t)
    refuse(where, "shape and no dims", "dims: rename shape to dims");
  if (!Array.isArray(dims) || !dims.every((d) => Number.isSafeInteger(d) && d >= 0))
    refuse(where, `dims ${show(dims)}`, "an array of whole numbers");
  checkNamesOf(where, t);
  const givenType = typeof stated === "string" ? elementType(stated) : null;
  if (stated !== null && givenType === null)
    refuse(
      where,
      `type ${show(stated)}`,
      `one of f32 f16 u8 i8 i16 i32 (or f64, i64)${/int_?16|short/i.test(show(stated)) ? HALF_FLOATS : ""}`,
    );
  const hint = stated === null && before?.type ? elementType(before.type) : null;
  const type = data === undefined ? (givenType ?? "f32") : checkData(where, data, dims, givenType, hint);
  const float = isFloat({ type });
  // If a list of scales was stated in advance, floats are already real values, from a slot or a runtime. Do not scale
  // them again.
  const earlier = float && Array.isArray(before?.scale) ? undefined : before;
  const scale = scaleOf(t.scale) ?? scaleOf(earlier?.scale);
  const zeroPoint = t.zeroPoint ?? earlier?.zeroPoint ?? 0;
  if (![scale ?? 1].flat().every((s) => typeof s === "number" && s > 0 && s < Infinity))
    refuse(
      where,
      `scale ${show(scale)}`,
      `a positive number${ArrayBuffer.isView(scale) ? ", or a list of them: [...scale]" : ""} (real = (raw - zeroPoint) * scale)`,
    );
  if (![zeroPoint].flat().every(Number.isFinite)) refuse(where, `zeroPoint ${show(zeroPoint)}`, "a number");
  if (float && ((scale ?? 1) !== 1 || zeroPoint !== 0))
    refuse(
      where,
      `${type} data with scale ${String(scale)} and zeroPoint ${String(zeroPoint)}`,
      "neither: they are of integers",
    );
  const isList = Array.isArray(scale) || Array.isArray(zeroPoint);
  const order = t.order ?? before?.order ?? null;
  if (order !== null && !(typeof order === "string" && ORDERS.includes(order.toLowerCase())))
    refuse(where, `order ${show(order)}`, "NCHW, NHWC, CHW, HWC, rows or planes");
  return {
    name,
    dims: [...dims],
    type: isList ? "f32" : type,
    scale: float || isList ? 1 : (scale as number | null),
    zeroPoint: float || isList ? 0 : (zeroPoint as number),
    order,
    ...(isList && {
      channels: channelsOf(where, dims, type, [scale].flat(), zeroPoint, t.axis ?? before?.axis),
    }),
  };
}

/** Returns scales per channel and their axis. A list with a single scale fits every axis. */
function channelsOf(
  where: string,
  dims: readonly number[],
  type: ElementType,
  scale: readonly unknown[],
  zeroPoint: number | readonly number[],
  axis: number | undefined,
): Channels {
  const { length } = scale;
  const zeros = Array.isArray(zeroPoint) ? (zeroPoint as number[]) : scale.map(() => zeroPoint as number);
  const axes = dims.flatMap((size, k) => (size === length && k === (axis ?? k) ? k : []));
  if ((length !== 1 && axes.length !== 1) || zeros.length !== length)
    refuse(
      where,
      `${length} scales, ${zeros.length} zero points for dims [${dims.join(",")}]`,
      axes.length > 1
        ? `one for each index of axis ${axes.join(" or ")}: axis says which`
        : `one of each for every index of ${axis === undefined ? "an axis" : `axis ${axis}, which has ${dims[axis] ?? 0}`}`,
    );
  return { type, scale: scale as number[], zeroPoint: zeros, axis: axes[0] ?? 0 };
}

/** Returns a value as short text for a message. */
export function show(x: unknown, depth = 0): string {
  if (typeof x === "function") return "a function";
  if (typeof x === "bigint") return `${x}n`;
  if (depth > 3) return "...";
  if (ArrayBuffer.isView(x)) {
    // Read element by element: an array whose buffer was transferred cannot be sliced, and a DataView has no length.
    const { length = 0 } = x as Uint8Array;
    return `${kindOf(x)} ${show(Array.from({ length: Math.min(9, length) }, (_, i) => (x as Uint8Array)[i]))}`;
  }
  if (typeof x === "string") return `"${x.length > 60 ? `${x.slice(0, 60)}...` : x}"`;
  if (Array.isArray(x))
    return `[${x
      .slice(0, 8)
      .map((v) => show(v, depth + 1))
      .join(",")}${x.length > 8 ? ",..." : ""}]`;
  if (x === null || typeof x !== "object") return String(x);
  const kind = kindOf(x);
  return kind === "Object" ? "an object" : `${/^[AEIO]/.test(kind) ? "an" : "a"} ${kind}`;
}

/** Returns the first `n` entries of a list as text for a message. */
export const few = (all: readonly string[], n: number): string =>
  all.slice(0, n).join(", ") + (all.length > n ? ", ..." : "");

export function shape(s: { readonly name: string; readonly dims: readonly number[] }): string {
  return `${s.name} [${s.dims.join(",")}]`;
}

/** Throws if two tensors have the same name: the second one would be lost in records and slots. */
export function checkNames(specs: readonly TensorSpec[]): void {
  const again = specs.find((s, i) => specs.findIndex(({ name }) => name === s.name) < i);
  if (again) refuse(`tensor "${again.name}"`, `it twice among ${list(specs)}`, "each name once");
}

/** Returns names and dims of several tensors as text for a message. */
export const list = (specs: readonly TensorSpec[]): string => specs.map(shape).join(", ");
