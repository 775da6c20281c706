/** The agent's side of its launcher: tells it how the process does, and asks it to try a version. */
import type { Message, SwitchWish } from "./launcher.ts";
import { type LaunchState, readState } from "./launch-state.ts";
import type { Told } from "./trial.ts";

const TELL_EVERY = 500;

export class Parent {
  /** Folder of the versions. */
  readonly versions: string;

  private constructor(versions: string) {
    this.versions = versions;
  }

  /** Returns the launcher of this process; null if nothing started it, or something else. */
  static find(): Parent | null {
    const versions = process.env["BOXWRIGHT_LAUNCHER"];
    return versions !== undefined && process.connected ? new Parent(versions) : null;
  }

  get state(): LaunchState {
    return readState(this.versions);
  }

  /** Tells how the process does until the signal aborts. */
  tell(read: () => Told, signal: AbortSignal): void {
    const timer = setInterval(() => this.#send({ kind: "told", ...read() }), TELL_EVERY).unref();
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  switchTo(wish: Omit<SwitchWish, "kind">): void {
    this.#send({ kind: "switch", ...wish });
  }

  #send(message: Message): void {
    // A launcher that is gone takes no message. Its end ends this process too.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  }
}
