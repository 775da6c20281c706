/** Waiting that can be ended, and how long to wait after failures. */

/** Waits. Returns early, without an error, if the signal ends it. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });
}

/** Time to wait after failures in a row: doubles up to a limit, with a fifth of chance so that devices do not march. */
export class Backoff {
  readonly #first: number;
  readonly #most: number;
  #failures = 0;

  constructor(first = 500, most = 30_000) {
    this.#first = first;
    this.#most = most;
  }

  /** Returns the milliseconds to wait after one more failure. */
  next(): number {
    const plain = Math.min(this.#most, this.#first * 2 ** Math.min(this.#failures++, 20));
    return plain * (0.9 + 0.2 * Math.random());
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** A condition that tasks wait for until another one says it may hold now. */
export class Bell {
  #waiting: (() => void)[] = [];

  /** Waits for the next ring, or the end of the signal, or the time. */
  async heard(signal?: AbortSignal, milliseconds = 60_000): Promise<void> {
    const end = new AbortController();
    const rung = (): void => end.abort();
    this.#waiting.push(rung);
    signal?.addEventListener("abort", rung);
    if (signal?.aborted) rung();
    await wait(milliseconds, end.signal);
    signal?.removeEventListener("abort", rung);
    this.#waiting = this.#waiting.filter((other) => other !== rung);
  }

  ring(): void {
    for (const rung of this.#waiting.splice(0)) rung();
  }
}

/** Runs one task at a time, in the order in which they came. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<R>(task: () => Promise<R>): Promise<R> {
    const mine = this.#last.then(task);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
