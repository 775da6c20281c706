/** Stores model files of the hub in the state folder, each under its content hash. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../core/files.ts";
import { sha256 } from "../core/ids.ts";
import { HubAwayError, type HubClient } from "./client.ts";

/** Milliseconds per request. A slower download continues with another request. */
const PATIENCE = 600_000;

export interface ModelFile {
  readonly sha256: string;
  readonly size: number;
  readonly name: string;
}

/** Error: a model file is missing, damaged, or not the one that the hub stated. */
export class ModelError extends Error {
  override readonly name = "ModelError";
}

export class Models {
  readonly #folder: string;

  /** @param name of the models' folder inside the state folder */
  constructor(state: string, name = "models") {
    this.#folder = join(state, name);
    makeFolder(this.#folder);
  }

  /**
   * Reads a stored model.
   * @throws ModelError if the file is missing or damaged
   */
  async read({ sha256: hash, name }: ModelFile): Promise<Uint8Array> {
    const bytes = await readFile(this.#path(hash)).catch(() => null);
    if (bytes && sha256(bytes) === hash) return bytes;
    rmSync(this.#path(hash), { force: true });
    throw new ModelError(
      `model ${name}: the kept file is ${bytes ? "damaged" : "missing"}. The hub is asked for it again`,
    );
  }

  /**
   * Downloads a model that is not stored yet. Continues an interrupted download.
   * @throws HubAwayError if a later try may succeed, ModelError if the bytes have another hash, HubRefusal if the hub
   * does not give the model
   */
  async fetch(hub: HubClient, model: ModelFile, signal: AbortSignal): Promise<void> {
    const path = this.#path(model.sha256);
    if (existsSync(path)) return;
    const part = `${path}.part`;
    const from = existsSync(part) ? statSync(part).size : 0;
    if (from < model.size) await this.#download(hub, model, part, from, signal);
    const found = await hashOf(part);
    if (found === model.sha256) return renameSync(part, path);
    rmSync(part, { force: true });
    throw new ModelError(`model ${model.name}: got bytes with SHA-256 ${found}, expected ${model.sha256}`);
  }

  /** Returns the path of a downloaded file. */
  pathOf({ sha256: hash }: Pick<ModelFile, "sha256">): string {
    return this.#path(hash);
  }

  /** Deletes the models that are no longer needed. */
  keepOnly(hashes: ReadonlySet<string>): void {
    for (const name of readdirSync(this.#folder))
      if (!hashes.has(name.slice(0, 64))) rmSync(join(this.#folder, name), { force: true });
  }

  async #download(hub: HubClient, model: ModelFile, part: string, from: number, signal: AbortSignal): Promise<void> {
    const headers = from > 0 ? { range: `bytes=${from}-` } : {};
    const path = `/device/models/${model.sha256}`;
    await hub.stream({ path, headers, signal, patience: PATIENCE }, async (response) => {
      // Start at 0 if the server ignores ranges and sends the whole file.
      const at = response.status === 206 ? from : 0;
      const file = await open(part, at > 0 ? "r+" : "w", 0o600);
      try {
        await file.truncate(at);
        let length = at;
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
          if (length + chunk.length > model.size)
            throw new ModelError(`model ${model.name}: got more than the ${model.size} bytes that the hub named`);
          await file.write(chunk, 0, chunk.length, length);
          length += chunk.length;
        }
        await file.sync();
        if (length < model.size)
          throw new HubAwayError(`model ${model.name}: cut off after ${length} of ${model.size} bytes`);
      } finally {
        await file.close();
      }
    });
  }

  /** Returns a model's path. Accepts only a hash, since the hub's text becomes a file name. */
  #path(hash: string): string {
    if (!/^[\da-f]{64}$/.test(hash)) throw new ModelError(`model: got ${hash.slice(0, 80)}, expected a SHA-256`);
    return join(this.#folder, hash);
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
