/** One call at a time: the calls of a detector share its memory and its result. */
import { TensorError } from "../core/errors.ts";

/** The calls of a detector, of which one may run. After `close` none may begin. */
export class OneCall {
  #isRunning = false;
  #isClosed = false;
  /** Ends the call that runs, if it is a loop. */
  #endLoop: (() => void) | undefined;
  /** Tells a `close` that waits that the call has left. */
  #onLeave: (() => void) | undefined;

  /**
   * Throws a TensorError if another call runs, or if the detector is closed.
   * @param end ends the call, if it is a loop
   */
  enter(call: string, end?: () => void): void {
    if (this.#isClosed)
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

  /** Lets no further call in, ends a loop, and waits for the call that runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (!this.#isRunning) return;
    const left = new Promise<void>((resolve) => (this.#onLeave = resolve));
    this.#endLoop?.();
    await left;
  }
}
