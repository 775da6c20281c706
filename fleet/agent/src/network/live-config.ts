/** Watches the config file. Tests a changed config before use. If the test fails, the last good config stays in use. */
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { codeOf, messageOf } from "boxwright-service/errors";
import { sha256 } from "../core/ids.ts";
import type { Network } from "./network.ts";
import type { NetworkPlan } from "./plan.ts";

/** Count of starts in a row without a finished frame after which the config is blamed for the crashes. */
const MOST_STARTS = 3;

/** The state of the config, for /healthz. */
export interface ConfigState {
  /** "applied": the file's content is in use. "failed": it is not, and the last good one is. */
  state: "applied" | "failed";
  /** The problem of the file; null if it is in use. */
  error: string | null;
  /** Changes applied and refused since the start. */
  applied: number;
  failed: number;
}

export class LiveConfig {
  readonly state: ConfigState = { state: "applied", error: null, applied: 0, failed: 0 };
  readonly #path: string | null;
  readonly #folder: string;
  readonly #network: Network;
  readonly #log: Logger;
  /** Content that was tested last. A failed content is not tested again before it changes. */
  #tried: string | null = null;
  /** The config in use, if no frame has proven it yet; else null. */
  #unproven: { readonly text: string; readonly plan: NetworkPlan } | null = null;
  /** Time and size of the file at the last look. */
  #seen = "";
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  /** @param folder of state: the last good config is kept there */
  constructor(path: string | null, folder: string, network: Network, log: Logger) {
    this.#path = path;
    this.#folder = folder;
    this.#network = network;
    this.#log = log;
  }

  /**
   * Applies the file, or the last good config if the file fails.
   * @throws what is wrong with the file, if there is no last good one
   */
  async start(): Promise<void> {
    if (this.#path === null) return this.#network.use(undefined);
    const text = this.#read() ?? "";
    this.#tried = text;
    try {
      this.#countStart(text);
      await this.#network.use(JSON.parse(text));
      this.#unproven = { text, plan: this.#network.plan };
    } catch (error) {
      const good = this.#lastGood();
      if (good === null || good === text) throw error;
      await this.#network.use(JSON.parse(good));
      this.#fail(error);
    }
  }

  /** Begins to watch the file. */
  watch(milliseconds = 1000): void {
    if (this.#path !== null) this.#timer = setInterval(() => void this.look(), milliseconds).unref();
  }

  /** Looks at the file, and applies it if its content is new. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const text = this.#read();
      if (text === null || text === this.#tried) return;
      this.#tried = text;
      await this.#network.use(JSON.parse(text));
      this.#unproven = { text, plan: this.#network.plan };
      this.state.applied++;
      this.state.state = "applied";
      this.state.error = null;
      this.#log.info({ config: this.#network.plan.record?.hash }, "config applied");
    } catch (error) {
      this.state.failed++;
      this.#fail(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /**
   * Records that a frame succeeded: stores the config in use as the last good one.
   * @param plan that the frame went through: a frame that began before a change proves nothing of the new config
   */
  prove(plan: NetworkPlan): void {
    if (this.#unproven?.plan !== plan) return;
    const path = this.#file("config.good.json");
    writeFileSync(`${path}.new`, this.#unproven.text);
    renameSync(`${path}.new`, path);
    writeFileSync(this.#file("starts.json"), "{}");
    this.#unproven = null;
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  #fail(error: unknown): void {
    this.state.state = "failed";
    this.state.error = messageOf(error);
    this.#log.error({ config: this.#path }, `config refused, the last good one stays: ${messageOf(error)}`);
  }

  /** Returns the content of the file. Null if it is unchanged, or missing, as while another program replaces it. */
  #read(): string | null {
    try {
      const { mtimeMs, size, ino } = statSync(this.#path!);
      const seen = `${mtimeMs} ${size} ${ino}`;
      if (seen === this.#seen) return null;
      const text = readFileSync(this.#path!, "utf8");
      this.#seen = seen;
      return text;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    }
  }

  /**
   * Adds a start with this content to a count on disk.
   * @throws after too many starts without a finished frame, if there is another config to fall back to
   */
  #countStart(text: string): void {
    const content = sha256(text);
    let before: { content?: string; starts?: number } = {};
    try {
      before = JSON.parse(readFileSync(this.#file("starts.json"), "utf8")) as typeof before;
    } catch {
      // The first start.
    }
    const starts = before.content === content ? (before.starts ?? 0) + 1 : 1;
    writeFileSync(this.#file("starts.json"), JSON.stringify({ content, starts }));
    const good = this.#lastGood();
    if (starts > MOST_STARTS && good !== null && good !== text)
      throw new Error(`the process ended ${MOST_STARTS} times before a frame went through with this config`);
  }

  #lastGood(): string | null {
    try {
      return readFileSync(this.#file("config.good.json"), "utf8");
    } catch {
      return null;
    }
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }
}
