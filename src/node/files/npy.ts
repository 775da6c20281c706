/**
 * NumPy's .npy, versions 1 to 3: `\x93NUMPY`, version, length of the header, and a Python dict literal with three keys.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
import { TensorError } from "../../core/errors.ts";
import {
  bytesPerElement,
  checkBytes,
  elementCount,
  typedData,
  type ElementType,
  type NamedTensor,
} from "./safetensors.ts";
import { showJson } from "../../core/json.ts";

const DTYPES: Record<string, ElementType> = {
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

/** NumPy writes headers below 64 KiB; more is not a header, and the patterns below need not look at it. */
const LONGEST_HEADER = 1 << 20;

export function isNpy(bytes: Uint8Array): boolean {
  return (
    bytes.length >= 6 &&
    bytes[0] === 0x93 &&
    "NUMPY".split("").every((c, i) => bytes[i + 1] === c.charCodeAt(0))
  );
}

/**
 * One tensor. Fortran order becomes C order, big-endian becomes little-endian; the data may be a view on `bytes`. `where` is the file's
 * name in messages, since a tensor's name does not say which of several files is meant.
 * @throws TensorError where the bytes are no such file, or of a type that no tensor has, with got and expected
 */
export function parseNpy(bytes: Uint8Array, name: string, where = name): NamedTensor {
  checkBytes(bytes, where);
  if (!isNpy(bytes))
    throw new TensorError(`${where}: got no NumPy file (its first bytes differ), expected \\x93NUMPY`);
  const version = bytes[6];
  const wide = version >= 2;
  const start = wide ? 12 : 10;
  if (bytes.length < start)
    throw new TensorError(`${where}: got ${bytes.length} bytes, expected at least ${start} of a .npy file`);
  if (version < 1 || version > 3)
    throw new TensorError(`${where}: got .npy version ${version}, expected 1, 2 or 3`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const room = Math.min(bytes.length - start, LONGEST_HEADER);
  if (length > room)
    throw new TensorError(`${where}: got a header of ${length} bytes, expected at most ${room}`);

  const header = new TextDecoder("latin1").decode(bytes.subarray(start, start + length)).trim();
  const descr = field(header, "descr", /'([^']*)'|"([^"]*)"/, where);
  const fortran = field(header, "fortran_order", /(True|False)/, where) === "True";
  const shape = field(header, "shape", /\(([\d\s,L-]*)\)/, where);

  const type = Object.hasOwn(DTYPES, descr.slice(1)) ? DTYPES[descr.slice(1)] : undefined;
  if (type === undefined || !/^[<>|=]/.test(descr))
    throw new TensorError(
      `${where}: got dtype ${showJson(descr)}, expected one of ${Object.keys(DTYPES).join(" ")}, for instance "<f4"`,
    );
  const dims = shape
    .split(",")
    .map((s) => s.trim().replace(/L$/, ""))
    .filter((s) => s !== "")
    .map(Number);
  const count = elementCount(dims, where);
  const size = bytesPerElement(type);
  const data = bytes.subarray(start + length);
  if (data.length !== count * size)
    throw new TensorError(
      `${where}: got ${data.length} bytes of data, expected ${count * size} (${type}[${dims}])`,
    );

  const little = descr[0] === ">" && size > 1 ? swapped(data, size) : data;
  const values = typedData(type, little);
  return { name, data: fortran ? toRowMajor(values, dims) : values, dims, type };
}

/** The value of one key. NumPy itself evaluates the literal; three patterns are enough for all that it writes. */
function field(header: string, key: string, value: RegExp, where: string): string {
  const found = new RegExp(`['"]${key}['"]\\s*:\\s*(?:${value.source})\\s*[,}]`).exec(header);
  if (!found || !header.startsWith("{"))
    throw new TensorError(
      `${where}: got header ${showJson(header)}, expected {'descr': '<f4', 'fortran_order': False, 'shape': (1, 84, 8400)}: no usable '${key}'`,
    );
  return found[1] ?? found[2];
}

function swapped(data: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(data.length);
  for (let i = 0; i < data.length; i++) out[i] = data[i - (i % size) + size - 1 - (i % size)];
  return out;
}

/** Column-major values in row-major order: walks the output and keeps the input index up by strides. */
function toRowMajor<T extends NamedTensor["data"]>(values: T, dims: readonly number[]): T {
  const out = values.slice() as T;
  const strides: number[] = [];
  let step = 1;
  for (const d of dims) {
    strides.push(step);
    step *= d;
  }
  const at = dims.map(() => 0);
  let from = 0;
  for (let i = 0; i < out.length; i++) {
    out[i] = values[from];
    for (let k = dims.length - 1; k >= 0; k--) {
      from += strides[k];
      if (++at[k] < dims[k]) break;
      from -= strides[k] * dims[k];
      at[k] = 0;
    }
  }
  return out;
}
