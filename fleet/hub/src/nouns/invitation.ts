/** Lists and cancels open invitations into a team. user.ts makes and accepts them as one-time links. */
import { CLOCK_SKEW_MS } from "../core/clock.ts";
import { UserError } from "../core/errors.ts";
import type { Database, Queries } from "boxwright-service/database";
import { audit, type PersonalChange } from "./audit.ts";
import type { Role } from "./role.ts";
import { requireAdmin } from "./team.ts";

export interface Invitation {
  /** SHA-256 of the token. The hash identifies the invitation, but nobody can join with it. */
  readonly hash: string;
  readonly email: string;
  readonly role: Role;
  /** Email of the administrator who invited; null if the operator did. */
  readonly made_by: string | null;
  readonly expires_at: number;
}

/** Returns the usable invitations into a team, ordered by the time at which they end. */
export function openInvitations(db: Queries, now: number, teamId: string): Promise<Invitation[]> {
  return db.all<Invitation>(
    "SELECT l.hash AS hash, l.email AS email, l.role AS role, u.email AS made_by, l.expires_at AS expires_at FROM links l LEFT JOIN users u ON u.id = l.created_by WHERE l.team_id = ? AND l.purpose = 'invite' AND l.used_at IS NULL AND l.expires_at > ? AND l.created_at <= ? ORDER BY l.expires_at, l.hash",
    [teamId, now, now + CLOCK_SKEW_MS],
  );
}

/** Cancels one invitation. Returns the invited email. */
export async function cancelInvitation(
  db: Database,
  { now, actor, by, teamId }: PersonalChange,
  hash: string,
): Promise<string> {
  return db.write(async (tx) => {
    await requireAdmin(tx, teamId, by);
    const [ended] = await tx.all<{ email: string; role: Role }>(
      "UPDATE links SET used_at = ? WHERE hash = ? AND team_id = ? AND purpose = 'invite' AND used_at IS NULL RETURNING email, role",
      [now, hash, teamId],
    );
    if (ended === undefined)
      throw new UserError(
        "got an invitation that is not open, expected an open one",
        404,
        "This invitation is not open any more.",
      );
    await audit(tx, now, actor, "invite.ended", teamId, `${ended.email} ${ended.role}`);
    return ended.email;
  });
}
