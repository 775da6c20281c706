/** Tensors as runtimes hand them over, and what is known of them before any data: name, dims, type. */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I32, TYPE_I8, TYPE_U8 } from "./abi.ts";
import { TensorError } from "./errors.ts";

/** Element types of the kernel. */
export type ElementType = "f32" | "f16" | "u8" | "i8" | "i16" | "i32";

export const TYPE_CODES: { readonly [T in ElementType]: number } = {
  f32: TYPE_F32,
  f16: TYPE_F16,
  i8: TYPE_I8,
  u8: TYPE_U8,
  i16: TYPE_I16,
  i32: TYPE_I32,
};

export const TYPE_BYTES: { readonly [T in ElementType]: number } = {
  f32: 4,
  f16: 2,
  i8: 1,
  u8: 1,
  i16: 2,
  i32: 4,
};

/** Array types a tensor's data may have. f16 comes as Uint16Array (bits), or as Float16Array where the engine has it. */
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
  // ONNX Runtime's tensors may hold text by their type; such a one is refused
  | readonly string[];

/** A tensor with data. A tensor of ONNX Runtime has this shape as it is. */
export interface TensorInput {
  readonly data: TensorData;
  readonly dims: readonly number[];
  /** "f32", "float32", "uint8", ...; by default what the array says (a Uint16Array means f16 bits). */
  readonly type?: string;
  /** Quantised data: real = (raw - zeroPoint) * scale. */
  readonly scale?: number;
  readonly zeroPoint?: number;
  /** Storage order where the dims leave it open: "NCHW", "NHWC", "CHW", "HWC", "rows" ([N,C]) or "planes" ([C,N]). */
  readonly order?: string;
}

/** A tensor known beforehand. */
export interface TensorSpecInput {
  readonly name?: string;
  readonly dims: readonly number[];
  readonly type?: string;
  readonly scale?: number;
  readonly zeroPoint?: number;
  readonly order?: string;
}

/** A tensor without its data, everything settled. */
export interface TensorSpec {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: ElementType;
  /** `null`: integers that nobody gave a scale; fine for labels and counts, an error for boxes and scores. */
  readonly scale: number | null;
  readonly zeroPoint: number;
  readonly order: string | null;
}

const NAMES: Readonly<Record<string, ElementType>> = {
  f32: "f32",
  fp32: "f32",
  float: "f32",
  float32: "f32",
  // f64 and i64 are narrowed on the way into the slot
  f64: "f32",
  fp64: "f32",
  float64: "f32",
  double: "f32",
  f16: "f16",
  fp16: "f16",
  float16: "f16",
  half: "f16",
  u8: "u8",
  uint8: "u8",
  u8f: "u8",
  i8: "i8",
  int8: "i8",
  i16: "i16",
  int16: "i16",
  i32: "i32",
  int: "i32",
  int32: "i32",
  i64: "i32",
  int64: "i32",
  u32: "i32",
  uint32: "i32",
  u64: "i32",
  uint64: "i32",
};

export function elementType(name: string): ElementType | null {
  return NAMES[name.toLowerCase()] ?? null;
}

/** What the array itself says about its elements. */
function typeOfData(data: TensorData): ElementType | null {
  switch (Object.prototype.toString.call(data)) {
    case "[object Float32Array]":
    case "[object Float64Array]":
      return "f32";
    case "[object Array]":
      return typeof (data as readonly unknown[])[0] === "string" ? null : "f32";
    case "[object Uint16Array]":
    case "[object Float16Array]":
      return "f16";
    case "[object Uint8Array]":
    case "[object Uint8ClampedArray]":
      return "u8";
    case "[object Int8Array]":
      return "i8";
    case "[object Int16Array]":
      return "i16";
    case "[object Int32Array]":
    case "[object Uint32Array]":
    case "[object BigInt64Array]":
    case "[object BigUint64Array]":
      return "i32";
  }
  return null;
}

export function volume(dims: readonly number[]): number {
  let n = 1;
  for (const d of dims) n *= d;
  return n;
}

/** Checks dims, type and scale; `data` is only looked at for its type and length. */
export function specOf(name: string, t: TensorSpecInput & { readonly data?: TensorData }): TensorSpec {
  const where = `tensor "${name}"`;
  if (t === null || typeof t !== "object")
    throw new TensorError(`${where}: got ${t === null ? "null" : typeof t}, expected {data, dims}`);
  const dims = t.dims;
  if (!Array.isArray(dims) || !dims.every((d) => Number.isSafeInteger(d) && d >= 0))
    throw new TensorError(`${where}: got dims ${show(dims)}, expected an array of whole numbers`);
  let type: ElementType | null = null;
  if (t.type !== undefined) {
    type = elementType(String(t.type));
    if (type === null)
      throw new TensorError(
        `${where}: got type "${String(t.type)}", expected one of f32 f16 u8 i8 i16 i32 (or f64, i64)`,
      );
  }
  if (t.data !== undefined) {
    const own = typeOfData(t.data);
    if (own === null)
      throw new TensorError(
        `${where}: got data of type ${Object.prototype.toString.call(t.data).slice(8, -1)}${Array.isArray(t.data) ? " with text in it" : ""}, expected a typed array`,
      );
    // 16-bit data is shared by f16, i16 and u16 files, so the stated type wins there
    const same =
      type === null ||
      type === own ||
      (type === "f16" && own === "i16") ||
      (type === "i16" && own === "f16") ||
      (type === "i8" && own === "u8");
    if (!same && !Array.isArray(t.data))
      throw new TensorError(
        `${where}: got ${Object.prototype.toString.call(t.data).slice(8, -1)} data, expected data for its type "${String(t.type)}"`,
      );
    type ??= own;
    const expected = volume(dims);
    if (t.data.length !== expected) {
      const detached = t.data.length === 0 && (t.data as Float32Array).buffer?.byteLength === 0;
      throw new TensorError(
        `${where}: got ${t.data.length} elements${detached ? " (its buffer is detached or empty)" : ""}, expected ${expected} for dims [${dims.join(",")}]`,
      );
    }
  }
  type ??= "f32";
  let scale: number | null = null;
  if (t.scale !== undefined && t.scale !== null) {
    if (!(typeof t.scale === "number" && t.scale > 0 && t.scale < Infinity))
      throw new TensorError(
        `${where}: got scale ${show(t.scale)}, expected a positive number (real = (raw - zeroPoint) * scale)`,
      );
    scale = t.scale;
  }
  const zeroPoint = t.zeroPoint ?? 0;
  if (typeof zeroPoint !== "number" || !Number.isFinite(zeroPoint))
    throw new TensorError(`${where}: got zeroPoint ${show(zeroPoint)}, expected a number`);
  if (type === "f32" || type === "f16") scale = 1;
  return {
    name,
    dims: [...dims],
    type,
    scale,
    zeroPoint: type === "f32" || type === "f16" ? 0 : zeroPoint,
    order: t.order ?? null,
  };
}

/** A value for a message: short, whatever it is. */
export function show(x: unknown, depth = 0): string {
  if (typeof x === "function") return "a function";
  if (depth > 3) return "...";
  if (typeof x === "string") return `"${x.length > 60 ? `${x.slice(0, 60)}...` : x}"`;
  if (Array.isArray(x))
    return `[${x
      .slice(0, 8)
      .map((v) => show(v, depth + 1))
      .join(",")}${x.length > 8 ? ",..." : ""}]`;
  return x === null || typeof x !== "object" ? String(x) : "an object";
}

export function shape(s: { readonly name: string; readonly dims: readonly number[] }): string {
  return `${s.name} [${s.dims.join(",")}]`;
}
