/** Tensors as runtimes hand them over, and what is known of them before any data: name, dims, type. */
import { TYPE_F16, TYPE_F32, TYPE_I16, TYPE_I32, TYPE_I8, TYPE_U8 } from "./abi.ts";
import { refuse } from "./errors.ts";

/** Element types of the kernel. */
export type ElementType = "f32" | "f16" | "u8" | "i8" | "i16" | "i32";

/** A tensor's place in memory, in the array type of its elements: f16 as bits. */
export type SlotArray = Float32Array | Uint16Array | Uint8Array | Int8Array | Int16Array | Int32Array;

interface Element {
  readonly code: number;
  readonly bytes: number;
  readonly array: new (buffer: ArrayBuffer, at: number, length: number) => SlotArray;
  /** Keys of the smallest and the largest element, see `gates.ts`. */
  readonly low: number;
  readonly high: number;
  /**
   * Spellings, the names of arrays among them; f64 and 64-bit integers are narrowed on the way into the slot. Readers of files, which do not
   * narrow, look here too: a name such as "f64" begins those of its type.
   */
  readonly names: string;
}

export const ELEMENTS: { readonly [T in ElementType]: Element } = {
  f32: {
    code: TYPE_F32,
    bytes: 4,
    array: Float32Array,
    // sign-fixed order of the bits, the lowest number to the largest: -Infinity, as masked logits are, passes no gate
    low: -0x7f800000,
    high: 0x7f7fffff,
    names: "f32 fp32 float float32 f64 fp64 float64 double",
  },
  f16: {
    code: TYPE_F16,
    bytes: 2,
    array: Uint16Array,
    // the same of half floats, to +Infinity
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
    // one short of the end, so that "nothing passes" still fits an i32
    high: 2147483646,
    names: "i32 int int32 i64 int64 bigint64 u32 uint32 u64 uint64 biguint64",
  },
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
  /** In an array of outputs, what it is called; in a record the key says that. */
  readonly name?: string;
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

/** The words for an order, in the numbering of plan files. */
export const ORDERS = ["nchw", "nhwc", "chw", "hwc", "rows", "planes"];
export const TYPES = /* @__PURE__ */ Object.keys(ELEMENTS) as ElementType[];

export function elementType(name: string): ElementType | null {
  const spelled = name.toLowerCase();
  return TYPES.find((t) => ELEMENTS[t].names.split(" ").includes(spelled)) ?? null;
}

/** Numbers as they are, not quantised. */
export const isFloat = (s: { readonly type: string }): boolean => s.type === "f32" || s.type === "f16";

/** Bytes as they are: a Uint8Array or its kin, a Buffer among them. */
export const isBytes = (x: unknown): x is Uint8Array =>
  ArrayBuffer.isView(x) && (x as Uint8Array).BYTES_PER_ELEMENT === 1;

/** `Float32Array`, `Array`, ... */
export const kindOf = (data: unknown): string => Object.prototype.toString.call(data).slice(8, -1);

/** What the array itself says about its elements. */
function typeOfData(data: TensorData): ElementType | null {
  if (Array.isArray(data)) return /string|bigint/.test(typeof data[0]) ? null : "f32";
  const [, kind = ""] = /^(.*)Array$/.exec(kindOf(data)) ?? [];
  return kind === "Uint16" ? "f16" : elementType(kind);
}

export function volume(dims: readonly number[]): number {
  let n = 1;
  // asked of every frame: over a frozen array V8 makes an iterator, and a result for each step
  for (let i = 0; i < dims.length; i++) n *= dims[i];
  return n;
}

/** A scale as it was given; runtimes say 0 of what is not quantised, labels and counts among them. */
export const scaleOf = (given: number | null | undefined): number | null =>
  given === undefined || given === 0 ? null : given;

/**
 * Checks dims, type and scale; `data` is only looked at for its type and length. `before`: what was known of a tensor that
 * comes with its data now. In plain JavaScript, null says as little as undefined.
 */
export function specOf(
  name: string,
  t: TensorSpecInput & { readonly data?: TensorData },
  before?: Partial<Pick<TensorSpec, "order" | "scale" | "zeroPoint">> & { readonly type?: string | null },
): TensorSpec {
  const where = `tensor "${name}"`;
  if (t === null || typeof t !== "object" || ArrayBuffer.isView(t)) refuse(where, show(t), "{data, dims}");
  const { dims, data } = t;
  if (before !== undefined && (data === null || typeof data !== "object"))
    refuse(where, `data ${show(data)}`, "a typed array");
  const said = t.type ?? null;
  const zeroPoint = t.zeroPoint ?? before?.zeroPoint ?? 0;
  if (!Array.isArray(dims) || !dims.every((d) => Number.isSafeInteger(d) && d >= 0))
    refuse(where, `dims ${show(dims)}${"shape" in t ? ", and a shape" : ""}`, "an array of whole numbers");
  // of null as of undefined nothing is lost
  const odd = Object.entries(t).find(
    ([k, x]) =>
      /^(zero_?points?|quant.*|dtype|scales)$/i.test(k) && k !== "zeroPoint" && (x ?? null) !== null,
  );
  if (odd) refuse(where, `an unknown name, ${odd[0]}`, "type, scale, zeroPoint");
  const stated = said === null ? null : elementType(String(said));
  if (said !== null && stated === null)
    refuse(where, `type "${String(said)}"`, "one of f32 f16 u8 i8 i16 i32 (or f64, i64)");
  let type = stated ?? "f32";
  if (data !== undefined) {
    const own = typeOfData(data);
    const kind = kindOf(data);
    if (own === null)
      return refuse(
        where,
        `data of type ${kind}${Array.isArray(data) ? ` of ${typeof data[0]}s` : ""}`,
        "a typed array",
      );
    // 16-bit data is shared by f16, i16 and u16 files, and bytes are bytes, so the stated type wins there
    const shares = (t: ElementType): boolean => ["f16 i16", "i16 f16", "i8 u8"].includes(`${t} ${own}`);
    const hint = said === null && before?.type ? elementType(before.type) : null;
    type = stated ?? (hint && shares(hint) ? hint : own);
    if (Array.isArray(data) ? type === "f16" : type !== own && !shares(type))
      refuse(where, `${kind} data`, `${ELEMENTS[type].array.name} data for its type "${String(said)}"`);
    const { length } = data;
    if (length !== volume(dims))
      refuse(
        where,
        `${length} elements${length === 0 && (data as Float32Array).buffer?.byteLength === 0 ? " (its buffer is detached or empty)" : ""}`,
        `${volume(dims)} for dims [${dims.join(",")}]${own === "u8" && length === 4 * volume(dims) ? "; bytes of floats are new Float32Array(data.buffer, data.byteOffset, data.length / 4)" : ""}`,
      );
  }
  const float = isFloat({ type });
  const scale = scaleOf(t.scale) ?? scaleOf(before?.scale);
  if (scale !== null && !(typeof scale === "number" && scale > 0 && scale < Infinity))
    refuse(where, `scale ${show(scale)}`, "a positive number (real = (raw - zeroPoint) * scale)");
  if (!Number.isFinite(zeroPoint)) refuse(where, `zeroPoint ${show(zeroPoint)}`, "a number");
  if (float && ((scale ?? 1) !== 1 || zeroPoint !== 0))
    refuse(
      where,
      `${type} data with scale ${scale} and zeroPoint ${zeroPoint}`,
      "neither: they are of integers",
    );
  const order = t.order ?? before?.order ?? null;
  if (order !== null && !ORDERS.includes(String(order).toLowerCase()))
    refuse(where, `order ${show(order)}`, "NCHW, NHWC, CHW, HWC, rows or planes");
  return {
    name,
    dims: [...dims],
    type,
    scale: float ? 1 : scale,
    zeroPoint: float ? 0 : zeroPoint,
    order,
  };
}

/** A value for a message: short, whatever it is. */
export function show(x: unknown, depth = 0): string {
  if (typeof x === "function") return "a function";
  if (typeof x === "bigint") return `${x}n`;
  if (depth > 3) return "...";
  if (ArrayBuffer.isView(x))
    return `${kindOf(x)} ${show(Array.from((x as Uint8Array).subarray?.(0, 9) ?? []))}`;
  if (typeof x === "string") return `"${x.length > 60 ? `${x.slice(0, 60)}...` : x}"`;
  if (Array.isArray(x))
    return `[${x
      .slice(0, 8)
      .map((v) => show(v, depth + 1))
      .join(",")}${x.length > 8 ? ",..." : ""}]`;
  if (x === null || typeof x !== "object") return String(x);
  const kind = kindOf(x);
  return kind === "Object" ? "an object" : `a ${kind}`;
}

/** The first few of a list, for a message. */
export const few = (all: readonly string[], n: number): string =>
  all.slice(0, n).join(", ") + (all.length > n ? ", ..." : "");

export function shape(s: { readonly name: string; readonly dims: readonly number[] }): string {
  return `${s.name} [${s.dims.join(",")}]`;
}

/** Roles, records and slots go by name: of two tensors of one name the second would be lost. */
export function checkNames(specs: readonly TensorSpec[]): void {
  const again = specs.find((s, i) => specs.findIndex(({ name }) => name === s.name) < i);
  if (again) refuse(`tensor "${again.name}"`, `it twice among ${list(specs)}`, "each name once");
}

/** The same of several, for a message. */
export const list = (specs: readonly TensorSpec[]): string => specs.map(shape).join(", ");
