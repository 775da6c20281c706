/** Records permanently refused requests. Limits protect the table and the database from senders with many refusals. */
import { setTimeout as sleep } from "node:timers/promises";
import { Buckets } from "boxwright-service/bucket";
import type { Database } from "boxwright-service/database";
import { messageOf } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";
import { type RefusedRow, addRefused, hashOf } from "./refused.ts";

/**
 * Rate at which a sender's refusals get separate rows: 100 at once, then one per quarter of an hour. Further refusals
 * share a row.
 */
const OWN_ROWS = { rate: 1 / 900, burst: 100 } as const;
/** Largest number of rows per sender. */
const MOST_OF_SENDER = 200;
/** Largest number of shared rows that wait for the database. Further refusals are counted in the metrics only. */
const MOST_WAITING = 1000;
/** Milliseconds between two writes of the counts in shared rows. */
const COUNT_AFTER_MS = 1000;
/** Smallest number of milliseconds between two transactions. Refusals in between go into the next transaction. */
const PAUSE_MS = 50;

export type RefusedRequest = Omit<RefusedRow, "at" | "way" | "count">;

type Rows = Map<string, RefusedRow>;

export class RefusedRequests {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #ownRows = new Buckets(OWN_ROWS);
  /** Rows of the next transaction, and a promise for its end. */
  #next: { readonly rows: Rows; readonly written: Promise<void> } | null = null;
  #shared: Rows = new Map();
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor({ db, log, now }: { readonly db: Database; readonly log: Logger; readonly now: () => number }) {
    this.#db = db;
    this.#log = log;
    this.#now = now;
  }

  /**
   * Takes a refusal. Resolves once its row is durable. Resolves at once for a refusal that shares a row, so that a
   * sender with many refusals does not keep the database busy. A killed host loses at most a second of these counts.
   * @throws if the database accepts no rows
   */
  take(request: RefusedRequest): Promise<void> {
    const { place, reason, source, id, bytes } = request;
    const at = this.#now();
    const row: RefusedRow = { ...request, at, way: "http", count: 1 };
    if (this.#ownRows.take(place, at) === 0) {
      this.#next ??= this.#begin();
      add(this.#next.rows, hashOf([place, reason, source, id, bytes]), row);
      return this.#next.written;
    }
    const hash = hashOf([place, reason]);
    if (this.#shared.size < MOST_WAITING || this.#shared.has(hash)) add(this.#shared, hash, row);
    this.#timer ??= setTimeout(() => void this.write(), COUNT_AFTER_MS).unref();
    return Promise.resolve();
  }

  /**
   * Writes the waiting refusals. Resolves even if the database accepts none: shared rows then wait for the next write.
   */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const rows = this.#shared;
    this.#shared = new Map();
    const writing = this.#queue(() => rows).catch(() => {
      for (const [hash, row] of rows) add(this.#shared, hash, row);
    });
    await Promise.all([writing, this.#next?.written.catch(() => undefined)]);
  }

  /** Reserves the next transaction, and returns the map that collects its rows. */
  #begin(): { rows: Rows; written: Promise<void> } {
    const rows: Rows = new Map();
    const written = this.#queue(() => {
      this.#next = null;
      return rows;
    });
    return { rows, written };
  }

  /** Writes rows in a transaction after all earlier transactions. Gets the rows from `take` just before writing. */
  #queue(take: () => Rows): Promise<void> {
    let pause: Promise<unknown> = Promise.resolve();
    const work = this.#last.then(async () => {
      const rows = take();
      if (rows.size === 0) return;
      try {
        await addRefused(this.#db, rows, MOST_OF_SENDER);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#log.error({ error: messageOf(error) }, "cannot record refused packets");
        this.#isFailing = true;
        throw error;
      } finally {
        // Start the pause now, but do not make this caller wait for its end.
        pause = sleep(PAUSE_MS, undefined, { ref: false });
      }
    });
    this.#last = work
      .catch(() => undefined)
      .then(() => pause)
      .then(() => undefined);
    return work;
  }
}

/** Adds a refusal to the row with its hash. The other fields get the values of the newer refusal. */
function add(rows: Rows, hash: string, row: RefusedRow): void {
  const before = rows.get(hash);
  const newer = before !== undefined && before.at > row.at ? before : row;
  rows.set(hash, { ...newer, count: row.count + (before?.count ?? 0) });
}
