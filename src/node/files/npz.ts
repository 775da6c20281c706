/** Reads NumPy's .npz: a zip of .npy files. Checks the declared size of a file before inflating the file. */
import { inflateRawSync } from "node:zlib";
import { type RefuseZip, type ZipEntry, dataOf, readDirectory } from "../../config/model/zip.ts";
import { crc32 } from "../../core/crc32.ts";
import { parseNpy } from "./npy.ts";
import { LARGEST, type NamedTensor, checkBytes, refusal } from "./tensor.ts";

/** Largest possible compression ratio of deflate. A file that declares a larger size is forged. */
const DEFLATE_RATIO = 1032;

/** True if a file begins like a zip: with the header of a first file, or with the end record of an empty zip. */
export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5) && bytes.length >= 4;

/**
 * Returns the arrays of a `.npz` file, with the names in the file. Skips files of other types.
 * @param where name of the file in error messages
 * @throws TensorError if the bytes have another format, or are damaged
 * @example
 * import { readFileSync } from "node:fs";
 * import { parseNpz } from "boxwright/node";
 *
 * const tensors = parseNpz(readFileSync("test/fixtures/files/stored.npz"), "stored.npz");
 * console.log(tensors.map(({ name, type }) => `${name} ${type}`).join(", ")); // boxes f32, scores f16, ids i64
 */
export function parseNpz(bytes: Uint8Array, where: string): NamedTensor[] {
  checkBytes(bytes, where);
  const refuse = (file: string | null, got: string, expected: string): never => {
    throw refusal(file === null ? where : `${where}: ${file}`, got, expected);
  };
  const entries = readDirectory(bytes, Infinity, refuse);
  if (entries === null)
    return refuse(null, "a zip without its end record", "a whole .npz file: is the file cut short?");
  return entries
    .filter(({ name }) => name.endsWith(".npy"))
    .map((entry) => {
      const here = `${where}: ${entry.name}`;
      return parseNpy(contentOf(bytes, entry, here, refuse), entry.name.slice(0, -4), here);
    });
}

/** Returns the unpacked bytes of a file in the zip. */
function contentOf(bytes: Uint8Array, entry: ZipEntry, where: string, refuse: RefuseZip): Uint8Array {
  const { name, crc, size } = entry;
  const data = dataOf(bytes, entry, refuse);
  if (size > LARGEST) refuse(name, `an entry of ${size} bytes`, `at most ${LARGEST}`);
  const out = data.isDeflated ? inflate(data.bytes, size, where) : data.bytes;
  if (out.length !== size) refuse(name, `${out.length} bytes unzipped`, String(size));
  const actual = crc32(out);
  if (actual !== crc) refuse(name, `checksum ${hex(actual)}`, `${hex(crc)}: the file is damaged`);
  return out;
}

function inflate(data: Uint8Array, size: number, where: string): Uint8Array {
  const most = data.length * DEFLATE_RATIO + 64;
  if (size > most)
    throw refusal(
      where,
      `a declared size of ${size}`,
      `at most ${most} from ${data.length} bytes of deflate`,
    );
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  } catch (e) {
    throw refusal(where, `deflate data that do not unpack (${(e as Error).message})`, `${size} bytes`);
  }
}

const hex = (n: number): string => n.toString(16).padStart(8, "0");
