/** One call at a time: the calls of a detector share its memory and its result. */
import { TensorError } from "../core/errors.ts";

/** The calls of a detector, of which one may run. After `close` none may. */
export class OneCall {
  #running: string | null = null;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Throws a TensorError if another call runs, or if the detector is closed. */
  enter(call: string): void {
    if (this.#isClosed)
      throw new TensorError(`${call}() was called on a detector that is closed. Make another one.`);
    if (this.#running !== null)
      throw new TensorError(
        call === "close"
          ? `close() was called while ${this.#running}() of the same detector has not ended. Await it first, or ` +
              "leave its loop."
          : `${call}() was called while another call of the same detector has not ended, and both have one ` +
              "result. Await it first, or use detectAll().",
      );
    this.#running = call;
  }

  leave(): void {
    this.#running = null;
  }

  /** Lets no further call in. Throws as `enter` does. */
  close(): void {
    this.enter("close");
    this.leave();
    this.#isClosed = true;
  }
}
