/**
 * NN Archive: a tar, plain or packed with gzip or xz, that holds `config.json` beside the network. Only that one file is
 * read; unpacking stops when it is found, so an archive of hundreds of megabytes costs what stands before it.
 */
import { createGunzip } from "node:zlib";
import { Readable } from "node:stream";
import { ConfigError } from "../../core/errors.ts";
import { checkBytes } from "./safetensors.ts";
import { showJson } from "../../core/json.ts";
import { utf8 } from "./text.ts";

const BLOCK = 512;
/** No config.json comes near; more is refused before it is collected. */
const LARGEST_CONFIG = 64 << 20;
/** What may be unpacked in search of it: a small file that unpacks without end must stop somewhere. */
const LARGEST_ARCHIVE = 8 * 2 ** 30;

/** How an NN Archive is packed. */
export type Packing = "xz" | "gz" | "tar";

/** How an archive is packed, by its first bytes; null for anything else. */
export function packingOf(bytes: Uint8Array): Packing | null {
  checkBytes(bytes, "archive");
  if (bytes[0] === 0xfd && text(bytes, 1, 5) === "7zXZ") return "xz";
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "gz";
  return bytes.length >= BLOCK && checksumFits(bytes) ? "tar" : null;
}

/**
 * The text of the first `config.json` at the root of the archive, or in a folder there; what comes after it is not unpacked.
 * `where` is the file's name in messages.
 * @throws ConfigError where the bytes are no archive, are damaged, or hold no config.json, with got and expected
 */
export async function readArchiveConfig(bytes: Uint8Array, where: string): Promise<string> {
  const packing = packingOf(bytes);
  if (!packing) throw refusal(where, `got bytes that are no archive, expected .tar, .tar.gz or .tar.xz`);
  const found = utf8(await findInTar(unpack(bytes, packing, where), where));
  if (found === null) throw refusal(where, `config.json: got text that is not UTF-8, expected JSON`);
  return found;
}

async function* unpack(bytes: Uint8Array, packing: Packing, where: string): AsyncGenerator<Uint8Array> {
  if (packing === "tar") return yield bytes;
  const source = packing === "gz" ? Readable.from([bytes]).pipe(createGunzip()) : await unxz(bytes, where);
  try {
    for await (const chunk of source) yield chunk as Uint8Array;
  } catch (e) {
    throw refusal(
      where,
      `got damaged ${packing} data, expected a whole archive: ${(e as Error).message ?? e}`,
    );
  }
}

async function unxz(bytes: Uint8Array, where: string): Promise<AsyncIterable<Uint8Array>> {
  interface Module {
    XzReadableStream: new (stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
  }
  let library: Module & { default?: Module };
  try {
    library = (await import("xz-decompress")) as unknown as Module & { default?: Module };
  } catch {
    throw refusal(
      where,
      `got an xz archive, expected the optional package that unpacks it: npm install xz-decompress`,
    );
  }
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return chunksOf(new (library.XzReadableStream ?? library.default!.XzReadableStream)(stream));
}

/**
 * Always ends in cancel(): the library shares one decoder among its streams and gives it on only then. That cancel throws
 * where the stream had read ahead to its end, which is no error of the archive.
 */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Walks ustar headers over a stream. Long names (GNU 'L', pax 'x') are honoured since archives of some tools carry them. */
async function findInTar(chunks: AsyncIterable<Uint8Array>, where: string): Promise<Uint8Array> {
  const source = new Bytes(chunks);
  try {
    return await configOf(source, where);
  } finally {
    await source.close();
  }
}

async function configOf(source: Bytes, where: string): Promise<Uint8Array> {
  const names: string[] = [];
  let longName: string | null = null;
  for (;;) {
    const header = await source.take(BLOCK);
    if (header.length === 0 || header.every((b) => b === 0)) break;
    if (header.length < BLOCK)
      throw refusal(where, `got a tar header of ${header.length} bytes, expected ${BLOCK}: cut short`);
    if (!checksumFits(header))
      throw refusal(where, `got a tar header with a wrong checksum, expected a tar archive`);
    const size = octal(header, 124, 12, where);
    const kind = String.fromCharCode(header[156]);
    const prefix = text(header, 257, 5) === "ustar" ? text(header, 345, 155) : "";
    const name: string = longName ?? (prefix ? `${prefix}/` : "") + text(header, 0, 100);
    if (source.passed + size > LARGEST_ARCHIVE)
      throw refusal(
        where,
        `${showJson(name)}: got ${size} bytes at ${source.passed}, expected at most ${LARGEST_ARCHIVE} in all`,
      );
    longName = null;
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (kind === "L" || kind === "x" || ((kind === "0" || kind === "\0") && isConfig(name))) {
      if (size > LARGEST_CONFIG)
        throw refusal(where, `${showJson(name)}: got ${size} bytes, expected at most ${LARGEST_CONFIG}`);
      const body = await source.take(size);
      if (body.length < size)
        throw refusal(where, `${showJson(name)}: got ${body.length} bytes, expected ${size}: cut short`);
      if (kind === "L") longName = text(body, 0, body.length);
      else if (kind === "x") longName = paxPath(body);
      else return body;
      await source.skip(padding);
    } else {
      if (names.length < 8) names.push(name);
      await source.skip(size + padding);
    }
  }
  throw refusal(
    where,
    `got no config.json (${names.length ? names.join(", ") : "the archive is empty"}), expected an NN Archive`,
  );
}

/** At the root or in one folder: archives packed from outside carry their folder's name. */
const isConfig = (name: string) => /^(\.\/)?([^/]+\/)?config\.json$/.test(name);

/** `length key=value\n` records, whose length counts the whole record: a value may look like another record. The last path counts. */
function paxPath(body: Uint8Array): string | null {
  let path: string | null = null;
  for (let at = 0; at < body.length;) {
    const length = parseInt(text(body, at, 20), 10);
    if (!(length > 0)) break;
    const record = new TextDecoder().decode(body.subarray(at, at + length));
    path = /^\d+ path=([^]*)\n$/.exec(record)?.[1] ?? path;
    at += length;
  }
  return path;
}

/** The one error of this file: the archive stands where a config's path would. */
const refusal = (where: string, message: string) => new ConfigError([{ path: where, message }]);

const text = (bytes: Uint8Array, at: number, length: number): string => {
  const part = bytes.subarray(at, at + length);
  const end = part.indexOf(0);
  return new TextDecoder().decode(end < 0 ? part : part.subarray(0, end));
};

function octal(header: Uint8Array, at: number, length: number, where: string): number {
  const digits = text(header, at, length).trim();
  // GNU writes sizes from 8 GiB on in base 256: beyond what is read here.
  if (header[at] & 0x80 || !/^[0-7]+$/.test(digits))
    throw refusal(where, `got tar size ${showJson(digits)}, expected octal digits below 8 GiB`);
  return parseInt(digits, 8);
}

/** Sum of all bytes of the header with the checksum field itself taken as blanks. */
function checksumFits(header: Uint8Array): boolean {
  let sum = 8 * 32;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += header[i];
  return parseInt(text(header, 148, 8).trim(), 8) === sum;
}

/** Takes and skips bytes over a stream of chunks, holding no more than asked for. */
class Bytes {
  passed = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Ends the stream early, so that nothing goes on unpacking. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Fewer only at the end of the stream. */
  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    await this.#walk(count, (part) => parts.push(part.slice()));
    const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const part of parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }

  async skip(count: number): Promise<void> {
    await this.#walk(count, () => {});
  }

  async #walk(count: number, visit: (part: Uint8Array) => void): Promise<void> {
    let left = count;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next();
        if (next.done) return;
        // The chunk may be a Buffer, whose slice() would not copy.
        this.#rest = new Uint8Array(next.value.buffer, next.value.byteOffset, next.value.byteLength);
        continue;
      }
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      this.passed += part.length;
      left -= part.length;
      visit(part);
    }
  }
}
