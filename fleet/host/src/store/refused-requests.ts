/** Records requests that the host refused for good. No sender can fill the table, or keep the database busy. */
import { Buckets } from "boxwright-service/bucket";
import type { Database } from "boxwright-service/database";
import { messageOf } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";
import { type RefusedRow, addRefused, hashOf } from "./refused.ts";

/** Rows of its own that a sender gets: 100 at once, then one every quarter of an hour. Further refusals share a row. */
const OWN_ROWS = { rate: 1 / 900, burst: 100 } as const;
/** Most rows of a sender that stay. */
const MOST_OF_SENDER = 200;
/** Most rows that wait for the database. Refusals beyond are only counted in the metrics. */
const MOST_WAITING = 1000;
const WRITE_AFTER_MS = 1000;

export type RefusedRequest = Omit<RefusedRow, "at" | "way" | "count">;

export class RefusedRequests {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #ownRows = new Buckets(OWN_ROWS);
  #waiting = new Map<string, RefusedRow>();
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();
  #isFailing = false;

  constructor({ db, log, now }: { readonly db: Database; readonly log: Logger; readonly now: () => number }) {
    this.#db = db;
    this.#log = log;
    this.#now = now;
  }

  /** Takes a refusal. The database has it about a second later. */
  take(request: RefusedRequest): void {
    const { place, reason, source, id, bytes } = request;
    const at = this.#now();
    const hasOwnRow = this.#ownRows.take(place, at) === 0;
    const hash = hashOf(hasOwnRow ? [place, reason, source, id, bytes] : [place, reason]);
    const count = this.#waiting.get(hash)?.count ?? 0;
    if (count === 0 && this.#waiting.size >= MOST_WAITING) return;
    this.#waiting.set(hash, { ...request, at, way: "http", count: count + 1 });
    this.#timer ??= setTimeout(() => void this.write(), WRITE_AFTER_MS).unref();
  }

  /** Writes the refusals that wait. Resolves even if the database takes none: they then wait for the next one. */
  write(): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write()));
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const rows = this.#waiting;
    if (rows.size === 0) return;
    this.#waiting = new Map();
    try {
      await addRefused(this.#db, rows, MOST_OF_SENDER);
      this.#isFailing = false;
    } catch (error) {
      for (const [hash, row] of this.#waiting)
        rows.set(hash, { ...row, count: row.count + (rows.get(hash)?.count ?? 0) });
      this.#waiting = rows;
      if (!this.#isFailing) this.#log.error({ error: messageOf(error) }, "cannot record refused packets");
      this.#isFailing = true;
    }
  }
}
