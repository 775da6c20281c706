/**
 * Keeps the snaps of each team within its limit of bytes. When a new snap exceeds the limit, deletes the oldest snaps
 * of the device with the most bytes. The number of bytes is cached, and read again every minute, since other processes
 * and people change the number.
 */
import type { Database, Queries } from "boxwright-service/database";
import type { Files } from "../files/files.ts";
import { makeRoom } from "./snap-deletion.ts";

const COUNT_MS = 60_000;
/** Fraction of the limit that a deletion frees beyond the needed bytes, so that not every snap causes a deletion. */
const FREE = 0.01;

interface Counted {
  bytes: number;
  readonly at: number;
}

export class SnapQuota {
  readonly #teams = new Map<string, Counted>();

  /** Deletes other snaps if the newly added snap makes its team exceed `limit` bytes. */
  async admit(
    { db, files }: { readonly db: Database; readonly files: Files },
    now: number,
    snap: { readonly teamId: string; readonly id: string; readonly bytes: number },
    limit: number,
  ): Promise<void> {
    const { teamId, id, bytes } = snap;
    const known = this.#teams.get(teamId);
    if (known !== undefined && Math.abs(now - known.at) < COUNT_MS) {
      known.bytes += bytes;
      if (known.bytes <= limit) return;
    }
    const used = await countSnapBytes(db, teamId);
    this.#teams.set(teamId, { bytes: used, at: now });
    if (used <= limit) return;
    await makeRoom({ db, files }, teamId, used - limit * (1 - FREE), id);
    this.#teams.delete(teamId);
  }
}

/** Returns the bytes of all snaps of a team. */
export async function countSnapBytes(db: Queries, teamId: string): Promise<number> {
  const sql = "SELECT CAST(sum(bytes) AS BIGINT) AS bytes FROM snaps WHERE team_id = ?";
  return (await db.all<{ bytes: number | null }>(sql, [teamId]))[0]?.bytes ?? 0;
}
