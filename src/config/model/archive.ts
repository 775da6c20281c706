/**
 * Reads the config of an NN Archive: a tar, plain or packed with gzip or xz, that holds `config.json` beside the
 * network.
 */
import { MAX_NAME, MAX_TEXT, refuseFile } from "./bytes.ts";
import { ByteStream } from "./byte-stream.ts";
import { gunzip, unpackChunks } from "./inflate.ts";
import { BLOCK, hasChecksum, paxPath, readTarHeader, tarText } from "./tar.ts";

/** Unpacks xz. */
export type Unxz = (packed: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;

/**
 * Bytes that are unpacked in search of `config.json`: so many, and as many times the archive. A small file may unpack
 * without end.
 */
const MOST_UNPACKED = 64 << 20;
const MOST_RATIO = 16;
/** Most files and names of files. Archives have a handful. */
const MOST_HEADERS = 256;
/** Longest header that holds a file's name, in bytes. */
const LONGEST_NAME = 2 * MAX_NAME;
/** Most names that an error message lists, and letters of each. */
const LISTED_NAMES = 8;
const LISTED_LETTERS = 60;

/** How an archive is packed. */
type Packing = "xz" | "gzip" | "tar";

/** Returns how an archive is packed, by its first 512 bytes, or null if the bytes are no archive. */
export function packingOf(bytes: Uint8Array): Packing | null {
  if (bytes[0] === 0xfd && tarText(bytes, 1, 5) === "7zXZ") return "xz";
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "gzip";
  return bytes.length >= BLOCK && hasChecksum(bytes) ? "tar" : null;
}

/**
 * Returns the `config.json` of an NN Archive as parsed JSON.
 * @throws ConfigError if the archive is damaged, or holds no `config.json`
 */
export async function readArchiveJson(
  bytes: Uint8Array,
  packing: Packing,
  unxz: Unxz | undefined,
): Promise<unknown> {
  const stream = new ByteStream(unpack(bytes, packing, unxz));
  try {
    const most = MOST_UNPACKED + MOST_RATIO * bytes.length;
    const text = new TextDecoder().decode(await findConfig(stream, most));
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (e) {
    if (e instanceof SyntaxError)
      return refuseFile("config.json", `text that is not JSON (${e.message})`, "JSON");
    throw e;
  } finally {
    await stream.close();
  }
}

async function* unpack(
  bytes: Uint8Array,
  packing: Packing,
  unxz: Unxz | undefined,
): AsyncGenerator<Uint8Array> {
  if (packing === "tar") yield bytes;
  else if (packing === "gzip") yield* unpackChunks("archive", [bytes], gunzip);
  else if (unxz !== undefined) yield* unpackChunks("archive", [bytes], unxz);
  else
    refuseFile(
      "",
      "an archive packed with xz",
      "gzip or none, or the option unxz: (packed) => new XzReadableStream(packed), with the package xz-decompress",
    );
}

/** Walks the files of a tar, and returns the contents of the first `config.json`. */
async function findConfig(stream: ByteStream, most: number): Promise<Uint8Array> {
  const names: string[] = [];
  // Name that a "L" or "x" header gives to the next file.
  let longName: string | null = null;
  for (let headers = 0; ; headers++) {
    const header = await stream.take(BLOCK);
    if (header.length === 0 || header.every((b) => b === 0)) break;
    if (header.length < BLOCK)
      refuseFile("archive", `a tar header of ${header.length} bytes`, `${BLOCK}: cut short`);
    if (headers === MOST_HEADERS)
      refuseFile("archive", `more than ${MOST_HEADERS} files without a config.json`, "fewer");
    if (!hasChecksum(header)) refuseFile("archive", "a tar header with a wrong checksum", "a tar archive");
    const {
      size,
      kind,
      name: shortName,
    } = readTarHeader(header, (got, expected) => refuseFile("archive", got, expected));
    const name: string = longName ?? shortName;
    if (stream.passed + size > most)
      refuseFile(
        "archive",
        `${size} bytes at byte ${stream.passed} without a config.json so far`,
        `at most ${most} bytes`,
      );
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    longName = null;
    if (kind === "L" || kind === "x") {
      const body = await takeBody(stream, size, LONGEST_NAME);
      longName = kind === "L" ? tarText(body, 0, body.length) : paxPath(body);
      await stream.skip(padding);
    } else if ((kind === "0" || kind === "\0") && isConfig(name)) return takeBody(stream, size, MAX_TEXT);
    else {
      if (names.length < LISTED_NAMES) names.push(name.slice(0, LISTED_LETTERS));
      await stream.skip(size + padding);
    }
  }
  return refuseFile(
    "archive",
    `no config.json (${names.join(", ") || "the archive is empty"})`,
    "an NN Archive",
  );
}

async function takeBody(stream: ByteStream, size: number, most: number): Promise<Uint8Array> {
  if (size > most) refuseFile("archive", `a text of ${size} bytes`, `at most ${most}`);
  const body = await stream.take(size);
  if (body.length < size)
    refuseFile("archive", `${body.length} bytes of ${size}`, "all: the archive is cut short");
  return body;
}

/** True at the root or in one folder: archives that were packed from outside carry the name of their folder. */
const isConfig = (name: string): boolean => /^(\.\/)?([^/]+\/)?config\.json$/.test(name);
