/** The audit log: one row for each change of who may do what. Rows are only ever added. */
import type { Queries } from "boxwright-service/database";
import { newId } from "../core/ids.ts";

export type AuditAction =
  | "team.created"
  | "team.renamed"
  | "team.removed"
  | "invite.created"
  | "invite.ended"
  | "member.joined"
  | "member.removed"
  | "member.role_changed"
  | "user.created"
  | "user.removed"
  | "password.link_created"
  | "password.changed"
  | "signed_in"
  | "sign_in_failed"
  | "signed_out"
  | "key.created"
  | "key.revoked"
  | "device.added"
  | "device.renamed"
  | "device.removed"
  | "device.restored"
  | "device.enrolled"
  | "device.revoked"
  | "device.conflict_cleared"
  | "group.created"
  | "group.renamed"
  | "group.deleted"
  | "group.device_added"
  | "group.device_removed"
  | "adopt_key.created"
  | "adopt_key.revoked"
  | "adopt_key.deleted"
  | "audit.deleted"
  | "app.created"
  | "app.updated"
  | "app.version_saved"
  | "app.deleted"
  | "app.assigned"
  | "app.unassigned"
  | "rollout.ended"
  | "rollout.stopped"
  | "model.added"
  | "model.removed"
  | "snap.deleted"
  | "backup.restored";

export interface AuditRow {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: AuditAction;
  readonly team_id: string | null;
  readonly subject: string;
}

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

/** Returns the newest rows, the newest first. */
export function readAudit(db: Queries, limit: number, teamId?: string): Promise<AuditRow[]> {
  return teamId === undefined
    ? db.all<AuditRow>("SELECT id, at, actor, action, team_id, subject FROM audit ORDER BY id DESC LIMIT ?", [limit])
    : db.all<AuditRow>(
        "SELECT id, at, actor, action, team_id, subject FROM audit WHERE team_id = ? ORDER BY id DESC LIMIT ?",
        [teamId, limit],
      );
}
