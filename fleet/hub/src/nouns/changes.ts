/**
 * Counts the changes that devices of a team wait for: another version to run, or a request for a snap. Each counter is
 * in the database, so that all hub processes see a change, on SQLite and PostgreSQL.
 */
import type { Queries } from "boxwright-service/database";

/** Counts a change. Call this in the transaction of the change, and call `Desired.wake` after the transaction. */
export async function countChange(tx: Queries, teamId: string): Promise<void> {
  await tx.all(
    "INSERT INTO team_changes (team_id, count) VALUES (?, 1) ON CONFLICT (team_id) DO UPDATE SET count = team_changes.count + 1",
    [teamId],
  );
}

/**
 * Returns a text that differs after any change of any team. This query reads one row only, since each process runs it
 * every second.
 */
export async function readChangeMark(db: Queries): Promise<string> {
  const [row] = await db.all<{ teams: number; changes: number | null }>(
    "SELECT count(*) AS teams, CAST(sum(count) AS BIGINT) AS changes FROM team_changes",
  );
  return `${row?.teams} ${row?.changes}`;
}

/** Returns the number of changes of each team that had any. */
export async function readChanges(db: Queries): Promise<Map<string, number>> {
  const rows = await db.all<{ team_id: string; count: number }>("SELECT team_id, count FROM team_changes");
  return new Map(rows.map(({ team_id, count }) => [team_id, count]));
}
