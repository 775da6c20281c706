/** Tests a changed model or config before use. If the test fails, the last good one stays in use. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import { readIfThere, replaceFile } from "../core/files.ts";
import { sha256 } from "../core/ids.ts";
import type { NetworkPlan } from "./plan.ts";

/** Count of consecutive starts without a finished frame after which the config is blamed for crashes. */
const MOST_STARTS = 3;

/** The state of the config, for /healthz. */
export interface ConfigState {
  /**
   * "applied": the newest content is in use. "failed": the newest content failed, and the last good one is in use.
   * "none": the hub has given nothing.
   */
  state: "applied" | "failed" | "none";
  /** The problem of the newest content; null if it is in use. */
  error: string | null;
  /** Changes applied and refused since the start. */
  applied: number;
  failed: number;
}

/** A config as text, with an id that changes with it. */
export interface ConfigContent {
  /** The config itself. The last good one is kept as this text. */
  readonly text: string;
  /** Changes with the content. Content that failed is not tested again until its id changes. */
  readonly id: string;
}

/** The origin of a config: files that an operator writes, or the application that a hub gives. */
export interface ConfigSource {
  /** First part of the names of state files: "config" or "application". */
  readonly name: string;
  /** Path of the config for log lines. */
  readonly place: string;
  /** Returns the content. Null if it is unchanged or missing, as while another program replaces the file. */
  read(isStart: boolean): ConfigContent | null;
  /**
   * Switches the network to the model and config of a text that `read` returned.
   * @throws the error of a model or config that cannot be used
   */
  use(text: string): Promise<NetworkPlan>;
}

/** Chooses the network to use: LiveConfig by files, Application by the hub. */
export interface NetworkChooser {
  readonly state: Readonly<ConfigState>;
  prove(plan: NetworkPlan): void;
  close(): void;
}

export class LiveConfig implements NetworkChooser {
  readonly state: ConfigState = { state: "applied", error: null, applied: 0, failed: 0 };
  readonly #source: ConfigSource;
  readonly #folder: string;
  readonly #log: Logger;
  /** Id of the last tested content. */
  #tried: string | null = null;
  /** The config in use until a frame has proven it; then null. */
  #unproven: { readonly text: string; readonly plan: NetworkPlan } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  /** @param folder of state: the last good config is kept there */
  constructor(source: ConfigSource, folder: string, log: Logger) {
    this.#source = source;
    this.#folder = folder;
    this.#log = log;
  }

  /**
   * Applies the content, or the last good one if it fails.
   * @returns false if there is no content
   * @throws what is wrong with the content, if there is no last good one
   */
  async start(): Promise<boolean> {
    const content = this.#source.read(true);
    if (content === null) return false;
    const { text, id } = content;
    this.#tried = id;
    try {
      this.#countStart(text);
      this.#unproven = { text, plan: await this.#source.use(text) };
      this.state.state = "applied";
      this.state.error = null;
    } catch (error) {
      const good = this.#lastGood();
      if (good === null || good === text) throw error;
      await this.#source.use(good);
      this.#fail(error);
    }
    return true;
  }

  /** Begins to look for changes. */
  watch(milliseconds = 1000): void {
    this.#timer ??= setInterval(() => void this.look(), milliseconds).unref();
  }

  /** Checks once, and applies new content. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const content = this.#source.read(false);
      if (content === null || content.id === this.#tried) return;
      this.#tried = content.id;
      const plan = await this.#source.use(content.text);
      this.#unproven = { text: content.text, plan };
      this.state.applied++;
      this.state.state = "applied";
      this.state.error = null;
      this.#log.info({ config: plan.record?.hash }, `${this.#source.name} applied`);
    } catch (error) {
      this.refuse(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** Counts content that cannot be used. The current network stays in use. */
  refuse(error: unknown): void {
    this.state.failed++;
    this.#fail(error);
  }

  /**
   * Records that a frame succeeded: stores the config in use as the last good one.
   * @param plan that the frame went through: a frame that began before a change proves nothing of the new config
   */
  prove(plan: NetworkPlan): void {
    if (this.#unproven?.plan !== plan) return;
    replaceFile(this.#file("good"), this.#unproven.text);
    replaceFile(this.#file("starts"), "{}");
    this.#unproven = null;
  }

  /** Returns the last proven text, or null. */
  get good(): string | null {
    return this.#lastGood();
  }

  /** Forgets what was proven. */
  forget(): void {
    for (const what of ["good", "starts"] as const) rmSync(this.#file(what), { force: true });
    this.#tried = this.#unproven = null;
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #fail(error: unknown): void {
    this.state.state = "failed";
    this.state.error = messageOf(error);
    const { name, place } = this.#source;
    this.#log.error({ [name]: place }, `${name} refused, the last good one stays: ${messageOf(error)}`);
  }

  /**
   * Adds a start with this content to a count on disk.
   * @throws after too many starts without a finished frame, if there is another config to fall back to
   */
  #countStart(text: string): void {
    const content = sha256(text);
    let before: { content?: string; starts?: number } = {};
    try {
      before = JSON.parse(readIfThere(this.#file("starts")) ?? "{}") as typeof before;
    } catch {
      // Start again after a damaged count.
    }
    const starts = before.content === content ? (before.starts ?? 0) + 1 : 1;
    replaceFile(this.#file("starts"), JSON.stringify({ content, starts }));
    const good = this.#lastGood();
    if (starts > MOST_STARTS && good !== null && good !== text)
      throw new Error(
        `the process ended ${MOST_STARTS} times before a frame went through with this ${this.#source.name}`,
      );
  }

  #lastGood(): string | null {
    return readIfThere(this.#file("good"));
  }

  #file(what: "good" | "starts"): string {
    return join(this.#folder, `${this.#source.name}.${what}.json`);
  }
}
