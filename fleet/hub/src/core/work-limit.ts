/** Runs at most `atOnce` pieces of work at a time, and lets other requests run after each piece. */
export class WorkLimit {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Pause between two pieces of work. SQLite answers synchronously, so otherwise all waiting work would run in one
      // turn of the event loop.
      setImmediate(() => this.#pass());
    }
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
