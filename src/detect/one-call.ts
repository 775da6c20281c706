/** One call at a time: the calls of a detector share its memory and its result. */
import { TensorError } from "../core/errors.ts";

/** The calls of a detector, of which one may run. After `close` none may begin. */
export class OneCall {
  #isRunning = false;
  #closing: Promise<void> | undefined;
  /** Ends the call that runs, if it is a loop. */
  #endLoop: (() => void) | undefined;
  /** Tells a `close` that waits that the call has left. */
  #onLeave: (() => void) | undefined;

  /**
   * Throws a TensorError if another call runs, or if the detector is closed.
   * @param end ends the call, if it is a loop
   */
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

  /** Lets no further call in, ends a loop, waits for the call that runs, and then calls `free`. Does so once. */
  close(free: () => Promise<void>): Promise<void> {
    return (this.#closing ??= this.#left().then(free));
  }

  /** Resolves when no call runs. Ends a loop. */
  async #left(): Promise<void> {
    if (!this.#isRunning) return;
    const left = new Promise<void>((resolve) => (this.#onLeave = resolve));
    this.#endLoop?.();
    await left;
  }
}
