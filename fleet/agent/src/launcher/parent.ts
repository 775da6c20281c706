/** The agent's connection to its launcher: reports health, and asks to try a version. */
import type { Message, SwitchWish } from "./launcher.ts";
import { type LaunchState, readState } from "./launch-state.ts";
import type { Told } from "./trial.ts";

const TELL_EVERY = 500;

export class Parent {
  /** Folder that holds the versions. */
  readonly versions: string;

  private constructor(versions: string) {
    this.versions = versions;
  }

  /** Returns the launcher of this process; null if another program started the process. */
  static find(): Parent | null {
    const versions = process.env["BOXWRIGHT_LAUNCHER"];
    return versions !== undefined && process.connected ? new Parent(versions) : null;
  }

  get state(): LaunchState {
    return readState(this.versions);
  }

  /** Reports the process' health until the signal aborts. */
  tell(read: () => Told, signal: AbortSignal): void {
    const timer = setInterval(() => this.#send({ kind: "told", ...read() }), TELL_EVERY).unref();
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  switchTo(wish: Omit<SwitchWish, "kind">): void {
    this.#send({ kind: "switch", ...wish });
  }

  #send(message: Message): void {
    // Ignore a launcher that has ended: its end also ends this process.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  }
}
