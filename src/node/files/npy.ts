/**
 * Reads NumPy's .npy, versions 1 to 3: `\x93NUMPY`, version, length of the header, and a Python dict with three keys.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
import { showJson } from "../../core/json.ts";
import {
  type FileElementType,
  type NamedTensor,
  type FileTensorData,
  bytesPerElement,
  checkBytes,
  checkName,
  elementCount,
  refusal,
  typedData,
} from "./tensor.ts";

/** Element types by NumPy's names, without the byte order. */
const DTYPES: Record<string, FileElementType> = {
  f4: "f32",
  f2: "f16",
  f8: "f64",
  u1: "u8",
  i1: "i8",
  u2: "u16",
  i2: "i16",
  u4: "u32",
  i4: "i32",
  i8: "i64",
};

/** Largest allowed length of a header in bytes. NumPy's are below 64 KiB, and patterns are slow on long headers. */
const LONGEST_HEADER = 1 << 20;

/** True if a file begins with `\x93NUMPY`. */
export const isNpy = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x93 && "NUMPY".split("").every((c, i) => bytes[i + 1] === c.charCodeAt(0));

/**
 * Returns the tensor in a `.npy` file. Converts Fortran order to C order, and big-endian data to little-endian.
 * @param bytes the whole file. The tensor's data may be a view of it
 * @param name name of the tensor
 * @param where name of the file in error messages
 * @throws TensorError if the bytes have another format, are damaged, or hold an element type that tensors do not have
 * @example
 * import { readFileSync } from "node:fs";
 * import { parseNpy } from "boxwright/node";
 *
 * const tensor = parseNpy(readFileSync("test/fixtures/files/fortran.npy"), "scores");
 * console.log(tensor.name, tensor.dims.join("x"), tensor.data[1]); // scores 2x3x4 0.125
 */
export function parseNpy(bytes: Uint8Array, name: string, where = name): NamedTensor {
  checkName(name, "tensor");
  const { header, data } = splitFile(bytes, where);
  const descr = field(header, "descr", /'([^']*)'|"([^"]*)"/, where);
  const isFortran = field(header, "fortran_order", /(True|False)/, where) === "True";
  const shape = field(header, "shape", /\(([\d\s,L-]*)\)/, where);

  const type = typeOf(descr, where);
  const dims = sizesOf(shape);
  const size = bytesPerElement(type);
  const expected = elementCount(dims, where) * size;
  if (data.length !== expected)
    throw refusal(where, `${data.length} bytes of data`, `${expected} (${type}[${dims.join()}])`);
  const values = typedData(type, descr[0] === ">" && size > 1 ? swapBytes(data, size) : data);
  return { name, data: isFortran ? toRowMajor(values, dims) : values, dims, type };
}

function splitFile(bytes: Uint8Array, where: string): { header: string; data: Uint8Array } {
  checkBytes(bytes, where);
  if (!isNpy(bytes)) throw refusal(where, "a file that begins otherwise", "\\x93NUMPY, as a .npy file");
  const version = bytes[6];
  const isWide = version >= 2;
  const start = isWide ? 12 : 10;
  if (bytes.length < start) throw refusal(where, `${bytes.length} bytes`, `at least ${start} of a .npy file`);
  if (version < 1 || version > 3) throw refusal(where, `.npy version ${version}`, "1, 2 or 3");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = isWide ? view.getUint32(8, true) : view.getUint16(8, true);
  const room = Math.min(bytes.length - start, LONGEST_HEADER);
  if (length > room) throw refusal(where, `a header of ${length} bytes`, `at most ${room}`);
  const header = new TextDecoder("latin1").decode(bytes.subarray(start, start + length)).trim();
  return { header, data: bytes.subarray(start + length) };
}

/** Returns the value of a key in the header. `value` matches every value that NumPy writes for the key. */
function field(header: string, key: string, value: RegExp, where: string): string {
  const match = new RegExp(`['"]${key}['"]\\s*:\\s*(?:${value.source})\\s*[,}]`).exec(header);
  if (!match || !header.startsWith("{"))
    throw refusal(
      where,
      `header ${showJson(header)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 84, 8400)}: no usable '${key}'`,
    );
  return match[1] ?? match[2];
}

/** Returns the element type of a `descr`, for example "<f4". */
function typeOf(descr: string, where: string): FileElementType {
  const name = descr.slice(1);
  if (!Object.hasOwn(DTYPES, name) || !/^[<>|=]/.test(descr))
    throw refusal(
      where,
      `dtype ${showJson(descr)}`,
      `one of ${Object.keys(DTYPES).join(" ")}, for example "<f4"`,
    );
  return DTYPES[name];
}

/** Returns the sizes in the text of a tuple without its parentheses. Also accepts Python 2's `2L`. */
const sizesOf = (tuple: string): number[] =>
  tuple
    .split(",")
    .map((size) => size.trim().replace(/L$/, ""))
    .filter((size) => size !== "")
    .map(Number);

function swapBytes(data: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(data.length);
  for (let i = 0; i < data.length; i++) {
    const within = i % size;
    out[i] = data[i - within + size - 1 - within];
  }
  return out;
}

/** Returns column-major elements in row-major order. Writes the output in sequence, and reads the input by strides. */
function toRowMajor<T extends FileTensorData>(values: T, dims: readonly number[]): T {
  const out = values.slice() as T;
  const strides: number[] = [];
  let step = 1;
  for (const d of dims) {
    strides.push(step);
    step *= d;
  }
  const index = dims.map(() => 0);
  let from = 0;
  for (let i = 0; i < out.length; i++) {
    out[i] = values[from];
    for (let k = dims.length - 1; k >= 0; k--) {
      from += strides[k];
      if (++index[k] < dims[k]) break;
      from -= strides[k] * dims[k];
      index[k] = 0;
    }
  }
  return out;
}
