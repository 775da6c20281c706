/** Stores the configs of spooled packets, so that packets and configs both survive a restart. */
import { readFileSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, replaceFile } from "../core/files.ts";
import type { ConfigRecord } from "../network/plan.ts";

/** Largest number of stored configs. */
const MOST = 64;

export class ConfigStore {
  readonly #folder: string;
  readonly #stored = new Set<string>();

  constructor(state: string) {
    this.#folder = join(state, "configs");
    makeFolder(this.#folder);
  }

  /** Stores a config. Call this before the first packet with this config is spooled. */
  store({ hash, json }: ConfigRecord): void {
    if (this.#stored.has(hash)) return;
    // Flush the config: its packets are refused if a power failure loses the config.
    replaceFile(this.#path(hash), json);
    this.#stored.add(hash);
    this.#forgetOld();
  }

  find(hash: string): ConfigRecord | null {
    // Accept only a hash: the text comes from a packet and becomes a file name.
    if (!/^[\da-f]{16}$/.test(hash)) return null;
    try {
      const path = this.#path(hash);
      const json = readFileSync(path, "utf8");
      // Touch the file, since `#forgetOld` deletes the configs that were unused for longest.
      utimesSync(path, new Date(), new Date());
      return { hash, json };
    } catch {
      return null;
    }
  }

  #path(hash: string): string {
    return join(this.#folder, `${hash}.json`);
  }

  #forgetOld(): void {
    const files = readdirSync(this.#folder).filter((name) => name.endsWith(".json"));
    if (files.length <= MOST) return;
    const dated = files.map((name) => ({ name, time: statSync(join(this.#folder, name)).mtimeMs }));
    dated.sort((a, b) => b.time - a.time);
    for (const { name } of dated.slice(MOST)) rmSync(join(this.#folder, name), { force: true });
  }
}
