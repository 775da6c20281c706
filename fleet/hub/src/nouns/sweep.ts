/**
 * Deletes old rows: history, logs and shadow reports of devices, removed devices, revocations, snaps and audit rows.
 */
import type { Database, Queries } from "boxwright-service/database";
import type { Logger } from "boxwright-service/log";
import { TrustedClock } from "boxwright-service/trusted-clock";
import type { Files } from "../files/files.ts";
import { deleteOldAudit } from "./audit.ts";
import { deleteOldRevocations } from "./credential.ts";
import { deleteOldLogs } from "./device-log.ts";
import { deleteLeftovers } from "./leftovers.ts";
import { deleteOldShadows } from "./shadow-report.ts";
import { sweepSnaps, type RetentionLimits } from "./snap-deletion.ts";
import { deleteOldHours } from "./status.ts";

const DAY_MS = 86_400_000;
const ROWS_A_SWEEP = 5000;
const DEVICES_A_SWEEP = 100;

export interface SweepOptions {
  readonly db: Database;
  readonly files: Files;
  readonly now: () => number;
  readonly log: Logger;
  readonly config: RetentionLimits & { readonly auditDays: number };
}

/**
 * Makes a function that deletes some of the old rows at each call. A clock that ignores wrong system times decides what
 * is old.
 */
export function createSweep({ db, files, now, log, config }: SweepOptions): () => Promise<void> {
  let clock: Promise<TrustedClock> | undefined;
  const open = (): Promise<TrustedClock> => {
    const opening = TrustedClock.open({ db, newest: () => newestTime(db), now, log });
    // Open the clock again at the next call if this attempt fails.
    opening.catch(() => (clock = undefined));
    return (clock = opening);
  };
  // Open the clock now: it reads the newest time in the database, before a wrong system time can get into a row.
  void open();
  return async () => {
    try {
      const time = await (await (clock ?? open())).time();
      await deleteOldHours(db, time, ROWS_A_SWEEP);
      await deleteOldLogs(db, time, ROWS_A_SWEEP);
      await deleteOldShadows(db, time, ROWS_A_SWEEP);
      await deleteLeftovers(db, time, DEVICES_A_SWEEP);
      await deleteOldRevocations(db, time);
      await sweepSnaps(db, files, time, config);
      await deleteOldAudit(db, time - config.auditDays * DAY_MS, ROWS_A_SWEEP);
    } catch (error) {
      log.error({ err: error }, "old rows could not be deleted; the next time will try again");
    }
  };
}

/** Returns the time of the newest contact, snap or audit row, in milliseconds since 1970; null if there is none. */
async function newestTime(db: Queries): Promise<number | null> {
  const sources = [
    "SELECT max(last_contact_at) AS at FROM device_states",
    "SELECT max(received_at) AS at FROM snaps",
    "SELECT max(at) AS at FROM audit",
  ];
  const [row] = await db.all<{ at: number | null }>(
    `SELECT max(at) AS at FROM (${sources.join(" UNION ALL ")}) AS newest`,
  );
  return row?.at ?? null;
}
