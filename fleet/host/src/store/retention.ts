/** Deletes frames that were stored long ago, slowly and in small transactions, so that other writes hardly wait. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "boxwright-service/log";
import { messageOf } from "boxwright-service/errors";
import type { Database } from "boxwright-service/database";
import { TrustedClock } from "boxwright-service/trusted-clock";
import { settle } from "./count-seen.ts";
import { deleteSeen } from "./seen.ts";

/** Number of frames per transaction. Other writes wait for the transaction, about 20 ms on SQLite. */
const FRAMES_PER_TRANSACTION = 1000;
/** Largest number of frames per sweep: the frames of a minute at 1,000 per second. */
const MAX_FRAMES_PER_SWEEP = 60_000;
const SWEEP_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Number of newest frames whose mean size stands for all frames. */
const SAMPLE = 200;
/**
 * Bytes of a row in addition to its texts: numbers, and entries in four indexes. On SQLite, 210 to 260 were measured.
 */
const ROW_BYTES = 250;

export interface RetentionOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Days after which a frame is deleted; 0 keeps all. */
  readonly keepDays: number;
  /** Bytes of all frames above which the oldest are deleted; 0 for no limit. */
  readonly keepBytes: number;
  /** Called after a sweep that deleted frames. */
  readonly onDeleted?: () => Promise<void>;
  /** Returns the clock in milliseconds since 1970. */
  readonly now?: () => number;
  /** Returns a monotonic time in milliseconds. */
  readonly elapsed?: () => number;
}

/** Size of the stored frames, and its growth. */
export interface StoreSize {
  readonly frames: number;
  /** Estimated bytes of all frames. */
  readonly bytes: number;
  /** Estimated bytes that 30 days take at the rate of the last hour. */
  readonly bytesPerMonth: number;
}

export class Retention {
  readonly #options: Required<Omit<RetentionOptions, "onDeleted">> & Pick<RetentionOptions, "onDeleted">;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  #clock: TrustedClock | undefined;

  constructor(options: RetentionOptions) {
    this.#options = { now: Date.now, elapsed: () => performance.now(), ...options };
  }

  /** Reads the last trusted time. Call this before the other methods. */
  async open(): Promise<void> {
    const { db, log, now, elapsed } = this.#options;
    const newest = async (): Promise<number | null> =>
      (await db.all<{ at: number | null }>("SELECT max(stored_at) AS at FROM frames"))[0]?.at ?? null;
    this.#clock = await TrustedClock.open({ db, newest, now, elapsed, log });
  }

  /** Sweeps now and every minute, if there is a limit. */
  start(): void {
    const { keepDays, keepBytes } = this.#options;
    if (keepDays === 0 && keepBytes === 0) return;
    const sweep = (): void => void (this.#running = this.#running.then(() => this.#trySweep()));
    sweep();
    this.#timer = setInterval(sweep, SWEEP_MS);
  }

  /** Ends the sweeps after the running transaction. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Deletes frames beyond the limits, at most MAX_FRAMES_PER_SWEEP. Returns their number. */
  async sweep(): Promise<number> {
    const { db, keepDays, keepBytes } = this.#options;
    let deleted = 0;
    const remove = async (before: number, most: number): Promise<void> => {
      for (let rest = most; rest > 0 && !this.#isStopped;) {
        const begin = performance.now();
        const count = await deleteOldest(db, before, Math.min(FRAMES_PER_TRANSACTION, rest));
        deleted += count;
        rest -= count;
        if (count < FRAMES_PER_TRANSACTION) return;
        // Leave half of the time for requests: SQLite runs in this process, and a transaction blocks requests.
        await sleep(performance.now() - begin);
      }
    };
    if (keepDays > 0) await remove((await this.#clock!.time()) - keepDays * DAY_MS, MAX_FRAMES_PER_SWEEP);
    if (keepBytes > 0 && deleted < MAX_FRAMES_PER_SWEEP) {
      const { frames, bytes } = await sizeOf(db, this.#options.now());
      const excessFrames = bytes > keepBytes ? Math.ceil(frames * (1 - keepBytes / bytes)) : 0;
      await remove(Infinity, Math.min(excessFrames, MAX_FRAMES_PER_SWEEP - deleted));
    }
    if (deleted === 0) return 0;
    // Release the space first: the counts may fail, for example on a full disk.
    await releaseSpace(db);
    // Settle the counts before old ones are deleted, since those of a deleted frame may still wait.
    await settle(db);
    await db.write(deleteSeen);
    return deleted;
  }

  async #trySweep(): Promise<void> {
    const { log } = this.#options;
    try {
      const deleted = this.#isStopped ? 0 : await this.sweep();
      if (deleted === 0) return;
      log.info({ deleted }, "old frames deleted");
      await this.#options.onDeleted?.();
    } catch (error) {
      log.warn({ error: messageOf(error) }, "cannot delete old frames");
    }
  }

  /** Logs how much is stored, and for how long frames are kept. */
  async logSize(): Promise<void> {
    const { db, log, now, keepDays, keepBytes } = this.#options;
    const { frames, bytes, bytesPerMonth } = await sizeOf(db, now());
    const limits = [keepDays > 0 ? `${keepDays} days` : "", keepBytes > 0 ? readable(keepBytes) : ""].filter(Boolean);
    log.info(
      { frames, bytes, bytesPerMonth, keepDays, keepBytes },
      `${readable(bytes)} of frames stored; 30 days at the rate of the last hour take ${readable(bytesPerMonth)}; ` +
        (limits.length > 0 ? `older frames are deleted beyond ${limits.join(" or ")}` : "nothing is ever deleted"),
    );
  }
}

/** Returns a number of bytes as readable text. */
function readable(bytes: number): string {
  const unit = Math.min(4, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1000)));
  return `${(bytes / 1000 ** unit).toFixed(unit > 1 ? 1 : 0)} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}

/** Deletes the frames that were stored first, if they were stored before a time. Returns their number. */
export async function deleteOldest(db: Database, before: number, most: number): Promise<number> {
  const bound = Number.isFinite(before) ? Math.floor(before) : Number.MAX_SAFE_INTEGER;
  const rows = await db.write((tx) =>
    tx.all(
      "DELETE FROM frames WHERE (source, id) IN (SELECT source, id FROM frames WHERE stored_at < ? ORDER BY stored_at LIMIT ?) RETURNING id",
      [bound, most],
    ),
  );
  return rows.length;
}

/**
 * Returns the number of stored frames, their estimated bytes, and the bytes of a month at the rate of the last hour.
 */
export async function sizeOf(db: Database, now: number): Promise<StoreSize> {
  const frames = await countFrames(db);
  const [{ bytes: mean = 0 } = {}] = await db.all<{ bytes: number | null }>(
    `SELECT avg(length(detections) + length(source) * 4 + length(id) * 4 + length(subject) * 2 + length(coalesce(frame, ''))) AS bytes
      FROM (SELECT * FROM frames ORDER BY stored_at DESC LIMIT ${SAMPLE}) AS newest`,
  );
  const bytesPerFrame = mean === null || frames === 0 ? 0 : Number(mean) + ROW_BYTES;
  const [{ hour = 0 } = {}] = await db.all<{ hour: number }>(
    "SELECT count(*) AS hour FROM frames WHERE stored_at > ? AND stored_at <= ?",
    [Math.floor(now - HOUR_MS), Math.floor(now)],
  );
  return {
    frames,
    bytes: Math.round(frames * bytesPerFrame),
    bytesPerMonth: Math.round(hour * 24 * 30 * bytesPerFrame),
  };
}

/**
 * Returns the number of frames. Above 1e6 rows, uses PostgreSQL's estimate n_live_tup, since an exact count reads every
 * page.
 */
async function countFrames(db: Database): Promise<number> {
  if (db.kind === "postgres") {
    const [row] = await db.all<{ n: number }>(
      "SELECT n_live_tup AS n FROM pg_stat_user_tables WHERE relname = 'frames' AND schemaname = current_schema()",
    );
    if (row && row.n > 1e6) return row.n;
  }
  const [row] = await db.all<{ n: number }>("SELECT count(*) AS n FROM frames");
  return row?.n ?? 0;
}

/**
 * Gives the pages of deleted frames back to the file system. PostgreSQL does this by itself (autovacuum). SQLite frees
 * 5,000 pages of 4 kB, 20 MB, in 50 to 120 ms (measured), while other writes wait.
 */
async function releaseSpace(db: Database): Promise<void> {
  if (db.kind === "sqlite") await db.write((tx) => tx.all("PRAGMA incremental_vacuum(5000)"));
}
