/**
 * Reads NumPy's .npz: a zip of .npy files, stored or deflated. Sizes come from the central directory, since the local
 * headers that NumPy writes hold placeholders. An entry is inflated only after its declared size has been accepted.
 */
import { inflateRawSync } from "node:zlib";
import { crc32 } from "../../core/crc32.ts";
import { parseNpy } from "./npy.ts";
import { type NamedTensor, checkBytes, refusal } from "./tensor.ts";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
/** Bytes of the end record without its comment, of an entry and of a local header without their names. */
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/** Longest typed array of the smallest supported runtime, in bytes. */
const LARGEST = 2 ** 31 - 1;
/** Deflate packs at most 1032 to 1. A larger declared size is a lie. */
const DEFLATE_RATIO = 1032;

/** True if a file begins as a zip does: with a local header, or with the end record of an empty zip. */
export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5) && bytes.length >= 4;

/**
 * Returns the arrays of a `.npz` file, named as in the file. Other files in it are skipped.
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
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return entriesOf(bytes, view, where)
    .filter(({ name }) => name.endsWith(".npy"))
    .map((entry) => {
      const here = `${where}: ${entry.name}`;
      return parseNpy(contentOf(bytes, view, entry, here), entry.name.slice(0, -4), here);
    });
}

/** A file of the zip, as the central directory lists it. Sizes are in bytes. */
interface Entry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** Offset of the local header. */
  readonly local: number;
}

/** Reads the central directory. */
function entriesOf(bytes: Uint8Array, view: DataView, where: string): Entry[] {
  const { count, start, end } = readEnd(view, where);
  const out: Entry[] = [];
  const seen = new Set<string>();
  let packed = 0;
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > end || view.getUint32(at, true) !== ENTRY_SIGNATURE)
      throw refusal(where, `${i} entries in the zip directory`, String(count));
    const nameLength = view.getUint16(at + 28, true);
    const nameAt = at + ENTRY_BYTES;
    const next = nameAt + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (next > end) throw refusal(where, `a zip entry up to byte ${next}`, `the end record at ${end}`);
    const entry: Entry = {
      name: new TextDecoder().decode(bytes.subarray(nameAt, nameAt + nameLength)),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      local: view.getUint32(at + 42, true),
    };
    if (seen.has(entry.name)) throw refusal(where, `${entry.name} twice`, "each name once");
    seen.add(entry.name);
    // Add up the packed bytes: entries that share their bytes are how a small zip unpacks to terabytes.
    packed += entry.packed;
    if (packed > bytes.length)
      throw refusal(
        where,
        `entries of ${packed} packed bytes together`,
        `at most the file's ${bytes.length}`,
      );
    out.push(entry);
    at = next;
  }
  return out;
}

/** Reads the end record: number of entries, and offsets of the directory and of the record itself. */
function readEnd(view: DataView, where: string): { count: number; start: number; end: number } {
  const end = findEnd(view);
  if (end < 0)
    throw refusal(where, "a zip without its end record", "a whole .npz file: is the file cut short?");
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  const start = view.getUint32(end + 16, true);
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff)
    throw refusal(where, "a zip64 archive", "a plain zip below 4 GiB");
  if (view.getUint16(end + 4, true) !== 0 || view.getUint16(end + 8, true) !== count)
    throw refusal(where, "a zip in several parts", "one file");
  if (start + size > end)
    throw refusal(where, `a zip directory of bytes ${start} to ${start + size}`, `it before byte ${end}`);
  return { count, start, end };
}

/** Returns the offset of the end record, or -1. It stands last, before a comment of at most 65,535 bytes. */
function findEnd(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    const isEnd = view.getUint32(at, true) === END_SIGNATURE;
    if (isEnd && at + END_BYTES + view.getUint16(at + 20, true) === view.byteLength) return at;
  }
  return -1;
}

/** Returns the unpacked bytes of an entry. */
function contentOf(bytes: Uint8Array, view: DataView, entry: Entry, where: string): Uint8Array {
  const { flags, method, crc, packed, size, local } = entry;
  if (flags & 1) throw refusal(where, "an encrypted zip entry", "a plain one");
  if (packed === 0xffffffff || size === 0xffffffff || local === 0xffffffff)
    throw refusal(where, "a zip64 entry", "one below 4 GiB");
  if (size > LARGEST) throw refusal(where, `an entry of ${size} bytes`, `at most ${LARGEST}`);
  if (local + LOCAL_BYTES > bytes.length || view.getUint32(local, true) !== LOCAL_SIGNATURE)
    throw refusal(where, `no zip entry at byte ${local}`, "its local header");
  const start = local + LOCAL_BYTES + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  if (start + packed > bytes.length)
    throw refusal(where, `${bytes.length - start} bytes of zipped data`, String(packed));
  const data = bytes.subarray(start, start + packed);
  if (method !== 0 && method !== 8) throw refusal(where, `zip method ${method}`, "0 (stored) or 8 (deflate)");
  const out = method === 0 ? data : inflate(data, size, where);
  if (out.length !== size) throw refusal(where, `${out.length} bytes unzipped`, String(size));
  const actual = crc32(out);
  if (actual !== crc) throw refusal(where, `checksum ${hex(actual)}`, `${hex(crc)}: the file is damaged`);
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
