/**
 * Helpers for waiting: an abortable wait, a bell that wakes tasks, a queue of tasks, and a resource that is reopened
 * after a failure.
 */

/** Waits. Resolves early, without an error, if the signal aborts. */
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

/** Wakes waiting tasks. A woken task must check its condition again, since a ring only means that something changed. */
export class Bell {
  #waiting: (() => void)[] = [];

  /** Waits for the next ring, the signal's abort or the timeout, whichever comes first. */
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

/** A queue that runs one task at a time, in the order of the calls. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<R>(task: () => Promise<R>): Promise<R> {
    const mine = this.#last.then(task);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/** A resource that is opened at the first call, and opened again after it failed to open or was lost. */
export class Reopened<T> {
  readonly #open: (lose: () => void) => Promise<T>;
  #opening: Promise<T> | null = null;

  /**
   * @param open opens the resource. It gets a function to call when this resource is lost, so that the next call opens
   * another
   */
  constructor(open: (lose: () => void) => Promise<T>) {
    this.#open = open;
  }

  get(): Promise<T> {
    if (this.#opening !== null) return this.#opening;
    // Forget only this resource, since its loss may be noticed after the next one was opened.
    const lose = (): void => {
      if (this.#opening === opening) this.#opening = null;
    };
    const opening = this.#open(lose);
    opening.catch(lose);
    return (this.#opening = opening);
  }

  /** Returns the resource that is open or being opened; null if there is none. Opens nothing. */
  async current(): Promise<T | null> {
    return (await this.#opening?.catch(() => null)) ?? null;
  }
}
