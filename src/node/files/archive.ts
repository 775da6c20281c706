/**
 * Reads the config of an NN Archive: a tar, plain or packed with gzip or xz, that holds `config.json` beside the
 * network. All is unpacked, chunk by chunk, so that the checksum at the end is verified.
 */
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ConfigError, mismatch } from "../../core/errors.ts";
import { showJson } from "../../core/json.ts";
import { findConfig, mostUnpacked } from "../../config/model/archive.ts";
import { ByteStream } from "../../config/model/byte-stream.ts";
import { BLOCK, hasChecksum, tarText } from "../../config/model/tar.ts";
import { checkBytes } from "./tensor.ts";
import { utf8 } from "./text.ts";

/** Largest `config.json` in bytes. A larger one is refused before it is collected. */
const LARGEST_CONFIG = 64 << 20;
const LIMITS = { config: LARGEST_CONFIG, name: LARGEST_CONFIG, files: Infinity };

/** How an NN Archive is packed: xz, gzip, or not at all. */
export type Packing = "xz" | "gz" | "tar";

/**
 * Returns how an archive is packed, by its first 512 bytes, or null if the bytes are no archive.
 * @throws TensorError if `bytes` are not bytes
 * @example
 * import { readFileSync } from "node:fs";
 * import { packingOf } from "boxwright/node";
 *
 * console.log(packingOf(readFileSync("test/fixtures/files/nnarchive.tar.xz"))); // xz
 * console.log(packingOf(Uint8Array.of(1, 2, 3))); // null
 */
export function packingOf(bytes: Uint8Array): Packing | null {
  checkBytes(bytes, "archive");
  if (bytes[0] === 0xfd && tarText(bytes, 1, 5) === "7zXZ") return "xz";
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "gz";
  return bytes.length >= BLOCK && hasChecksum(bytes) ? "tar" : null;
}

/**
 * Returns the text of the first `config.json` at the root of an NN Archive, or in a folder there.
 * `.tar.xz` needs the optional package `xz-decompress`.
 * @param where name of the file in error messages
 * @throws ConfigError if the bytes are no archive, are damaged, or hold no `config.json`
 * @example
 * import { readFileSync } from "node:fs";
 * import { readArchiveConfig } from "boxwright/node";
 *
 * const bytes = readFileSync("test/fixtures/files/nnarchive.tar.gz");
 * const config = JSON.parse(await readArchiveConfig(bytes, "nnarchive.tar.gz"));
 * console.log(config.model.metadata.name); // yolov8n
 */
export async function readArchiveConfig(bytes: Uint8Array, where: string): Promise<string> {
  const packing = packingOf(bytes);
  if (!packing) throw refusal(where, "bytes that are no archive", ".tar, .tar.gz or .tar.xz");
  const refuseIn = (file: string | null, got: string, expected: string): never => {
    throw refusal(file === null ? where : `${where}: ${showJson(file)}`, got, expected);
  };
  const stream = new ByteStream(unpack(bytes, packing, where));
  try {
    const limits = { ...LIMITS, unpacked: mostUnpacked(bytes.length) };
    const text = utf8(await findConfig(stream, limits, refuseIn));
    if (text === null) throw refusal(where, "a config.json that is not UTF-8", "JSON");
    return text;
  } finally {
    await stream.close();
  }
}

/** Returns the one kind of error of this file. The archive's name stands where a config's path would. */
const refusal = (where: string, got: string, expected: string): ConfigError =>
  new ConfigError([{ path: where, message: mismatch(got, expected) }]);

async function* unpack(bytes: Uint8Array, packing: Packing, where: string): AsyncGenerator<Uint8Array> {
  if (packing === "tar") return yield bytes;
  const chunks = packing === "gz" ? Readable.from([bytes]).pipe(createGunzip()) : await unxz(bytes, where);
  try {
    for await (const chunk of chunks) yield chunk as Uint8Array;
  } catch (e) {
    throw refusal(where, `damaged ${packing} data`, `a whole archive: ${(e as Error).message ?? e}`);
  }
}

interface XzLibrary {
  XzReadableStream: new (stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
}

async function unxz(bytes: Uint8Array, where: string): Promise<AsyncIterable<Uint8Array>> {
  let library: XzLibrary & { default?: XzLibrary };
  try {
    library = (await import("xz-decompress")) as unknown as XzLibrary & { default?: XzLibrary };
  } catch {
    throw refusal(where, "an xz archive", "the optional package that unpacks it: npm install xz-decompress");
  }
  const packed = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return chunksOf(new (library.XzReadableStream ?? library.default!.XzReadableStream)(packed));
}

/**
 * Yields the chunks of a stream, and cancels the stream at the end in any case: the library shares one decoder among
 * its streams, and passes it on only then. cancel() throws if the stream has been read ahead to its end, which is no
 * error of the archive.
 */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
