/** Tests a changed model or config before use. If the test fails, the last good one stays in use. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import { readIfThere, replaceFile } from "../core/files.ts";
import { sha256 } from "../core/ids.ts";
import type { NetworkPlan } from "./plan.ts";

/** Number of consecutive starts without a finished frame after which the config counts as the cause of crashes. */
const MOST_STARTS = 3;

/** The state of the config, for /healthz. */
export interface ConfigState {
  /**
   * "applied": the newest content is in use. "failed": the newest content failed, and the last good one is in use.
   * "none": the hub has assigned nothing.
   */
  state: "applied" | "failed" | "none";
  /** The problem of the newest content; null if it is in use. */
  error: string | null;
  /** Numbers of applied and refused changes since the start. */
  applied: number;
  failed: number;
}

/** A config as text, with an id of model and config. */
export interface ConfigContent {
  /** Text of the config, which is stored when the config has proven good. */
  readonly text: string;
  /** Text that changes with the content. Content that failed is not tested again while its id stays the same. */
  readonly id: string;
}

/** Origin of a config: files of an operator, or the application that a hub assigns. */
export interface ConfigSource {
  /** Start of the names of state files: "config" or "application". */
  readonly name: string;
  /** Path of the config for log lines. */
  readonly place: string;
  /**
   * Returns the content. Null if the content is unchanged, or the file is missing while another program replaces it.
   */
  read(isStart: boolean): ConfigContent | null;
  /**
   * Switches the network to the model and config of a text that `read` returned.
   * @throws the error of a model or config that cannot be used
   */
  use(text: string): Promise<NetworkPlan>;
}

/** Chooses the network to use. LiveConfig follows files, and Application follows the hub. */
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
  /** The config in use until its first frame succeeds, then null. */
  #unproven: { readonly text: string; readonly plan: NetworkPlan } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  /** @param folder of the state, in which the last good config is stored */
  constructor(source: ConfigSource, folder: string, log: Logger) {
    this.#source = source;
    this.#folder = folder;
    this.#log = log;
  }

  /**
   * Applies the content, or the last good config if the content fails.
   * @returns false if there is no content
   * @throws the error of the content if there is no last good config
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

  /** Starts to check for changes. */
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

  /** Counts content that cannot be used. The present network stays in use. */
  refuse(error: unknown): void {
    this.state.failed++;
    this.#fail(error);
  }

  /**
   * Records that a frame succeeded: stores the config in use as the last good one.
   * @param plan plan of the frame. A frame from before a change proves nothing about the new config
   */
  prove(plan: NetworkPlan): void {
    if (this.#unproven?.plan !== plan) return;
    replaceFile(this.#file("good"), this.#unproven.text);
    replaceFile(this.#file("starts"), "{}");
    this.#unproven = null;
  }

  /** Returns the text of the last good config, or null. */
  get good(): string | null {
    return this.#lastGood();
  }

  /** Forgets the last good config. */
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
   * Counts the starts with this content, in a file.
   * @throws Error after too many starts without a finished frame, if another config can be used instead
   */
  #countStart(text: string): void {
    const content = sha256(text);
    let before: { content?: string; starts?: number } = {};
    try {
      before = JSON.parse(readIfThere(this.#file("starts")) ?? "{}") as typeof before;
    } catch {
      // Count from zero if the file is damaged.
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
