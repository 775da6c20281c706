/** Reads the small texts in a zip that stands behind another file, as metadata behind a TFLite file do. */
import { crc32 } from "../../core/crc32.ts";
import { MAX_NAME, MAX_TEXT, refuseFile, textOf } from "./bytes.ts";
import { inflate } from "./inflate.ts";

/** Most files of one zip. */
const MAX_FILES = 64;

const END = 0x06054b50;
const END_SIZE = 22;
/** The end may be followed by a comment. */
const MAX_COMMENT = 65535;
const CENTRAL = 0x02014b50;
const CENTRAL_SIZE = 46;
const LOCAL = 0x04034b50;
const LOCAL_SIZE = 30;
const STORED = 0;
const DEFLATED = 8;

/** A file in a zip, as the directory at its end describes it. */
export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  /** Bytes in the zip. */
  readonly packed: number;
  /** Bytes unpacked. */
  readonly size: number;
  /** Address of the file's own header. */
  readonly at: number;
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns the address of the last 22 bytes of a zip before its comment, -1 if there is no zip. */
function findEnd(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const first = Math.max(0, bytes.length - END_SIZE - MAX_COMMENT);
  for (let at = bytes.length - END_SIZE; at >= first; at--)
    if (view.getUint32(at, true) === END && at + END_SIZE + view.getUint16(at + 20, true) === bytes.length)
      return at;
  return -1;
}

/**
 * Returns the files of a zip at the end of `bytes`, none if there is no zip.
 * @throws ConfigError if its directory is damaged
 */
export function zipEntries(bytes: Uint8Array): ZipEntry[] {
  const end = findEnd(bytes);
  if (end < 0) return [];
  const view = viewOf(bytes);
  const count = view.getUint16(end + 10, true);
  if (count > MAX_FILES) refuseFile("zip", `${count} files`, `at most ${MAX_FILES}`);
  const size = view.getUint32(end + 12, true);
  const directory = end - size;
  if (directory < 0)
    refuseFile("zip", `a directory of ${size} bytes before byte ${end}`, "one inside the file");
  // Addresses count from the zip's own start, or from that of the file before it.
  const shift = directory - view.getUint32(end + 16, true);
  const entries: ZipEntry[] = [];
  for (let at = directory, i = 0; i < count; i++) {
    if (at + CENTRAL_SIZE > end || view.getUint32(at, true) !== CENTRAL)
      refuseFile("zip", `no entry at byte ${at}`, `entry ${i} of ${count}`);
    const nameLength = view.getUint16(at + 28, true);
    const next =
      at + CENTRAL_SIZE + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (nameLength > MAX_NAME || next > end)
      refuseFile("zip", `entry ${i} up to byte ${next}`, `at most ${end}`);
    entries.push({
      name: textOf(bytes, at + CENTRAL_SIZE, at + CENTRAL_SIZE + nameLength),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      at: shift + view.getUint32(at + 42, true),
    });
    at = next;
  }
  return entries;
}

/**
 * Returns the text of a file in a zip.
 * @throws ConfigError if it is too large, damaged, or packed in a way that is not read
 */
export async function zipText(bytes: Uint8Array, entry: ZipEntry): Promise<string> {
  const { name, method, at, packed, size } = entry;
  const where = `zip: ${name}`;
  if (size > MAX_TEXT) refuseFile(where, `${size} bytes`, `at most ${MAX_TEXT}`);
  const view = viewOf(bytes);
  if (at < 0 || at + LOCAL_SIZE > bytes.length || view.getUint32(at, true) !== LOCAL)
    refuseFile(where, `no file at byte ${at}`, "its header");
  const start = at + LOCAL_SIZE + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (start + packed > bytes.length)
    refuseFile(where, `${packed} bytes at byte ${start}`, `at most ${bytes.length - start}: cut short`);
  const data = bytes.subarray(start, start + packed);
  if (method === DEFLATED) return textOf(await inflate(where, data, entry.crc, size), 0, size);
  if (method !== STORED) refuseFile(where, `compression method ${method}`, "stored or deflated");
  if (crc32(data) !== entry.crc) refuseFile(where, "a wrong checksum", "a whole file");
  return textOf(data, 0, packed);
}
