/**
 * Keeps files in a bucket of an S3-compatible store. Incomplete files stay in the folder of the hub until all bytes are
 * there and the hash is right. Then one request writes the object. The store compares the bytes with the hash once
 * more, and never shows an incomplete object. Devices and people read through the hub, and never see the bucket's
 * address or key.
 *
 *     <prefix><team id>/<kind>/<sha256>
 */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { codeOf, messageOf, UnavailableError } from "boxwright-service/errors";
import { nameOf, placeOf, type FilePlace, type Files, type Listed, type Received, type Sent } from "./files.ts";
import { checkFolder } from "./folder.ts";
import { Parts, statOf } from "./parts.ts";
import { elementsOf, S3, textOf, type BucketOptions } from "./s3.ts";

/** Name of the object that `check` writes, reads and deletes. */
const CHECK = "boxwright-hub-check";
/** Largest number of bytes in a list of 1,000 objects, with some reserve. */
const MOST_LIST_BYTES = 4 * 2 ** 20;

export class BucketFiles implements Files {
  readonly #parts: Parts;
  readonly #s3: S3;
  readonly #prefix: string;

  /** @param folder folder that holds incomplete files */
  constructor(folder: string, options: BucketOptions) {
    this.#parts = new Parts(folder);
    this.#s3 = new S3(options);
    this.#prefix = options.prefix;
  }

  /** Tries each kind of request once: write, read, list, delete. */
  async check(): Promise<void> {
    await checkFolder(this.#parts.folder);
    const bytes = Buffer.from("written by boxwright-hub to check the bucket");
    const body = { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
    await this.#write(CHECK, { ...body, open: () => Readable.from([bytes]) });
    // Accept a missing object: another hub that starts at the same time may have deleted it.
    (await this.#s3.send({ method: "GET", name: CHECK, work: "read" }))?.resume();
    await this.#page(undefined, 1);
    await this.#delete(CHECK);
  }

  async size(place: FilePlace): Promise<number | undefined> {
    const answer = await this.#s3.send({ method: "HEAD", name: nameOf(place), work: "read" });
    answer?.resume();
    return answer === undefined ? undefined : Number(answer.headers["content-length"]);
  }

  partSize(place: FilePlace): Promise<number> {
    return this.#parts.size(place);
  }

  async read(place: FilePlace, start = 0, end?: number): Promise<Readable> {
    const range = `bytes=${start}-${end ?? ""}`;
    const headers = start === 0 && end === undefined ? {} : { range };
    const answer = await this.#s3.send({ method: "GET", name: nameOf(place), work: "read", headers });
    if (answer === undefined) throw new UnavailableError("a file was deleted while it was read");
    if (start > 0 && answer.statusCode !== 206) {
      answer.destroy();
      throw new UnavailableError(`the store of files answered ${answer.statusCode} to a Range, expected 206`);
    }
    return answer;
  }

  receive(place: FilePlace, body: AsyncIterable<Buffer>, sent: Sent): Promise<Received> {
    return this.#parts.receive(place, body, sent, async (part) => {
      const { size } = (await statOf(part))!;
      await this.#write(nameOf(place), { size, sha256: place.sha256, open: () => createReadStream(part) });
      await rm(part, { force: true });
    });
  }

  async withPath<T>(place: FilePlace, work: (path: string) => Promise<T>): Promise<T> {
    const copy = `${this.#parts.path(place)}.${randomUUID()}.part`;
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    try {
      try {
        await pipeline(await this.read(place), createWriteStream(copy, { mode: 0o600 }));
      } catch (error) {
        if (error instanceof UnavailableError) throw error;
        const message = `a file of the store could not be copied (${codeOf(error)}): ${messageOf(error)}`;
        throw new UnavailableError(message, { cause: error });
      }
      return await work(copy);
    } finally {
      await rm(copy, { force: true });
    }
  }

  async remove(place: FilePlace): Promise<void> {
    await this.#delete(nameOf(place));
    await this.#parts.remove(place);
  }

  async *list(): AsyncGenerator<Listed> {
    yield* this.#parts.list();
    for (let token: string | undefined, more = true; more;) {
      const xml = await this.#page(token, 1000);
      const [names, times] = [elementsOf(xml, "Key"), elementsOf(xml, "LastModified")];
      for (const [i, name] of names.entries()) {
        const place = name.startsWith(this.#prefix) ? placeOf(name.slice(this.#prefix.length)) : undefined;
        if (place === undefined) continue;
        const remove = (): Promise<void> => this.#delete(nameOf(place));
        yield { place, isPart: false, changedAt: Date.parse(times[i] ?? ""), remove };
      }
      [token] = elementsOf(xml, "NextContinuationToken");
      more = token !== undefined;
    }
  }

  async #page(token: string | undefined, count: number): Promise<string> {
    const more: Record<string, string> = token === undefined ? {} : { "continuation-token": token };
    const query = { "list-type": "2", "max-keys": String(count), prefix: this.#prefix, ...more };
    const answer = await this.#s3.send({ method: "GET", name: "", work: "list", query });
    return textOf(answer!, MOST_LIST_BYTES);
  }

  async #write(name: string, body: { size: number; sha256: string; open: () => Readable }): Promise<void> {
    const answer = await this.#s3.send({ method: "PUT", name, work: "write", body });
    // An undefined answer means a 404 without S3's code for a missing bucket.
    if (answer === undefined) throw new UnavailableError("the store of files answered 404 to a PUT");
    await textOf(answer);
  }

  async #delete(name: string): Promise<void> {
    (await this.#s3.send({ method: "DELETE", name, work: "delete" }))?.resume();
  }
}
