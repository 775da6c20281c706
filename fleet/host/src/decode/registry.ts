/** Finds configs for decoding: in memory, in the database, or in the broker's store. */
import { Refusal } from "../core/errors.ts";
import type { Transport } from "../core/metrics.ts";
import { countConfigs, storeConfig, storedConfig } from "../store/configs.ts";
import type { Database } from "boxwright-service/database";
import { type Network, checkNetwork, isHash, readNetwork } from "./networks.ts";
import type { Decoding } from "./decoding.ts";

/** A store of configs outside of the database, to which agents write. Hosts write too if the store has `put`. */
export interface SharedConfigs {
  get(hash: string): Promise<string | undefined>;
  put?(hash: string, body: string): Promise<void>;
}

export interface RegistryOptions {
  readonly db: Database;
  readonly decoding: Decoding;
  readonly maxConfigs: number;
  readonly now: () => number;
}

/** Milliseconds for which an unknown hash is not looked up again. */
const UNKNOWN_MS = 1000;
const MOST_UNKNOWN = 1024;

export class Registry {
  readonly #options: RegistryOptions;
  readonly #known = new Set<string>();
  readonly #loading = new Map<string, Promise<void>>();
  /** Time at which each missing hash was last looked up. */
  readonly #unknown = new Map<string, number>();
  /** The latest check. Checks run one after another, since each needs a thread and memory. */
  #checks: Promise<unknown> = Promise.resolve();
  /** Hashes of the operator's configs. A start that waits for room on the disk puts them again every second. */
  readonly #checked = new Map<string, string>();
  /** Stores of the connected brokers, by protocol. */
  readonly shared = new Map<Transport, SharedConfigs>();
  /** Hash of the config for packets that name none. */
  fallback: string | null = null;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  get hashes(): readonly string[] {
    return [...this.#known];
  }

  /**
   * Makes sure that the pool has the network of a config.
   * @throws Refusal "unknown config" if no store has it
   */
  async need(hash: string): Promise<void> {
    if (this.#known.has(hash)) return;
    const now = this.#options.now();
    if (now - (this.#unknown.get(hash) ?? -Infinity) < UNKNOWN_MS) throw unknown(hash);
    let loading = this.#loading.get(hash);
    if (!loading) {
      loading = this.#load(hash).finally(() => this.#loading.delete(hash));
      this.#loading.set(hash, loading);
    }
    await loading;
  }

  /**
   * Takes a config from an agent or from the operator: checks it, stores it and prepares its decoder.
   * @param hash that the config must have; null accepts any
   * @returns hash of the config
   */
  async put(hash: string | null, body: string): Promise<string> {
    if (hash !== null && !isHash(hash))
      throw new Refusal("config", `hash: got ${JSON.stringify(hash.slice(0, 40))}, expected 16 hexadecimal digits`);
    if (hash !== null && this.#known.has(hash)) return hash;
    const checked = hash === null ? this.#checked.get(body) : undefined;
    const found = checked ?? (await this.#check(hash, body));
    if (hash === null) this.#checked.set(body, found);
    await storeConfig(this.#options.db, found, body, this.#options.now());
    for (const shared of this.shared.values()) await shared.put?.(found, body);
    return found;
  }

  /** Adds the network of a config after the running checks. Returns the hash. */
  #check(hash: string | null, body: string): Promise<string> {
    const network = readNetwork(body);
    const check = this.#checks.then(() => this.#add(hash, network));
    this.#checks = check.catch(() => undefined);
    return check;
  }

  async #load(hash: string): Promise<void> {
    const { db, now } = this.#options;
    const body = (await storedConfig(db, hash)) ?? (await this.#sharedConfig(hash));
    if (body === undefined) {
      if (this.#unknown.size >= MOST_UNKNOWN) this.#unknown.clear();
      this.#unknown.set(hash, now());
      throw unknown(hash);
    }
    await this.#check(hash, body);
    await storeConfig(db, hash, body, now());
  }

  async #sharedConfig(hash: string): Promise<string | undefined> {
    for (const shared of this.shared.values()) {
      const body = await shared.get(hash);
      if (body !== undefined) return body;
    }
    return undefined;
  }

  async #add(hash: string | null, network: Network): Promise<string> {
    const { db, decoding, maxConfigs } = this.#options;
    if (hash !== null && this.#known.has(hash)) return hash;
    const found = await checkNetwork(network);
    if (found === null)
      throw new Refusal("config", "the config says nothing of a network, so nothing can be decoded with it");
    if (hash !== null && found !== hash)
      throw new Refusal(
        "config",
        `hash: got ${hash}, expected ${found}, the hash of this config. Send its options and outputs too`,
      );
    if (this.#known.has(found)) return found;
    if (
      Math.max(this.#known.size, await countConfigs(db)) >= maxConfigs &&
      (await storedConfig(db, found)) === undefined
    )
      throw new Refusal(
        "unavailable",
        `the host has ${maxConfigs} configs already: raise maxConfigs, or delete rows of its table configs`,
        { retryAfter: 60 },
      );
    await decoding.add(found, network);
    this.#known.add(found);
    this.#unknown.delete(found);
    return found;
  }
}

const unknown = (hash: string | null): Refusal =>
  new Refusal("unknown config", `config: got ${hash ?? "none"}, which the host does not know. PUT it to /v1/configs/`, {
    config: hash,
  });
