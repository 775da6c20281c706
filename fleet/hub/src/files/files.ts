/**
 * Files that teams and devices send: models and pictures. A file is named by the SHA-256 of its bytes, in a folder of
 * its team; no name that anybody sends is part of a path. Bytes arrive in a part beside it. The part gets the name of
 * the file when all its bytes are there, their hash is right, and they are on the disk.
 *
 *     <folder>/<team id>/<kind>/<sha256>
 *     <folder>/<team id>/<kind>/<sha256>.part
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { HEAD_BYTES } from "./picture.ts";
import { codeOf, messageOf, UnavailableError } from "boxwright-service/errors";

export const fileKinds = ["models", "snaps"] as const;
export type FileKind = (typeof fileKinds)[number];

export interface FilePlace {
  readonly team: string;
  readonly kind: FileKind;
  /** SHA-256 of the bytes, 64 hexadecimal digits in lower case. */
  readonly sha256: string;
}

/** Result of one request that sends bytes. */
export type Received =
  | { readonly kind: "complete" }
  /** Bytes are missing; `size` is the count of those that have arrived. */
  | { readonly kind: "partial"; readonly size: number }
  /** Bytes were sent for another place of the file than its end. */
  | { readonly kind: "out_of_step"; readonly size: number }
  /** Another request sends this file right now. */
  | { readonly kind: "busy"; readonly size: number }
  | { readonly kind: "too_large" }
  /** The bytes have another hash. They were deleted. */
  | { readonly kind: "wrong_hash"; readonly sha256: string }
  /** `check` refused the bytes. They were deleted. */
  | { readonly kind: "wrong_kind"; readonly why: string };

export interface Sent {
  /** Where in the file the bytes begin. 0 begins anew. */
  readonly offset: number;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Says what is wrong with a whole file, by its first bytes. */
  readonly check?: ((head: Buffer) => string | undefined) | undefined;
}

const SHA256 = /^[0-9a-f]{64}$/;
const TEAM = /^[0-9a-f-]{36}$/;
const PART = ".part";

export const isSha256 = (text: string): boolean => SHA256.test(text);

export class Files {
  readonly #folder: string;
  /** Paths of the files that requests of this process are sending. */
  readonly #busy = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  path({ team, kind, sha256 }: FilePlace): string {
    // Checked by every caller; checked again where a path is made.
    if (!TEAM.test(team) || !SHA256.test(sha256)) throw new Error("got a team or hash that is none");
    return join(this.#folder, team, kind, sha256);
  }

  /** Returns the size of a file in bytes, or undefined if it is not there. */
  size(place: FilePlace): Promise<number | undefined> {
    return sizeOf(this.path(place));
  }

  /** Returns how many bytes of an unfinished file are there. */
  async partSize(place: FilePlace): Promise<number> {
    return (await sizeOf(this.path(place) + PART)) ?? 0;
  }

  /** Returns when the last byte of an unfinished file came, or undefined. */
  async partTouchedAt(place: FilePlace): Promise<number | undefined> {
    return (await stat(this.path(place) + PART).catch(() => undefined))?.mtimeMs;
  }

  /** Returns a stream of the bytes `start` to `end`, both included. */
  read(place: FilePlace, start = 0, end?: number): Readable {
    return createReadStream(this.path(place), end === undefined ? { start } : { start, end });
  }

  /**
   * Adds bytes to a file. Bytes that arrived before the sender hung up stay.
   * @throws UnavailableError if the disk takes no more
   */
  async receive(place: FilePlace, body: AsyncIterable<Buffer>, sent: Sent): Promise<Received> {
    const path = this.path(place);
    if (this.#busy.has(path)) return { kind: "busy", size: await this.partSize(place) };
    this.#busy.add(path);
    try {
      return await receive(path, body, { ...sent, sha256: place.sha256 });
    } catch (error) {
      if (!/^(ENOSPC|EDQUOT|EROFS|EACCES|EIO|ENOTDIR)$/.test(codeOf(error))) throw error;
      const told = `the folder of files takes no more (${codeOf(error)}): ${messageOf(error)}`;
      throw new UnavailableError(told, { cause: error });
    } finally {
      this.#busy.delete(path);
    }
  }

  /** Removes a file and its part. */
  async remove(place: FilePlace): Promise<void> {
    const path = this.path(place);
    for (const name of [path, path + PART]) await rm(name, { force: true });
  }

  /** Removes everything of a team. */
  async removeTeam(team: string): Promise<void> {
    if (TEAM.test(team)) await rm(join(this.#folder, team), { recursive: true, force: true });
  }

  /** Lists all files and parts that nobody has touched since `before`. */
  async *untouchedSince(before: number): AsyncGenerator<FilePlace & { readonly isPart: boolean }> {
    for (const team of await namesIn(this.#folder)) {
      if (!TEAM.test(team)) continue;
      for (const kind of fileKinds) {
        for (const name of await namesIn(join(this.#folder, team, kind))) {
          const isPart = name.endsWith(PART);
          const sha256 = isPart ? name.slice(0, -PART.length) : name;
          const path = join(this.#folder, team, kind, name);
          if (!SHA256.test(sha256) || this.#busy.has(path.replace(/\.part$/, ""))) continue;
          const info = await stat(path).catch(() => undefined);
          if (info !== undefined && info.mtimeMs < before) yield { team, kind, sha256, isPart };
        }
      }
    }
  }

  /** Removes the part of a file, and keeps the file. */
  async removePart(place: FilePlace): Promise<void> {
    await rm(this.path(place) + PART, { force: true });
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
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

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer);
  return hash.digest("hex");
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

async function receive(
  path: string,
  body: AsyncIterable<Buffer>,
  { offset, size, sha256, check }: Sent & { readonly sha256: string },
): Promise<Received> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const part = path + PART;
  const before = offset === 0 ? 0 : ((await sizeOf(part)) ?? 0);
  if (before !== offset) return { kind: "out_of_step", size: before };
  const got = await append(part, body, offset, size);
  if (got < size) return { kind: "partial", size: got };
  const problem = got > size ? ({ kind: "too_large" } as const) : await judge(part, sha256, check);
  if (problem !== undefined) {
    await rm(part, { force: true });
    return problem;
  }
  await rename(part, path);
  await syncFolder(dirname(path));
  return { kind: "complete" };
}

/** Writes bytes to the disk. Returns the size of the part; more than `size` if too many came. */
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
    // The sender hung up: what came stays, and the next request goes on from there.
    if (codeOf(error) !== "ECONNRESET" && codeOf(error) !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  } finally {
    await handle.sync().finally(() => handle.close());
  }
  return got;
}

/** Returns what is wrong with a whole file, or undefined. */
async function judge(part: string, sha256: string, check: Sent["check"]): Promise<Received | undefined> {
  const found = await hashOf(part);
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
