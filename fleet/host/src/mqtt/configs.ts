/** Keeps configs that agents publish. The broker repeats these messages on each new connection. */
import type { SharedConfigs } from "../decode/registry.ts";

const MOST_CONFIGS = 1024;
const MOST_BYTES = 2 ** 20;
/** Largest number of bytes of all configs together. */
const MOST_BYTES_IN_ALL = 32 * 2 ** 20;

export class KeptConfigs implements SharedConfigs {
  /** Configs by hash, the oldest first. */
  readonly #all = new Map<string, string>();
  #bytes = 0;

  /**
   * Stores the config of a message, whose topic ends in the config's hash. The registry checks this hash before it
   * decodes.
   */
  take(topic: string, payload: Uint8Array): void {
    const hash = topic.slice(topic.lastIndexOf("/") + 1);
    if (!/^[\da-f]{16}$/.test(hash) || payload.length === 0 || payload.length > MOST_BYTES) return;
    this.#forget(hash);
    const body = Buffer.from(payload).toString("utf8");
    this.#all.set(hash, body);
    this.#bytes += body.length;
    for (const oldest of this.#all.keys()) {
      if (this.#all.size <= MOST_CONFIGS && this.#bytes <= MOST_BYTES_IN_ALL) return;
      this.#forget(oldest);
    }
  }

  get(hash: string): Promise<string | undefined> {
    return Promise.resolve(this.#all.get(hash));
  }

  #forget(hash: string): void {
    this.#bytes -= this.#all.get(hash)?.length ?? 0;
    this.#all.delete(hash);
  }
}
