/**
 * Counts the changes that devices of a team wait for: another version to run, or a request for a snap. Each counter is
 * in the database, so that all hub processes see a change.
 */
import type { Queries } from "boxwright-service/database";
import type { SetKind } from "./device-set.ts";

/** Counts a change. Call this in the transaction of the change, and call `Desired.wake` after the transaction. */
export async function countChange(tx: Queries, teamId: string, changes = 1): Promise<void> {
  await tx.all(
    "INSERT INTO team_changes (team_id, count) VALUES (?, ?) " +
      "ON CONFLICT (team_id) DO UPDATE SET count = team_changes.count + excluded.count",
    [teamId, changes],
  );
}

/**
 * Counts a change of the devices in the given sets if one of these sets has an assignment. Otherwise, writes the
 * counter unchanged: on PostgreSQL, a simultaneous assignment then conflicts, so that this transaction runs again and
 * sees the assignment.
 */
export async function countSetChange(
  tx: Queries,
  teamId: string,
  kind: SetKind,
  ids: readonly string[],
): Promise<void> {
  const given = await tx.all<{ target_id: string }>(
    "SELECT target_id FROM assignments WHERE team_id = ? AND kind = ?",
    [teamId, kind],
  );
  await countChange(tx, teamId, given.some(({ target_id }) => ids.includes(target_id)) ? 1 : 0);
}

/**
 * Returns a text that changes whenever any team has a change. The query returns a single row, since each process runs
 * the query every second.
 */
export async function readChangeMark(db: Queries): Promise<string> {
  const [row] = await db.all<{ teams: number; changes: number | null }>(
    "SELECT count(*) AS teams, CAST(sum(count) AS BIGINT) AS changes FROM team_changes",
  );
  return `${row?.teams} ${row?.changes}`;
}

/** Returns the number of changes of each team, for teams with changes. */
export async function readChanges(db: Queries): Promise<Map<string, number>> {
  const rows = await db.all<{ team_id: string; count: number }>("SELECT team_id, count FROM team_changes");
  return new Map(rows.map(({ team_id, count }) => [team_id, count]));
}
