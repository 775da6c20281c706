/** Reads the config of an NN Archive: a tar, plain or packed with gzip or xz, that holds `config.json`. */
import { MAX_NAME, MAX_TEXT, refuseFile } from "./bytes.ts";
import { ByteStream } from "./byte-stream.ts";
import { gunzip, unpackChunks } from "./inflate.ts";
import { BLOCK, hasChecksum, paxPath, readTarHeader, tarText } from "./tar.ts";

/** Function that unpacks xz. */
export type Unxz = (packed: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;

/**
 * An archive is refused if it unpacks to more than MOST_UNPACKED bytes plus MOST_RATIO times its size. Weights compress
 * to half their size at best, while a small forged file may unpack without end.
 */
const MOST_UNPACKED = 64 << 20;
const MOST_RATIO = 16;
/** Largest count of unpacked bytes, unless the packed file is larger. No network for a device is so large. */
const MOST_AT_ALL = 2 ** 31;

/** Returns how many bytes an archive of `packed` bytes may unpack to. */
const mostUnpacked = (packed: number): number =>
  Math.max(packed, Math.min(MOST_AT_ALL, MOST_UNPACKED + MOST_RATIO * packed));

const LIMITS = { config: MAX_TEXT, name: 2 * MAX_NAME, files: 256 };
/** Largest count of names that an error lists, and of letters in each name. */
const LISTED_NAMES = 8;
const LISTED_LETTERS = 60;

/** Compression of an NN Archive. */
export type Packing = "xz" | "gz" | "tar";

/** Returns the compression of an archive by its first 512 bytes, or null if the bytes are no archive. */
export function packingOf(bytes: Uint8Array): Packing | null {
  if (bytes[0] === 0xfd && tarText(bytes, 1, 5) === "7zXZ") return "xz";
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "gz";
  return bytes.length >= BLOCK && hasChecksum(bytes) ? "tar" : null;
}

/** Returns the parsed `config.json` of an NN Archive. Throws a ConfigError if the archive is damaged or lacks it. */
export async function readArchiveJson(
  bytes: Uint8Array,
  packing: Packing,
  unxz: Unxz | undefined,
): Promise<unknown> {
  const text = new TextDecoder().decode(
    await findConfig(bytes, unpack(bytes, packing, unxz), LIMITS, refuseIn),
  );
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (e) {
    return refuseFile("config.json", `text that is not JSON (${(e as Error).message})`, "JSON");
  }
}

const refuseIn: RefuseArchive = (file, got, expected) =>
  refuseFile(file === null ? "archive" : `archive: ${file.slice(0, LISTED_LETTERS)}`, got, expected);

async function* unpack(
  bytes: Uint8Array,
  packing: Packing,
  unxz: Unxz | undefined,
): AsyncGenerator<Uint8Array> {
  if (packing === "tar") yield bytes;
  else if (packing === "gz") yield* unpackChunks("archive", [bytes], gunzip);
  else if (unxz !== undefined) yield* unpackChunks("archive", [bytes], unxz);
  else
    refuseFile(
      "",
      "an archive packed with xz",
      "gzip or none, or the option unxz: (packed) => new XzReadableStream(packed), with the package xz-decompress",
    );
}

/** Limits of the search for `config.json`, in bytes. `files` is a count. */
interface ArchiveLimits {
  readonly config: number;
  /** Size of a tar header that holds a long file name. */
  readonly name: number;
  readonly files: number;
}

/** Throws an error about a file of the archive, or about the whole archive if `file` is null. */
export type RefuseArchive = (file: string | null, got: string, expected: string) => never;

/** Returns the `config.json` of an archive of these bytes, whose tar `unpacked` yields. */
export async function findConfig(
  bytes: Uint8Array,
  unpacked: AsyncGenerator<Uint8Array>,
  limits: ArchiveLimits,
  refuse: RefuseArchive,
): Promise<Uint8Array> {
  const stream = new ByteStream(unpacked);
  try {
    return await searchConfig(stream, { ...limits, unpacked: mostUnpacked(bytes.length) }, refuse);
  } finally {
    await stream.close();
  }
}

/** Returns the `config.json` of a tar. Reads to the end of the stream, where gzip and xz have checksums. */
async function searchConfig(
  stream: ByteStream,
  limits: ArchiveLimits & { readonly unpacked: number },
  refuse: RefuseArchive,
): Promise<Uint8Array> {
  const names: string[] = [];
  // Name of the next file, if a header of kind "L" or "x" came before its own header.
  let longName: string | null = null;
  for (let files = 0; ; files++) {
    const header = await stream.take(BLOCK);
    if (header.length === 0 || header.every((b) => b === 0)) break;
    if (header.length < BLOCK)
      refuse(null, `a tar header of ${header.length} bytes`, `${BLOCK}: the archive is cut short`);
    if (files === limits.files) refuse(null, `more than ${files} files without a config.json`, "fewer");
    if (!hasChecksum(header)) refuse(null, "a tar header with a wrong checksum", "a tar archive");
    const {
      size,
      kind,
      name: shortName,
    } = readTarHeader(header, (got, expected) => refuse(null, got, expected));
    const name: string = longName ?? shortName;
    if (stream.passed + size > limits.unpacked)
      refuse(name, `${size} bytes at ${stream.passed}`, `at most ${limits.unpacked} in all`);
    longName = null;
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    const isFile = kind === "0" || kind === "\0";
    if (kind === "L" || kind === "x") {
      const body = await takeBody(stream, size, limits.name, name, refuse);
      longName = kind === "L" ? tarText(body, 0, body.length) : paxPath(body);
      await stream.skip(padding);
    } else if (isFile && isConfig(name)) {
      const config = await takeBody(stream, size, limits.config, name, refuse);
      if (!(await stream.readToEnd(limits.unpacked)))
        refuse(null, `more than ${limits.unpacked} bytes unpacked`, "fewer");
      return config;
    } else {
      if (names.length < LISTED_NAMES) names.push(name.slice(0, LISTED_LETTERS));
      await stream.skip(size + padding);
    }
  }
  return refuse(null, `no config.json (${names.join(", ") || "the archive is empty"})`, "an NN Archive");
}

async function takeBody(
  stream: ByteStream,
  size: number,
  most: number,
  name: string,
  refuse: RefuseArchive,
): Promise<Uint8Array> {
  if (size > most) refuse(name, `${size} bytes`, `at most ${most}`);
  const body = await stream.take(size);
  if (body.length < size) refuse(name, `${body.length} bytes`, `${size}: the archive is cut short`);
  return body;
}

/** True for a config.json at the root or one folder down: an archive may contain the folder that was packed. */
const isConfig = (name: string): boolean => /^(\.\/)?([^/]+\/)?config\.json$/.test(name);
