/** Lets a detector run one call at a time, since all of its calls share one memory and one result. */
import { TensorError } from "../core/errors.ts";

/** The calls of a detector. At most one runs at a time. After `close`, none begins. */
export class OneCall {
  #isRunning = false;
  #closing: Promise<void> | undefined;
  /** Ends the running call. Undefined if the call is not a loop. */
  #endLoop: (() => void) | undefined;
  /** Resolves a `close` that waits for the running call. */
  #onLeave: (() => void) | undefined;

  /** Begins a call. Throws a TensorError if another call runs, or the detector is closed. `end` ends a loop. */
  enter(call: string, end?: () => void): void {
    if (this.#closing)
      throw new TensorError(`${call}() was called on a detector that is closed. Make another one.`);
    if (this.#isRunning)
      throw new TensorError(
        `${call}() was called while another call of the same detector has not ended, and both have one ` +
          "result. Await it first, or use detectAll().",
      );
    this.#isRunning = true;
    this.#endLoop = end;
  }

  leave(): void {
    this.#isRunning = false;
    this.#onLeave?.();
  }

  /** Refuses later calls, ends a running loop, waits for the running call, and calls `free` once. */
  close(free: () => Promise<void>): Promise<void> {
    return (this.#closing ??= this.#left().then(free));
  }

  /** Resolves when no call runs. Ends a running loop. */
  async #left(): Promise<void> {
    if (!this.#isRunning) return;
    const left = new Promise<void>((resolve) => (this.#onLeave = resolve));
    this.#endLoop?.();
    await left;
  }
}
