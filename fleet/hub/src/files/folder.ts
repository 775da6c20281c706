/**
 * Stores files in a folder. A part is renamed to its file's name once all bytes are on the disk.
 *
 *     <folder>/<team id>/<kind>/<sha256>
 */
import { createReadStream, constants } from "node:fs";
import { access, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { messageOf, UserError } from "boxwright-service/errors";
import type { FilePlace, Files, Listed, Received, Sent } from "./files.ts";
import { Parts, statOf } from "./parts.ts";

export class FolderFiles implements Files {
  readonly #parts: Parts;

  constructor(folder: string) {
    this.#parts = new Parts(folder);
  }

  check(): Promise<void> {
    return checkFolder(this.#parts.folder);
  }

  async size(place: FilePlace): Promise<number | undefined> {
    return (await statOf(this.#parts.path(place)))?.size;
  }

  partSize(place: FilePlace): Promise<number> {
    return this.#parts.size(place);
  }

  read(place: FilePlace, start = 0, end?: number): Promise<Readable> {
    const range = end === undefined ? { start } : { start, end };
    return Promise.resolve(createReadStream(this.#parts.path(place), range));
  }

  receive(place: FilePlace, body: AsyncIterable<Buffer>, sent: Sent): Promise<Received> {
    const path = this.#parts.path(place);
    return this.#parts.receive(place, body, sent, async (part) => {
      await rename(part, path);
      await syncFolder(dirname(path));
    });
  }

  withPath<T>(place: FilePlace, work: (path: string) => Promise<T>): Promise<T> {
    return work(this.#parts.path(place));
  }

  async remove(place: FilePlace): Promise<void> {
    await rm(this.#parts.path(place), { force: true });
    await this.#parts.remove(place);
  }

  list(): AsyncGenerator<Listed> {
    return this.#parts.list();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

/**
 * Creates the folder of files if it is missing. Without the folder, the hub would run but refuse every model and snap.
 */
export async function checkFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UserError(
      `HUB_FILES: got ${folder}, which the hub cannot write (${messageOf(error)}); expected a folder of its own user`,
    );
  }
}
