/** Stores frames in batches: all that arrive while one transaction runs go into the next. */
import type { Metrics } from "../core/metrics.ts";
import { type Database, DatabaseAway } from "./database.ts";
import { type StoredFrame, insertFrames } from "./frames.ts";

const MOST_FRAMES = 256;

interface Waiting {
  readonly frame: StoredFrame;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export class Writer {
  readonly #db: Database;
  readonly #metrics: Metrics;
  readonly #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;

  constructor(db: Database, metrics: Metrics) {
    this.#db = db;
    this.#metrics = metrics;
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
      this.#metrics.batch.observe(batch.length);
      batch.forEach(({ resolve }, i) => resolve(isNew[i]!));
    } catch (error) {
      // One frame that the database does not take must not cost the others.
      if (batch.length === 1 || error instanceof DatabaseAway) batch.forEach(({ reject }) => reject(error));
      else for (const one of batch) await this.#store([one]);
    }
  }
}
