/** Stores permanently refused packets, so that an operator can examine them. Their total size is limited. */
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, replaceFile } from "../core/files.ts";
import { sha256 } from "../core/ids.ts";

/** A refused packet on disk. */
export interface RefusedFile {
  /** Base name of the files that hold this refused packet. Commands take it as an argument. */
  readonly name: string;
  readonly sink: string;
  readonly reason: string;
  /** Time of the refusal. */
  readonly time: string;
  readonly bytes: number;
}

export class RefusedFolder {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(state: string, maxBytes: number) {
    this.#folder = join(state, "refused");
    this.#maxBytes = maxBytes;
    makeFolder(this.#folder);
  }

  /** Stores a packet and the reason for the refusal. Deletes the oldest packets above the limit. */
  store(packet: Uint8Array, sink: string, reason: string): void {
    if (packet.length > this.#maxBytes) return;
    // Use a hash as the file name, since names of sinks and packets come from outside.
    const path = join(this.#folder, sha256(sink, packet));
    // Flush both, since the spool forgets the packet. Store the reason first: each listed packet has one.
    replaceFile(`${path}.json`, JSON.stringify({ sink, reason, time: new Date().toISOString() }));
    replaceFile(`${path}.packet`, packet);
    this.#makeRoom();
  }

  /** Returns the refused packets, the oldest first. */
  list(): RefusedFile[] {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith(".packet"));
    const files = names.map((file) => {
      const name = file.slice(0, -".packet".length);
      const about = join(this.#folder, `${name}.json`);
      const known = existsSync(about) ? (JSON.parse(readFileSync(about, "utf8")) as Partial<RefusedFile>) : {};
      const { sink = "unknown", reason = "unknown", time = "" } = known;
      return { name, sink, reason, time, bytes: statSync(join(this.#folder, file)).size };
    });
    return files.sort((a, b) => (a.time < b.time ? -1 : 1));
  }

  /** Returns the packet of a listed file. */
  read({ name }: RefusedFile): Uint8Array {
    return readFileSync(join(this.#folder, `${name}.packet`));
  }

  remove({ name }: RefusedFile): void {
    for (const end of ["packet", "json"]) rmSync(join(this.#folder, `${name}.${end}`), { force: true });
  }

  #makeRoom(): void {
    // Delete a packet and its reason together. A power failure can leave a reason or a file ".new" alone.
    const kept = new Map<string, { names: string[]; bytes: number; time: number }>();
    for (const name of readdirSync(this.#folder)) {
      const { size, mtimeMs } = statSync(join(this.#folder, name));
      const base = name.split(".", 1)[0]!;
      const { names, bytes, time } = kept.get(base) ?? { names: [], bytes: 0, time: 0 };
      kept.set(base, { names: [...names, name], bytes: bytes + size, time: Math.max(time, mtimeMs) });
    }
    let sum = [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { names, bytes } of [...kept.values()].sort((a, b) => a.time - b.time)) {
      if (sum <= this.#maxBytes) return;
      // Delete the packet first: each listed packet has a reason.
      for (const name of names.sort().reverse()) rmSync(join(this.#folder, name), { force: true });
      sum -= bytes;
    }
  }
}
