/**
 * Parts are files that are not complete yet, in a folder of the hub. A complete part with the right hash goes to the
 * store.
 *
 *     <folder>/<team id>/<kind>/<sha256>.part
 *     <folder>/<team id>/<kind>/<sha256>.<random>.part    a copy of a file in the store, while this process reads it
 */
import { createHash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, messageOf, UnavailableError } from "boxwright-service/errors";
import { fileKinds, isTeam, nameOf, placeOf, type FilePlace, type Listed, type Received, type Sent } from "./files.ts";
import { HEAD_BYTES } from "./picture.ts";

const PART = ".part";

export class Parts {
  readonly folder: string;
  /** Paths of the files that requests of this process are sending. */
  readonly #busy = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Returns the path of a file in the folder. */
  path(place: FilePlace): string {
    return join(this.folder, nameOf(place));
  }

  async size(place: FilePlace): Promise<number> {
    return (await statOf(this.path(place) + PART))?.size ?? 0;
  }

  /**
   * Adds bytes to a part. `keep` moves a complete, checked part into the store.
   * @throws UnavailableError if the disk is full
   */
  async receive(
    place: FilePlace,
    body: AsyncIterable<Buffer>,
    sent: Sent,
    keep: (part: string) => Promise<void>,
  ): Promise<Received> {
    const path = this.path(place);
    if (this.#busy.has(path)) return { kind: "busy", size: await this.size(place) };
    this.#busy.add(path);
    try {
      const received = await receive(path + PART, body, { ...sent, sha256: place.sha256 });
      if (received.kind === "complete") await keep(path + PART);
      return received;
    } catch (error) {
      throw explainDisk(error);
    } finally {
      this.#busy.delete(path);
    }
  }

  async remove(place: FilePlace): Promise<void> {
    await rm(this.path(place) + PART, { force: true });
  }

  /** Lists the files and parts of the folder. */
  async *list(): AsyncGenerator<Listed> {
    for (const team of await namesIn(this.folder)) {
      if (!isTeam(team)) continue;
      for (const kind of fileKinds)
        for (const name of await namesIn(join(this.folder, team, kind))) {
          const place = placeOf(`${team}/${kind}/${name.replace(/(\.[0-9a-f-]+)?\.part$/, "")}`);
          if (place === undefined || this.#busy.has(this.path(place))) continue;
          const path = join(this.folder, team, kind, name);
          const found = await statOf(path);
          if (found === undefined) continue;
          const remove = (): Promise<void> => rm(path, { force: true });
          yield { place, isPart: name.endsWith(PART), changedAt: found.mtimeMs, remove };
        }
    }
  }
}

/** Converts an error of the disk to UnavailableError. Returns other errors unchanged. */
function explainDisk(error: unknown): unknown {
  if (!/^(ENOSPC|EDQUOT|EROFS|EACCES|EIO|ENOTDIR)$/.test(codeOf(error))) return error;
  const message = `the folder of files takes no more (${codeOf(error)}): ${messageOf(error)}`;
  return new UnavailableError(message, { cause: error });
}

/** Returns the file's status (size, times), or undefined if there is no such file. */
export async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
}

async function receive(
  part: string,
  body: AsyncIterable<Buffer>,
  { offset, size, sha256, check }: Sent & { readonly sha256: string },
): Promise<Received> {
  await mkdir(dirname(part), { recursive: true, mode: 0o700 });
  const before = offset === 0 ? 0 : ((await statOf(part))?.size ?? 0);
  if (before !== offset) return { kind: "out_of_step", size: before };
  const got = await append(part, body, offset, size);
  if (got < size) return { kind: "partial", size: got };
  const problem = got > size ? ({ kind: "too_large" } as const) : await judge(part, sha256, check);
  if (problem === undefined) return { kind: "complete" };
  await rm(part, { force: true });
  return problem;
}

/**
 * Writes bytes to the disk. Returns the size of the part, which is larger than `size` if the sender sent too many
 * bytes.
 */
async function append(part: string, body: AsyncIterable<Buffer>, offset: number, size: number): Promise<number> {
  const handle = await open(part, offset === 0 ? "w" : "a", 0o600);
  let got = offset;
  try {
    for await (const bytes of body) {
      got += bytes.length;
      if (got > size) break;
      await handle.writeFile(bytes);
    }
  } catch (error) {
    // The sender hung up. Keep the bytes: the next request continues after them.
    if (codeOf(error) !== "ECONNRESET" && codeOf(error) !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  } finally {
    await handle.sync().finally(() => handle.close());
  }
  return got;
}

/** Returns what is wrong with a complete file, or undefined. */
async function judge(part: string, sha256: string, check: Sent["check"]): Promise<Received | undefined> {
  const hash = createHash("sha256");
  for await (const bytes of createReadStream(part)) hash.update(bytes as Buffer);
  const found = hash.digest("hex");
  if (found !== sha256) return { kind: "wrong_hash", sha256: found };
  const why = check?.(await headOf(part));
  return why === undefined ? undefined : { kind: "wrong_kind", why };
}

async function headOf(path: string): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
