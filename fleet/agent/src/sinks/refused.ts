/** Stores packets that a receiver refused permanently, up to a cap, so that an operator can look at them. */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../core/ids.ts";

export class RefusedFolder {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(state: string, maxBytes: number) {
    this.#folder = join(state, "refused");
    this.#maxBytes = maxBytes;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Stores a packet and the reason. Deletes the oldest files above the cap. */
  store(packet: Uint8Array, sink: string, reason: string): void {
    if (packet.length > this.#maxBytes) return;
    // Name the file by a hash: names of sinks and packets come from outside and must not become a path.
    const path = join(this.#folder, sha256(sink, packet));
    writeFileSync(`${path}.packet`, packet);
    writeFileSync(`${path}.json`, JSON.stringify({ sink, reason, time: new Date().toISOString() }));
    this.#makeRoom();
  }

  #makeRoom(): void {
    const files = readdirSync(this.#folder).map((name) => {
      const { size, mtimeMs } = statSync(join(this.#folder, name));
      return { name, size, time: mtimeMs };
    });
    files.sort((a, b) => a.time - b.time);
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    for (const { name, size } of files) {
      if (bytes <= this.#maxBytes) return;
      rmSync(join(this.#folder, name), { force: true });
      bytes -= size;
    }
  }
}
