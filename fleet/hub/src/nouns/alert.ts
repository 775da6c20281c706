/** The log of alerts, both open and ended ones. */
import type { Queries, Value } from "boxwright-service/database";
import type { AlertKind } from "./alert-kind.ts";

export interface Alert {
  readonly id: string;
  readonly rule_id: string;
  readonly rule_name: string;
  readonly kind: AlertKind;
  /** Id of the device, group or key with the fault, or `tag:` and a tag. */
  readonly subject: string;
  readonly subject_name: string;
  readonly began_at: number;
  /** Null while the alert is open. */
  readonly ended_at: number | null;
  /**
   * Time at which the message about the alert was queued. Null while the alert waits for other alerts to share its
   * message, or is silenced.
   */
  readonly told_at: number | null;
}

const COLUMNS = "id, rule_id, rule_name, kind, subject, subject_name, began_at, ended_at, told_at";

export interface AlertFilter {
  readonly open?: boolean | undefined;
  readonly subject?: string | undefined;
  /** Last alert of the page before: only alerts that opened earlier are on this page. */
  readonly before?: { readonly at: number; readonly id: string } | undefined;
}

/** Returns alerts of a team, the newest first. */
export function findAlerts(db: Queries, teamId: string, filter: AlertFilter, limit: number): Promise<Alert[]> {
  const params: Value[] = [teamId];
  let where = "team_id = ?";
  const add = (sql: string, ...values: Value[]): void => {
    where += ` AND ${sql}`;
    params.push(...values);
  };
  if (filter.open !== undefined) add(`ended_at IS ${filter.open ? "" : "NOT "}NULL`);
  if (filter.subject !== undefined) add("subject = ?", filter.subject);
  if (filter.before !== undefined) add("(began_at, id) < (?, ?)", filter.before.at, filter.before.id);
  return db.all<Alert>(`SELECT ${COLUMNS} FROM alerts WHERE ${where} ORDER BY began_at DESC, id DESC LIMIT ?`, [
    ...[...params, limit],
  ]);
}

/** Counts the open alerts of each rule of a team. */
export async function countOpen(db: Queries, teamId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await db.all<{ rule_id: string; count: number }>(
    "SELECT rule_id, count(*) AS count FROM alerts WHERE team_id = ? AND ended_at IS NULL GROUP BY rule_id",
    [teamId],
  );
  return new Map(rows.map(({ rule_id, count }) => [rule_id, count]));
}
