/** Stores the pause in the state folder, so that a paused device stays paused when the hub cannot be reached. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { readIfThere, replaceFile } from "../core/files.ts";
import { Bell } from "../core/wait.ts";

export class Pause {
  readonly #path: string;
  readonly #log: Logger;
  readonly #over = new Bell();
  #isPaused: boolean;

  constructor(state: string, log: Logger) {
    this.#path = join(state, "paused");
    this.#log = log;
    this.#isPaused = readIfThere(this.#path) !== null;
    if (this.#isPaused) log.warn("the hub paused this device: it takes no frames until the hub says so");
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Pauses or resumes the device. Throws if the state folder cannot be written. The next heartbeat then tries again.
   */
  set(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    if (isPaused) replaceFile(this.#path, `${new Date().toISOString()}\n`);
    else rmSync(this.#path, { force: true });
    this.#isPaused = isPaused;
    this.#log.info(isPaused ? "paused by the hub: takes no frames" : "resumed by the hub: takes frames again");
    if (!isPaused) this.#over.ring();
  }

  /** Waits until the device is not paused, or the signal aborts. */
  async over(signal: AbortSignal): Promise<void> {
    while (this.#isPaused && !signal.aborted) await this.#over.heard(signal);
  }
}
