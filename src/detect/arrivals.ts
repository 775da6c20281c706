/**
 * Waits repeatedly for the next of several promises to settle. `Promise.race` would leak memory: a promise that stays
 * pending for the whole stream would keep the outcome, and so the image, of every earlier race.
 */

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/** A watched promise, with its outcome once it has settled. */
export class Arrival<T> {
  readonly promise: Promise<T>;
  #outcome: Outcome<T> | null = null;

  /** @param settled is called once the outcome is known */
  constructor(promise: Promise<T>, settled: (arrival: Arrival<T>) => void) {
    this.promise = promise;
    promise.then(
      (value) => {
        this.#outcome = { value };
        settled(this);
      },
      (error: unknown) => {
        this.#outcome = { error };
        settled(this);
      },
    );
  }

  /** Returns the value of a settled promise, or throws its error. */
  take(): T {
    const outcome = this.#outcome as Outcome<T>;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}

/** The error that `next` throws after `stop`. */
export const STOPPED = /* @__PURE__ */ new Error("The detector was closed.");

/** Delivers the promises of a stream in the order in which they settle, until a signal aborts or `stop` is called. */
export class Arrivals {
  readonly #signal: AbortSignal | undefined;
  readonly #settled: unknown[] = [];
  readonly #wakeUp = (): void => this.#wake?.();
  #wake: (() => void) | null = null;
  #isStopped = false;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#wakeUp);
  }

  watch<T>(value: Promise<T> | T): Arrival<T> {
    return new Arrival(Promise.resolve(value), (arrival) => {
      this.#settled.push(arrival);
      this.#wakeUp();
    });
  }

  /** Resolves to the next settled `Arrival`. Throws the signal's reason after an abort, or `STOPPED` after `stop`. */
  async next(): Promise<unknown> {
    while (this.#settled.length === 0 && !this.#signal?.aborted && !this.#isStopped)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#isStopped) throw STOPPED;
    if (this.#signal?.aborted) throw this.#signal.reason as Error;
    return this.#settled.shift();
  }

  /** Ends the stream: `next` throws from now on. */
  stop(): void {
    this.#isStopped = true;
    this.#wakeUp();
  }

  forgetSignal(): void {
    this.#signal?.removeEventListener("abort", this.#wakeUp);
  }
}
