/**
 * Stores frames in batches. Frames that arrive during a transaction go into the next one. Senders wait for an answer
 * before they send again, so after a batch their next frames arrive nearly together. The next batch waits for them.
 * Otherwise, the first frame would cause a sync of its own, and the others would wait for two syncs.
 */
import type { Metrics } from "../core/metrics.ts";
import type { Database, Queries } from "boxwright-service/database";
import { UnavailableError } from "boxwright-service/errors";
import { type NewFrame, insertFrames } from "./frames.ts";

const MOST_FRAMES = 256;
/** Fraction of a batch's duration for which the next batch waits for frames, and largest number of milliseconds. */
const GATHERING = 0.25;
const MOST_GATHERING_MS = 100;
/** Duration of a batch in milliseconds below which the next batch does not wait, since the disk is fast enough. */
const QUICK_MS = 4;
/** Milliseconds after which a failure no longer counts as a problem. Senders retry within that time. */
const MEMORY_MS = 90_000;

interface Waiting {
  readonly frame: NewFrame;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriterOptions {
  /** Called with the problem when the database starts to refuse frames, and with null when it accepts them again. */
  readonly onProblem?: (problem: string | null) => void;
  /** Adds rows about new frames in the transaction that stores them. This transaction may run more than once. */
  readonly onInsert?: (tx: Queries, frames: readonly NewFrame[]) => Promise<void>;
  /** Called with new frames once they are durable. */
  readonly onDurable?: (frames: readonly NewFrame[]) => void;
}

export class Writer {
  readonly #db: Database;
  readonly #metrics: Metrics;
  readonly #waiting: Waiting[] = [];
  readonly #options: WriterOptions;
  #running: Promise<void> | null = null;
  /** Number of frames that may come soon: as many as were in the last batch, and as waited when that batch ended. */
  #expected = 0;
  /** Duration of the last batch in milliseconds. */
  #took = 0;
  /** Ends the wait for more frames. */
  #enough: (() => void) | null = null;
  #problem: string | null = null;
  #failedAt = -Infinity;

  constructor(db: Database, metrics: Metrics, options: WriterOptions = {}) {
    this.#db = db;
    this.#metrics = metrics;
    this.#options = options;
  }

  /** Why the database recently accepted no frames, such as a full disk; null if it accepted the last ones. */
  get problem(): string | null {
    // Drop an old failure: if no frames come, no success would ever clear it.
    return performance.now() - this.#failedAt < MEMORY_MS ? this.#problem : null;
  }

  /** Number of frames that wait for a transaction. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Stores a frame. Resolves once the frame is durable: true for a new frame, false for one that was stored before. */
  store(frame: NewFrame): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ frame, resolve, reject });
      if (this.#hasEnough()) this.#enough?.();
      this.#running ??= this.#run();
    });
  }

  /** Resolves when no frames wait. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // Wait for the end of this turn of the event loop, so that ready frames join the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      await this.#gather();
      await this.#store(this.#waiting.splice(0, MOST_FRAMES));
    }
    this.#running = null;
  }

  #hasEnough = (): boolean => this.#waiting.length >= this.#expected;

  /** Waits for frames that may come soon, for a fraction of the last batch's duration. */
  async #gather(): Promise<void> {
    if (this.#hasEnough() || this.#took < QUICK_MS) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(MOST_GATHERING_MS, this.#took * GATHERING));
      this.#enough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#enough = null;
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    const frames = batch.map(({ frame }) => frame);
    const begin = performance.now();
    try {
      const isNew = await this.#db.write(async (tx) => {
        const isNew = await insertFrames(tx, frames);
        const fresh = frames.filter((_, i) => isNew[i]);
        await this.#options.onInsert?.(tx, fresh);
        return isNew;
      });
      this.#took = performance.now() - begin;
      this.#expected = Math.min(MOST_FRAMES, batch.length + this.#waiting.length);
      this.#options.onDurable?.(frames.filter((_, i) => isNew[i]));
      this.#note(null);
      this.#metrics.batch.observe(batch.length);
      batch.forEach(({ resolve }, i) => resolve(isNew[i]!));
    } catch (error) {
      if (error instanceof UnavailableError) {
        this.#failedAt = performance.now();
        this.#note(error.message);
      }
      // Store the frames one by one, since the database may refuse only some of them.
      if (batch.length === 1 || error instanceof UnavailableError) batch.forEach(({ reject }) => reject(error));
      else for (const one of batch) await this.#store([one]);
    }
  }

  #note(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem?.(problem);
  }
}
