/**
 * NumPy's .npz: a zip of .npy files, stored or deflated. Read from the central directory, as the format asks (the sizes in
 * the local headers that NumPy writes are placeholders). Nothing is inflated before its declared size has been accepted.
 */
import { inflateRawSync } from "node:zlib";
import { crc32 } from "../../core/crc32.ts";
import { TensorError } from "../../core/errors.ts";
import { checkBytes } from "./safetensors.ts";
import { parseNpy } from "./npy.ts";
import type { NamedTensor } from "./safetensors.ts";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const LARGEST = 2 ** 31 - 1;

export const isZip = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);

/**
 * The arrays of a NumPy `.npz` archive, named as in it. `where` is the file's name in messages.
 * @throws TensorError where the bytes are no such archive, with got and expected
 */
export function parseNpz(bytes: Uint8Array, where: string): NamedTensor[] {
  checkBytes(bytes, where);
  return unzip(bytes, where, (name) => name.endsWith(".npy")).map((e) =>
    parseNpy(e.bytes, e.name.slice(0, -4), `${where}: ${e.name}`),
  );
}

interface Entry {
  name: string;
  bytes: Uint8Array;
}

function unzip(bytes: Uint8Array, where: string, wanted: (name: string) => boolean): Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end < 0)
    throw new TensorError(
      `${where}: got a zip without its end record (cut short?), expected a whole .npz file`,
    );
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  let at = view.getUint32(end + 16, true);
  if (count === 0xffff || size === 0xffffffff || at === 0xffffffff)
    throw new TensorError(`${where}: got a zip64 archive, expected a plain zip below 4 GiB`);
  if (view.getUint16(end + 4, true) !== 0 || view.getUint16(end + 8, true) !== count)
    throw new TensorError(`${where}: got a zip in several parts, expected one file`);
  if (at + size > end)
    throw new TensorError(
      `${where}: got a zip directory of bytes ${at} to ${at + size}, expected it before byte ${end}`,
    );

  const out: Entry[] = [];
  const seen = new Set<string>();
  let packed = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== ENTRY)
      throw new TensorError(`${where}: got ${i} entries in the zip directory, expected ${count}`);
    const nameLength = view.getUint16(at + 28, true);
    const next = at + 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (next > end)
      throw new TensorError(
        `${where}: got a zip entry up to byte ${next}, expected the end record at ${end}`,
      );
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    if (seen.has(name)) throw new TensorError(`${where}: got ${name} twice, expected each name once`);
    seen.add(name);
    // Entries that share their bytes are how a small zip unpacks to terabytes.
    packed += view.getUint32(at + 20, true);
    if (packed > bytes.length)
      throw new TensorError(
        `${where}: got entries of ${packed} packed bytes together, expected at most the file's ${bytes.length}`,
      );
    if (wanted(name)) out.push({ name, bytes: content(bytes, view, at, `${where}: ${name}`) });
    at = next;
  }
  return out;
}

/** The end record stands last, before a comment of at most 65,535 bytes whose length it states. */
function findEnd(view: DataView): number {
  const last = view.byteLength - 22;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    if (view.getUint32(at, true) === END && at + 22 + view.getUint16(at + 20, true) === view.byteLength)
      return at;
  }
  return -1;
}

function content(bytes: Uint8Array, view: DataView, entry: number, where: string): Uint8Array {
  const flags = view.getUint16(entry + 8, true);
  const method = view.getUint16(entry + 10, true);
  const crc = view.getUint32(entry + 16, true);
  const packed = view.getUint32(entry + 20, true);
  const size = view.getUint32(entry + 24, true);
  const local = view.getUint32(entry + 42, true);
  if (flags & 1) throw new TensorError(`${where}: got an encrypted zip entry, expected a plain one`);
  if (packed === 0xffffffff || size === 0xffffffff || local === 0xffffffff)
    throw new TensorError(`${where}: got a zip64 entry, expected one below 4 GiB`);
  if (size > LARGEST)
    throw new TensorError(`${where}: got an entry of ${size} bytes, expected at most ${LARGEST}`);
  if (local + 30 > bytes.length || view.getUint32(local, true) !== LOCAL)
    throw new TensorError(`${where}: got no zip entry at byte ${local}, expected its local header`);
  const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  if (start + packed > bytes.length)
    throw new TensorError(`${where}: got ${bytes.length - start} bytes of zipped data, expected ${packed}`);
  const data = bytes.subarray(start, start + packed);
  const out = method === 0 ? data : method === 8 ? inflate(data, size, where) : null;
  if (!out) throw new TensorError(`${where}: got zip method ${method}, expected 0 (stored) or 8 (deflate)`);
  if (out.length !== size)
    throw new TensorError(`${where}: got ${out.length} bytes unzipped, expected ${size}`);
  const got = crc32(out);
  if (got !== crc)
    throw new TensorError(`${where}: got checksum ${hex(got)}, expected ${hex(crc)}: the file is damaged`);
  return out;
}

/** Deflate packs at most about 1032 to 1, so a size beyond that is a lie, found before anything is allocated. */
function inflate(data: Uint8Array, size: number, where: string): Uint8Array {
  if (size > data.length * 1032 + 64)
    throw new TensorError(
      `${where}: got a declared size of ${size}, expected at most ${data.length * 1032 + 64} from ${data.length} bytes of deflate`,
    );
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  } catch (e) {
    throw new TensorError(
      `${where}: got deflate data that does not unpack to the expected ${size} bytes: ${(e as Error).message}`,
    );
  }
}

const hex = (n: number) => n.toString(16).padStart(8, "0");
