/**
 * Compares rules with the devices. A new fault opens an alert. When the fault has been away for a while, the alert
 * ends. Each alert is a row in the database, so that a killed hub forgets no alert.
 *
 * A device that goes online and offline again and again would cause a message each time. So an alert ends only after
 * its fault has stayed away for a while. This time doubles with each alert of the same device and rule, up to an hour.
 */
import type { Database, Value } from "boxwright-service/database";
import { changeInTurns, eachSlice, EVERYTHING, isInSlice, ROWS_CHANGED, type Slice } from "../database/slices.ts";
import { isOfDevices, KINDS, sourceOf } from "../nouns/alert-kind.ts";
import { isInSet } from "../nouns/device-set.ts";
import type { AlertRule } from "../nouns/alert-rule.ts";
import { offlineMs } from "../nouns/status.ts";

/** Milliseconds for which a fault must be away before the first alert about it ends. */
export const HOLD_MS = 60_000;
const LONGEST_HOLD_MS = 3_600_000;
/** Milliseconds after which an ended alert no longer doubles the hold time of the next alert. */
const FORGET_MS = 6 * 3_600_000;

interface Condition {
  readonly sql: string;
  readonly params: readonly Value[];
}

/**
 * Returns the FROM and WHERE clauses that find the subjects with the fault of a rule. IS TRUE keeps PostgreSQL from
 * joining the devices of a slice with all members of a group, row by row, while it has no statistics of new tables.
 */
function conditionOf({ kind, threshold, team_id, group_id, tag }: AlertRule, now: number): Condition {
  const { sql, params } = KINDS[kind].where(threshold, now);
  const parts = ["d.team_id = ?", `(${sql})`];
  const all: Value[] = [team_id, ...params];
  for (const [set, id] of [
    ["group", group_id],
    ["tag", tag],
  ] as const) {
    if (id === null || !isOfDevices(kind)) continue;
    parts.push(`(${isInSet(set)}) IS TRUE`);
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
  await endAlerts(db, rule, condition, now);
}

/** Opens an alert for each subject that has the fault and no open alert. */
async function openAlerts(db: Database, rule: AlertRule, condition: Condition, now: number): Promise<void> {
  const { id, name, kind, team_id } = rule;
  const hold =
    `coalesce((SELECT CASE WHEN p.hold_ms * 2 > ${LONGEST_HOLD_MS} THEN ${LONGEST_HOLD_MS} ELSE p.hold_ms * 2 END FROM alerts p ` +
    `WHERE p.rule_id = ? AND p.subject = d.id AND p.ended_at > ? ORDER BY p.ended_at DESC LIMIT 1), ${HOLD_MS})`;
  const values =
    `CAST(? AS TEXT) || d.id, d.team_id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), d.id, d.name, ` +
    `CAST(? AS BIGINT), ${hold}`;
  // State the slice for both tables: PostgreSQL without statistics looks for each device among all states.
  const columns = isOfDevices(kind) ? ["d.id", "s.device_id"] : ["d.id"];
  const isNew =
    `${condition.sql} AND ${columns.map(isInSlice).join(" AND ")} ` +
    "AND (EXISTS (SELECT 1 FROM alerts o WHERE o.rule_id = ? AND o.subject = d.id AND o.ended_at IS NULL)) IS FALSE";
  const text =
    "INSERT INTO alerts (id, team_id, rule_id, rule_name, kind, subject, subject_name, began_at, hold_ms) " +
    `SELECT ${values} ${isNew} LIMIT ${ROWS_CHANGED} ON CONFLICT DO NOTHING`;
  const openIn = async (slice: Slice): Promise<void> => {
    const params = [...condition.params, ...columns.flatMap(() => slice), id];
    // Read first: most of the time nothing is new, and a write would keep other writes waiting.
    if ((await db.all(`SELECT 1 AS one ${isNew} LIMIT 1`, params)).length === 0) return;
    await changeInTurns(db, text, [`${now}.${id}.`, id, name, kind, now, id, now - FORGET_MS, ...params]);
  };
  if (!isOfDevices(kind)) return openIn(EVERYTHING);
  await eachSlice(db, { id: "d.id", from: "FROM devices d WHERE d.team_id = ?", params: [team_id] }, openIn);
}

/** Records since when each fault is away, and ends the alerts whose faults have been away long enough. */
async function endAlerts(db: Database, { id }: AlertRule, { sql, params }: Condition, now: number): Promise<void> {
  const isOpen = "a.rule_id = ? AND a.ended_at IS NULL";
  const isThere = (alerts: string): string => `EXISTS (SELECT 1 ${sql} AND d.id = ${alerts}.subject)`;
  const isChanging =
    `FROM alerts a WHERE ${isOpen} AND ${isInSlice("a.subject")} AND ` +
    `CASE WHEN ${isThere("a")} THEN a.calm_since IS NOT NULL ELSE a.calm_since IS NULL OR a.calm_since + a.hold_ms <= ? END`;
  const text =
    `UPDATE alerts SET calm_since = CASE WHEN ${isThere("alerts")} THEN NULL ELSE coalesce(calm_since, ?) END, ` +
    `ended_at = CASE WHEN calm_since + hold_ms <= ? AND NOT ${isThere("alerts")} THEN CAST(? AS BIGINT) END ` +
    `WHERE id IN (SELECT a.id ${isChanging} LIMIT ${ROWS_CHANGED})`;
  await eachSlice(db, { id: "a.subject", from: `FROM alerts a WHERE ${isOpen}`, params: [id] }, async (slice) => {
    const chosen = [id, ...slice, ...params, now];
    if ((await db.all(`SELECT 1 AS one ${isChanging} LIMIT 1`, chosen)).length === 0) return;
    await changeInTurns(db, text, [...params, now, now, ...params, now, ...chosen]);
  });
}

/** Deletes the alerts that ended before a time. */
export async function deleteOldAlerts(db: Database, before: number): Promise<void> {
  const isOld = "SELECT id FROM alerts WHERE ended_at < ? LIMIT";
  if ((await db.all(`${isOld} 1`, [before])).length === 0) return;
  await changeInTurns(db, `DELETE FROM alerts WHERE id IN (${isOld} ${ROWS_CHANGED})`, [before]);
}
