/**
 * The audit log: one row for each change that a person, a key or the hub makes. Rows about lost access are never
 * deleted.
 */
import type { Database, Queries, Value } from "boxwright-service/database";
import { newId } from "../core/ids.ts";
import { changeInTurns, ROWS_CHANGED } from "../database/slices.ts";

export type AuditAction =
  | `team.${"created" | "renamed" | "removed"}`
  | `invite.${"created" | "ended"}`
  | `member.${"joined" | "removed" | "role_changed"}`
  | `user.${"created" | "removed"}`
  | "identity.linked"
  | `password.${"link_created" | "changed"}`
  | `key.${"created" | "rotated" | "revoked"}`
  | `device.${"added" | "renamed" | "removed" | "restored" | "enrolled" | "revoked" | "conflict_cleared" | "returned" | "paused" | "tagged" | "resumed" | "log_requested"}`
  | `returns.${"opened" | "closed"}`
  | `group.${"created" | "renamed" | "deleted" | "device_added" | "device_removed"}`
  | `adopt_key.${"created" | "revoked" | "deleted"}`
  | "audit.deleted"
  | `app.${"created" | "updated" | "version_saved" | "deleted" | "assigned" | "unassigned"}`
  | `rollout.${"ended" | "stopped" | "step_opened" | "completed"}`
  | `model.${"added" | "removed"}`
  | "snap.deleted"
  | `alert_rule.${"created" | "updated" | "deleted"}`
  | `alert_channel.${"created" | "renamed" | "deleted"}`
  | "alert.silenced"
  | "signing_key.replaced"
  | "backup.restored"
  | "signed_in"
  | "sign_in_failed"
  | "signed_out";

export interface AuditRow {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: AuditAction;
  readonly team_id: string | null;
  readonly subject: string;
}

/** A change of a team: its time, and the person or key that makes the change. */
export interface Change {
  readonly now: number;
  /** An email, `operator`, or `key` and the public id of an API key. */
  readonly actor: string;
  /**
   * Id of the person. Functions for administrators check the role of this person. Undefined: no person, no check.
   */
  readonly by?: string | undefined;
  readonly teamId: string;
}

/** A change by a person. Functions that neither the operator nor an API key may call take this. */
export type PersonalChange = Change & { readonly by: string };

/**
 * Adds a row. `actor` is an email, or `operator` for the command line. `subject` holds public ids, emails and names,
 * never a secret.
 */
export async function audit(
  tx: Queries,
  at: number,
  actor: string,
  action: AuditAction,
  teamId: string | null,
  subject: string,
): Promise<void> {
  await tx.all("INSERT INTO audit (id, at, actor, action, team_id, subject) VALUES (?, ?, ?, ?, ?, ?)", [
    newId(at),
    at,
    actor,
    action,
    teamId,
    subject,
  ]);
}

export interface AuditFilter {
  /** Start of an action's name: "device." selects all actions on devices. */
  readonly action?: string | undefined;
  /** Part of the subject or of the actor. */
  readonly subject?: string | undefined;
  /** Start of the page: only rows older than the row with this id. */
  readonly before?: string | undefined;
}

/** Returns a LIKE pattern that matches every text with `text` in it. */
const part = (text: string): string => `%${text.toLowerCase().replace(/[!%_]/g, "!$&")}%`;

/** Returns the matching rows of a team, the newest first. */
export function findAudit(db: Queries, teamId: string, filter: AuditFilter, limit: number): Promise<AuditRow[]> {
  const { action = "", subject = "", before } = filter;
  const params: Value[] = [teamId];
  let where = "team_id = ?";
  const add = (sql: string, ...values: Value[]): void => {
    where += ` AND ${sql}`;
    params.push(...values);
  };
  if (action !== "") add("substr(action, 1, CAST(? AS INTEGER)) = ?", action.length, action);
  if (subject !== "")
    add("(lower(subject) LIKE ? ESCAPE '!' OR lower(actor) LIKE ? ESCAPE '!')", part(subject), part(subject));
  if (before !== undefined) add("id < ?", before);
  const sql = `SELECT id, at, actor, action, team_id, subject FROM audit WHERE ${where} ORDER BY id DESC LIMIT ?`;
  return db.all<AuditRow>(sql, [...params, limit]);
}

/** Number of rows that an export reads at a time. */
const ROWS_A_TURN = 1000;

/** Yields all rows of a team, the oldest first, as lines of JSON. */
export async function* auditLines(db: Queries, teamId: string): AsyncGenerator<string> {
  for (let after = ""; ;) {
    const rows = await db.all<AuditRow>(
      "SELECT id, at, actor, action, team_id, subject FROM audit WHERE team_id = ? AND id > ? ORDER BY id LIMIT ?",
      [teamId, after, ROWS_A_TURN],
    );
    yield rows
      .map(({ id, at, ...row }) => `${JSON.stringify({ id, at: new Date(at).toISOString(), ...row })}\n`)
      .join("");
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_A_TURN) return;
    after = last.id;
  }
}

/** Actions that a restore or a list of keys reads. Rows with these actions are never deleted. */
export const KEPT: readonly AuditAction[] = [
  ...(["user.created", "user.removed", "member.joined", "member.removed"] as const),
  ...(["device.removed", "device.revoked", "device.restored", "device.enrolled"] as const),
  ...(["key.created", "key.rotated", "key.revoked", "backup.restored"] as const),
];
const NOT_KEPT = `action NOT IN (${KEPT.map((action) => `'${action}'`).join(", ")})`;

/** Deletes rows of a team from before a time, except rows that a restore reads. Returns the number of deleted rows. */
export async function deleteAudit(tx: Queries, { now, actor, teamId }: Change, before: number): Promise<number> {
  const rows = await tx.all(`DELETE FROM audit WHERE team_id = ? AND at < ? AND ${NOT_KEPT} RETURNING 1 AS done`, [
    teamId,
    before,
  ]);
  const subject = `${rows.length} rows from before ${new Date(before).toISOString().slice(0, 10)}`;
  if (rows.length > 0) await audit(tx, now, actor, "audit.deleted", teamId, subject);
  return rows.length;
}

/**
 * Deletes about `limit` rows from before a time, the oldest first, including rows that belong to no team. Returns the
 * number of deleted rows.
 */
export async function deleteOldAudit(db: Database, before: number, limit: number): Promise<number> {
  const some = `SELECT id FROM audit WHERE at < ? AND ${NOT_KEPT} ORDER BY at LIMIT ${ROWS_CHANGED}`;
  return changeInTurns(db, `DELETE FROM audit WHERE id IN (${some})`, [before], limit);
}

/** Returns the newest rows, the newest first. */
export function readAudit(db: Queries, limit: number, teamId?: string): Promise<AuditRow[]> {
  return teamId === undefined
    ? db.all<AuditRow>("SELECT id, at, actor, action, team_id, subject FROM audit ORDER BY id DESC LIMIT ?", [limit])
    : db.all<AuditRow>(
        "SELECT id, at, actor, action, team_id, subject FROM audit WHERE team_id = ? ORDER BY id DESC LIMIT ?",
        [teamId, limit],
      );
}
