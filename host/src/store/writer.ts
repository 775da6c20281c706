/** Stores frames in batches: all that arrive while one transaction runs go into the next. */
import type { Metrics } from "../core/metrics.ts";
import { type Database, DatabaseAway } from "./database.ts";
import { type StoredFrame, insertFrames } from "./frames.ts";

const MOST_FRAMES = 256;
/** How long a failure is told. Senders try again sooner. */
const MEMORY_MS = 90_000;

interface Waiting {
  readonly frame: StoredFrame;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export class Writer {
  readonly #db: Database;
  readonly #metrics: Metrics;
  readonly #waiting: Waiting[] = [];
  readonly #onProblem: (problem: string | null) => void;
  #running: Promise<void> | null = null;
  #problem: string | null = null;
  #failedAt = -Infinity;

  /** @param onProblem is called when the database begins to refuse frames, and with null when it takes them again */
  constructor(db: Database, metrics: Metrics, onProblem: (problem: string | null) => void = () => undefined) {
    this.#db = db;
    this.#metrics = metrics;
    this.#onProblem = onProblem;
  }

  /** Why the database took no frames of late, such as a full disk; null if it took the last ones. */
  get problem(): string | null {
    // Without senders nothing would tell that it has gone.
    return performance.now() - this.#failedAt < MEMORY_MS ? this.#problem : null;
  }

  /** Count of frames that wait for a transaction. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Stores a frame. Resolves once it is durable: true if it is new, false if it was there. */
  store(frame: StoredFrame): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ frame, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // Let the frames that are ready in this turn of the event loop come along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#store(this.#waiting.splice(0, MOST_FRAMES));
    this.#running = null;
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    const frames = batch.map(({ frame }) => frame);
    try {
      const isNew = await this.#db.write((tx) => insertFrames(tx, frames));
      this.#note(null);
      this.#metrics.batch.observe(batch.length);
      batch.forEach(({ resolve }, i) => resolve(isNew[i]!));
    } catch (error) {
      if (error instanceof DatabaseAway) {
        this.#failedAt = performance.now();
        this.#note(error.message);
      }
      // One frame that the database does not take must not cost the others.
      if (batch.length === 1 || error instanceof DatabaseAway) batch.forEach(({ reject }) => reject(error));
      else for (const one of batch) await this.#store([one]);
    }
  }

  #note(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#onProblem(problem);
  }
}
