/** Reads the config of an NN Archive. Unpacks the whole archive in chunks, so that its checksum is verified. */
import { refuseConfig } from "../../core/errors.ts";
import { showJson } from "../../core/json.ts";
import {
  type Packing,
  type Unxz,
  findConfig,
  packingOf as packingOfArchive,
} from "../../config/model/archive.ts";
import { gunzip, unpackChunks } from "../../config/model/inflate.ts";
import { checkBytes } from "./tensor.ts";
import { utf8 } from "./text.ts";

/** Largest allowed size of `config.json` in bytes. A larger file is refused before it is read. */
const LARGEST_CONFIG = 64 << 20;
const LIMITS = { config: LARGEST_CONFIG, name: LARGEST_CONFIG, files: Infinity };

export type { Packing };

/**
 * Returns how an archive is packed, given its first 512 bytes. Returns null if the bytes are not an archive.
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
  return packingOfArchive(bytes);
}

/**
 * Returns the text of the first `config.json` at the root of an NN Archive, or in a folder at the root. `.tar.xz` needs
 * the optional package `xz-decompress`.
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
  if (!packing) return refuseConfig(where, "bytes that are no archive", ".tar, .tar.gz or .tar.xz");
  const refuseIn = (file: string | null, got: string, expected: string): never =>
    refuseConfig(file === null ? where : `${where}: ${showJson(file)}`, got, expected);
  const config = await findConfig(bytes, unpack(bytes, packing, where), LIMITS, refuseIn);
  return utf8(config) ?? refuseConfig(where, "a config.json that is not UTF-8", "JSON");
}

async function* unpack(bytes: Uint8Array, packing: Packing, where: string): AsyncGenerator<Uint8Array> {
  if (packing === "tar") yield bytes;
  else yield* unpackChunks(where, [bytes], packing === "gz" ? gunzip : await unxzFor(where));
}

interface XzLibrary {
  XzReadableStream: new (stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
}

/** Returns the function that unpacks xz, from the optional package. */
async function unxzFor(where: string): Promise<Unxz> {
  let library: XzLibrary & { default?: XzLibrary };
  try {
    library = (await import("xz-decompress")) as unknown as XzLibrary & { default?: XzLibrary };
  } catch {
    return refuseConfig(
      where,
      "an xz archive",
      "the optional package that unpacks it: npm install xz-decompress",
    );
  }
  const { XzReadableStream } = library.XzReadableStream ? library : library.default!;
  return (packed) => new XzReadableStream(packed);
}
