/** Reads a zip (.npz, or the metadata after a TFLite file) by the directory at its end, which states all sizes. */
import { crc32 } from "../../core/crc32.ts";
import { MAX_NAME, MAX_TEXT, refuseFile, textOf } from "./bytes.ts";
import { inflate } from "./inflate.ts";

/** Largest count of files in a zip of metadata. */
const MAX_FILES = 64;

const END = 0x06054b50;
const END_SIZE = 22;
/** Longest comment after the end record of a zip, in bytes. */
const MAX_COMMENT = 65535;
const CENTRAL = 0x02014b50;
const CENTRAL_SIZE = 46;
const LOCAL = 0x04034b50;
const LOCAL_SIZE = 30;
const STORED = 0;
const DEFLATED = 8;
/** Flag bit of an encrypted file. */
const ENCRYPTED = 1;
/** Value in place of a size or an address that only a zip64 record states. */
const IN_ZIP64 = 0xffffffff;

/** A file in a zip, as the directory at its end describes it. */
export interface ZipEntry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** Address of the file's local header. */
  readonly at: number;
}

/** Throws an error about a file of the zip, or about the whole zip if `file` is null. */
export type RefuseZip = (file: string | null, got: string, expected: string) => never;

/** The data of a file as stored in the zip. */
export interface ZipData {
  readonly bytes: Uint8Array;
  readonly isDeflated: boolean;
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns the address of the end record (22 bytes, followed by the comment), -1 if there is no zip. */
function findEnd(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const first = Math.max(0, bytes.length - END_SIZE - MAX_COMMENT);
  for (let at = bytes.length - END_SIZE; at >= first; at--)
    if (view.getUint32(at, true) === END && at + END_SIZE + view.getUint16(at + 20, true) === bytes.length)
      return at;
  return -1;
}

/** Returns the files of a zip at the end of `bytes`; null if there is no zip. */
export function readDirectory(bytes: Uint8Array, mostFiles: number, refuse: RefuseZip): ZipEntry[] | null {
  const end = findEnd(bytes);
  if (end < 0) return null;
  const view = viewOf(bytes);
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  const directoryOffset = view.getUint32(end + 16, true);
  if (count === 0xffff || size === IN_ZIP64 || directoryOffset === IN_ZIP64)
    refuse(null, "a zip64 archive", "a plain zip below 4 GiB");
  if (view.getUint16(end + 4, true) !== 0 || view.getUint16(end + 8, true) !== count)
    refuse(null, "a zip in several parts", "one file");
  if (count > mostFiles) refuse(null, `${count} files`, `at most ${mostFiles}`);
  const directory = end - size;
  if (directory < 0) refuse(null, `a directory of ${size} bytes before byte ${end}`, "one inside the file");
  // Addresses in the zip may count from its first byte, or from the first byte of a file before the zip.
  const shift = directory - directoryOffset;
  const entries: ZipEntry[] = [];
  for (let at = directory, i = 0; i < count; i++) {
    if (at + CENTRAL_SIZE > end || view.getUint32(at, true) !== CENTRAL)
      refuse(null, `no entry at byte ${at}`, `entry ${i} of ${count}`);
    const nameLength = view.getUint16(at + 28, true);
    const next =
      at + CENTRAL_SIZE + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (nameLength > MAX_NAME || next > end) refuse(null, `entry ${i} up to byte ${next}`, `at most ${end}`);
    entries.push({
      name: textOf(bytes, at + CENTRAL_SIZE, at + CENTRAL_SIZE + nameLength),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      at: shift + view.getUint32(at + 42, true),
    });
    at = next;
  }
  checkEntries(entries, bytes.length, refuse);
  return entries;
}

/** Throws if a name occurs twice or if files share bytes. Shared bytes would let a small zip unpack to terabytes. */
function checkEntries(entries: readonly ZipEntry[], length: number, refuse: RefuseZip): void {
  const names = new Set<string>();
  let packed = 0;
  for (const entry of entries) {
    if (names.has(entry.name)) refuse(null, `${entry.name} twice`, "each name once");
    names.add(entry.name);
    packed += entry.packed;
  }
  // Skip the error if a single entry is larger than the file: `dataOf` reports such an entry.
  const isLie = entries.some((entry) => entry.packed > length);
  if (packed > length && !isLie)
    refuse(null, `entries of ${packed} packed bytes together`, `at most the file's ${length}`);
}

/** Returns the data of a file, still packed. */
export function dataOf(bytes: Uint8Array, entry: ZipEntry, refuse: RefuseZip): ZipData {
  const { name, flags, method, at, packed, size } = entry;
  const view = viewOf(bytes);
  if (flags & ENCRYPTED) refuse(name, "an encrypted zip entry", "a plain one");
  if (packed === IN_ZIP64 || size === IN_ZIP64) refuse(name, "a zip64 entry", "one below 4 GiB");
  if (at < 0 || at + LOCAL_SIZE > bytes.length || view.getUint32(at, true) !== LOCAL)
    refuse(name, `no file at byte ${at}`, "its header");
  const start = at + LOCAL_SIZE + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (start + packed > bytes.length)
    refuse(name, `${packed} bytes at byte ${start}`, `at most ${bytes.length - start}: cut short`);
  if (method !== DEFLATED && method !== STORED)
    refuse(name, `compression method ${method}`, "stored or deflated");
  return { bytes: bytes.subarray(start, start + packed), isDeflated: method === DEFLATED };
}

const refuseZip: RefuseZip = (file, got, expected) =>
  refuseFile(file === null ? "zip" : `zip: ${file}`, got, expected);

/** Returns the files of a metadata zip at the end of `bytes`. None if there is no zip. Throws if it is damaged. */
export const zipEntries = (bytes: Uint8Array): ZipEntry[] => readDirectory(bytes, MAX_FILES, refuseZip) ?? [];

/** Returns the text of a file in a zip. Throws a ConfigError if too large, damaged or packed by another method. */
export async function zipText(bytes: Uint8Array, entry: ZipEntry): Promise<string> {
  const { name, crc, size } = entry;
  if (size > MAX_TEXT) refuseZip(name, `${size} bytes`, `at most ${MAX_TEXT}`);
  const data = dataOf(bytes, entry, refuseZip);
  if (data.isDeflated) return textOf(await inflate(`zip: ${name}`, data.bytes, crc, size), 0, size);
  if (crc32(data.bytes) !== crc) refuseZip(name, "a wrong checksum", "a whole file");
  return textOf(data.bytes, 0, data.bytes.length);
}
