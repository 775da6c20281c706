/**
 * Compares rules with the devices. A new fault opens an alert. When the fault has been away for a while, the alert
 * ends. Each alert is a row in the database, so that a killed hub forgets no alert.
 *
 * A device that goes online and offline again and again would cause a message each time. So an alert ends only after
 * its fault has stayed away for a while. This time doubles with each alert of the same device and rule, up to an hour.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database, Queries, Value } from "boxwright-service/database";
import { isOfDevices, KINDS, sourceOf } from "../nouns/alert-kind.ts";
import { isInSet } from "../nouns/device-set.ts";
import type { AlertRule } from "../nouns/alert-rule.ts";
import { offlineMs } from "../nouns/status.ts";

/** Milliseconds for which a fault must be away before the first alert about it ends. */
export const HOLD_MS = 60_000;
const LONGEST_HOLD_MS = 3_600_000;
/** Milliseconds after which an ended alert no longer doubles the hold time of the next alert. */
const FORGET_MS = 6 * 3_600_000;
/**
 * Largest number of rows that one statement changes. SQLite runs in this process, so other requests must wait for the
 * end of a statement. PostgreSQL scans all devices for each statement: opening 10,000 alerts in 40 statements took 52
 * s.
 */
const ROWS_A_TURN = { sqlite: 250, postgres: 20_000 };

interface Condition {
  readonly sql: string;
  readonly params: readonly Value[];
}

/** Returns the FROM and WHERE clauses that find the subjects with the fault of a rule. */
function conditionOf({ kind, threshold, team_id, group_id, tag }: AlertRule, now: number): Condition {
  const { sql, params } = KINDS[kind].where(threshold, now);
  const parts = ["d.team_id = ?", `(${sql})`];
  const all: Value[] = [team_id, ...params];
  for (const [set, id] of [
    ["group", group_id],
    ["tag", tag],
  ] as const) {
    if (id === null || !isOfDevices(kind)) continue;
    parts.push(isInSet(set));
    all.push(id);
  }
  return { sql: `FROM ${sourceOf(kind)} WHERE ${parts.join(" AND ")}`, params: all };
}

/**
 * Opens and ends alerts of a rule.
 * @param runningMs milliseconds since this process began to watch
 * @param beatSeconds seconds between two heartbeats of a device
 */
export async function watchRule(
  db: Database,
  rule: AlertRule,
  now: number,
  runningMs: number,
  beatSeconds: number,
): Promise<void> {
  const { kind, threshold } = rule;
  const needed = KINDS[kind].needs?.(threshold);
  if (needed !== undefined && runningMs < Math.max(needed, offlineMs(beatSeconds))) return;
  const condition = conditionOf(rule, now);
  await openAlerts(db, rule, condition, now);
  const [open] = await db.all("SELECT 1 AS one FROM alerts WHERE rule_id = ? AND ended_at IS NULL LIMIT 1", [rule.id]);
  if (open !== undefined) await endAlerts(db, rule, condition, now);
}

/** Opens an alert for each subject that has the fault and no open alert. */
async function openAlerts(db: Database, rule: AlertRule, { sql, params }: Condition, now: number): Promise<void> {
  const hold =
    `coalesce((SELECT CASE WHEN p.hold_ms * 2 > ${LONGEST_HOLD_MS} THEN ${LONGEST_HOLD_MS} ELSE p.hold_ms * 2 END FROM alerts p ` +
    `WHERE p.rule_id = ? AND p.subject = d.id AND p.ended_at > ? ORDER BY p.ended_at DESC LIMIT 1), ${HOLD_MS})`;
  const values =
    `CAST(? AS TEXT) || d.id, d.team_id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), d.id, d.name, ` +
    `CAST(? AS BIGINT), ${hold}`;
  const text =
    `INSERT INTO alerts (id, team_id, rule_id, rule_name, kind, subject, subject_name, began_at, hold_ms) SELECT ${values} ${sql} ` +
    `AND NOT EXISTS (SELECT 1 FROM alerts o WHERE o.rule_id = ? AND o.subject = d.id AND o.ended_at IS NULL) LIMIT ${ROWS_A_TURN[db.kind]} ` +
    "ON CONFLICT DO NOTHING RETURNING 1 AS done";
  const { id, name, kind } = rule;
  const first = [`${now}.${id}.`, id, name, kind, now, id, now - FORGET_MS];
  await inTurns(db, (tx) => tx.all(text, [...first, ...params, id]));
}

/** Records since when each fault is away, and ends the alerts whose faults have been away long enough. */
async function endAlerts(db: Database, { id }: AlertRule, { sql, params }: Condition, now: number): Promise<void> {
  const isThere = `EXISTS (SELECT 1 ${sql} AND d.id = alerts.subject)`;
  const some = (where: string): string =>
    `id IN (SELECT id FROM alerts WHERE rule_id = ? AND ended_at IS NULL AND ${where} LIMIT ${ROWS_A_TURN[db.kind]}) RETURNING 1 AS done`;
  await inTurns(db, (tx) =>
    tx.all(`UPDATE alerts SET calm_since = ? WHERE ${some(`calm_since IS NULL AND NOT ${isThere}`)}`, [
      ...[now, id, ...params],
    ]),
  );
  await inTurns(db, (tx) =>
    tx.all(`UPDATE alerts SET calm_since = NULL WHERE ${some(`calm_since IS NOT NULL AND ${isThere}`)}`, [
      ...[id, ...params],
    ]),
  );
  await inTurns(db, (tx) =>
    tx.all(`UPDATE alerts SET ended_at = ? WHERE ${some("calm_since + hold_ms <= ?")}`, [now, id, now]),
  );
}

/** Repeats a statement that changes at most ROWS_A_TURN rows, until an execution changes fewer rows. */
async function inTurns(db: Database, work: (tx: Queries) => Promise<readonly object[]>): Promise<void> {
  while ((await db.write(work)).length >= ROWS_A_TURN[db.kind]) await nextTurn();
}

/** Deletes up to 1000 of the alerts that ended before a time. */
export async function deleteOldAlerts(db: Database, before: number): Promise<void> {
  await db.write((tx) =>
    tx.all("DELETE FROM alerts WHERE id IN (SELECT id FROM alerts WHERE ended_at < ? LIMIT 1000) RETURNING 1 AS done", [
      before,
    ]),
  );
}
