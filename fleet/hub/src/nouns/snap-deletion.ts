/**
 * Deletes snaps: on request, by age, and when a team exceeds its limit of bytes. Rows are deleted first, then files. If
 * the hub is killed in between, `deleteOrphans` later finds the file.
 */
import type { Database, Queries } from "boxwright-service/database";
import type { FilePlace, Files } from "../files/files.ts";
import { findSnaps, type SnapFilter } from "./snap-query.ts";

/** Number of snaps in one transaction. */
const AT_ONCE = 100;
const DAY_MS = 86_400_000;

const marks = (list: readonly unknown[]): string => list.map(() => "?").join(", ");

/**
 * Deletes snaps of a team. Deletes their files too, except files that another snap has as well. Returns the number of
 * deleted snaps.
 */
export async function deleteSnaps(db: Database, files: Files, teamId: string, ids: readonly string[]): Promise<number> {
  let deleted = 0;
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const gone = await db.write(async (tx) => {
      const list = marks(some);
      const hashes = await tx.all<{ sha256: string }>(
        `DELETE FROM snap_files WHERE team_id = ? AND snap_id IN (${list}) RETURNING sha256`,
        [teamId, ...some],
      );
      for (const table of ["snap_tags", "snap_extras"])
        await tx.all(`DELETE FROM ${table} WHERE team_id = ? AND snap_id IN (${list})`, [teamId, ...some]);
      const rows = await tx.all(`DELETE FROM snaps WHERE team_id = ? AND id IN (${list}) RETURNING id`, [
        teamId,
        ...some,
      ]);
      return { count: rows.length, hashes: new Set(hashes.map(({ sha256 }) => sha256)) };
    });
    deleted += gone.count;
    for (const sha256 of gone.hashes) await removeUnused(db, files, { team: teamId, kind: "snaps", sha256 });
  }
  return deleted;
}

/** Deletes at most `limit` snaps that match a filter. */
export async function deleteSnapsBy(
  db: Database,
  files: Files,
  teamId: string,
  filter: SnapFilter,
  limit: number,
): Promise<number> {
  const ids = (await findSnaps(db, teamId, filter, { limit })).map(({ id }) => id);
  return deleteSnaps(db, files, teamId, ids);
}

async function removeUnused(db: Queries, files: Files, place: FilePlace): Promise<void> {
  if (!(await isUsed(db, place))) await files.remove(place);
}

async function isUsed(db: Queries, { team, kind, sha256 }: FilePlace): Promise<boolean> {
  const table = kind === "models" ? "models" : "snap_files";
  const rows = await db.all(`SELECT sha256 FROM ${table} WHERE team_id = ? AND sha256 = ? LIMIT 1`, [team, sha256]);
  return rows.length > 0;
}

export interface RetentionLimits {
  readonly snapDays: number;
  readonly teamSnapBytes: number;
}

/** Deletes snaps that are too old or were never completed, and snaps of teams above their limit of bytes. */
export async function sweepSnaps(db: Database, files: Files, now: number, limits: RetentionLimits): Promise<number> {
  let deleted = 0;
  const teams = await db.all<{ team_id: string; bytes: number }>(
    "SELECT team_id, CAST(sum(bytes) AS BIGINT) AS bytes FROM snaps GROUP BY team_id",
  );
  for (const { team_id, bytes } of teams) {
    const old = await db.all<{ id: string }>(
      "SELECT id FROM snaps WHERE team_id = ? AND (created_at < ? OR (complete_at IS NULL AND received_at < ?)) LIMIT 1000",
      [team_id, now - limits.snapDays * DAY_MS, now - DAY_MS],
    );
    deleted += await deleteSnaps(
      db,
      files,
      team_id,
      old.map(({ id }) => id),
    );
    if (bytes > limits.teamSnapBytes) deleted += await makeRoom({ db, files }, team_id, bytes - limits.teamSnapBytes);
  }
  return deleted;
}

/**
 * Frees `bytes`: deletes some of the oldest snaps of the device with the most bytes, and repeats this until enough is
 * free. So no device displaces the snaps of other devices.
 * @param kept a snap that is not deleted
 */
export async function makeRoom(
  { db, files }: { readonly db: Database; readonly files: Files },
  teamId: string,
  bytes: number,
  kept = "",
): Promise<number> {
  let deleted = 0;
  for (let left = bytes; left > 0;) {
    const [most] = await db.all<{ device_id: string }>(
      "SELECT device_id FROM snaps WHERE team_id = ? AND id <> ? GROUP BY device_id ORDER BY sum(bytes) DESC LIMIT 1",
      [teamId, kept],
    );
    if (most === undefined) break;
    const oldest = await db.all<{ id: string; bytes: number }>(
      "SELECT id, bytes FROM snaps WHERE team_id = ? AND device_id = ? AND id <> ? ORDER BY created_at, id LIMIT 20",
      [teamId, most.device_id, kept],
    );
    const ids: string[] = [];
    for (const snap of oldest) {
      if (left <= 0) break;
      ids.push(snap.id);
      left -= snap.bytes;
    }
    deleted += await deleteSnaps(db, files, teamId, ids);
  }
  return deleted;
}

/** Milliseconds without a new byte after which an unfinished model file is deleted. */
const PART_MS = DAY_MS;

/**
 * Deletes files that no database row names, parts of files whose upload was abandoned, and the rows of model files that
 * were never completed.
 * @param graceMs files that changed within this time stay, since their row may not be written yet
 */
export async function deleteOrphans(db: Database, files: Files, now: number, graceMs = 600_000): Promise<number> {
  let deleted = 0;
  for await (const { place, isPart, changedAt, remove } of files.list()) {
    if (changedAt >= now - graceMs) continue;
    const isNeeded = await isUsed(db, place);
    // Delete parts that a killed hub left: a part whose complete file is in the store already, or a copy for reading.
    const isPartNeeded = async () => changedAt >= now - PART_MS && (await files.size(place)) === undefined;
    if (isNeeded && (!isPart || (await isPartNeeded()))) continue;
    await remove();
    deleted++;
  }
  await db.write((tx) =>
    tx.all("DELETE FROM models WHERE complete_at IS NULL AND created_at < ?", [now - 2 * PART_MS]),
  );
  return deleted;
}
