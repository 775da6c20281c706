/**
 * One-time links: an invitation into a team, or a new password. A link holds 32 random bytes, and the database stores
 * the SHA-256 of these bytes.
 */
import { CLOCK_SKEW_MS } from "../core/clock.ts";
import type { Queries } from "boxwright-service/database";
import { sha256 } from "../core/ids.ts";
import { audit } from "./audit.ts";
import type { Role } from "./role.ts";

export const LINK_LIFETIME_MS = 24 * 3600_000;

export interface Link {
  readonly purpose: "invite" | "reset";
  readonly email: string;
  readonly team_id: string | null;
  readonly team_name: string | null;
  readonly role: Role | null;
}

export interface NewLink extends Omit<Link, "team_name"> {
  readonly token: string;
  /** Id of the administrator who made the invitation; null if the operator did. */
  readonly created_by: string | null;
}

export async function insertLink(
  tx: Queries,
  now: number,
  { token, purpose, email, team_id, role, created_by }: NewLink,
): Promise<void> {
  await tx.all("DELETE FROM links WHERE expires_at < ?", [now - 30 * LINK_LIFETIME_MS]);
  await tx.all(
    "INSERT INTO links (hash, purpose, email, team_id, role, created_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [sha256(token), purpose, email, team_id, role, created_by, now, now + LINK_LIFETIME_MS],
  );
}

/**
 * SQL condition for a password link: its maker may still make the link. The person must be in a team of this
 * administrator, and only in teams that the administrator manages. Otherwise, the link would let the administrator into
 * another team.
 */
const MAKER_MAY = `(l.purpose <> 'reset' OR l.created_by IS NULL OR (
  EXISTS (SELECT 1 FROM members m JOIN users u ON u.id = m.user_id WHERE u.email = l.email AND m.team_id = l.team_id)
  AND NOT EXISTS (SELECT 1 FROM members m JOIN users u ON u.id = m.user_id WHERE u.email = l.email AND m.team_id NOT IN (
    SELECT a.team_id FROM members a WHERE a.user_id = l.created_by AND a.role = 'admin'))))`;

/** Returns an open link. Reading does not use the link up, since mail programs and chats fetch links too. */
export async function readLink(db: Queries, now: number, token: string): Promise<Link | undefined> {
  const rows = await db.all<Link>(
    `SELECT l.purpose AS purpose, l.email AS email, l.team_id AS team_id, t.name AS team_name, l.role AS role FROM links l LEFT JOIN teams t ON t.id = l.team_id WHERE l.hash = ? AND l.used_at IS NULL AND l.expires_at > ? AND l.created_at <= ? AND ${MAKER_MAY}`,
    [sha256(token), now, now + CLOCK_SKEW_MS],
  );
  return rows[0];
}

/**
 * Cancels the invitations that a person made, in a team or, without `teamId`, in every team. Call this function when
 * the person loses the right to invite, since the person could use an invitation to come back. The invitations stay
 * cancelled even if the person gets the right again.
 */
export async function endInvitations(
  tx: Queries,
  now: number,
  actor: string,
  userId: string,
  teamId?: string,
): Promise<void> {
  const ended = await tx.all<{ team_id: string; email: string; role: Role; expires_at: number }>(
    `UPDATE links SET used_at = ? WHERE purpose = 'invite' AND used_at IS NULL AND created_by = ?${teamId === undefined ? "" : " AND team_id = ?"} RETURNING team_id, email, role, expires_at`,
    [now, userId, ...(teamId === undefined ? [] : [teamId])],
  );
  for (const { team_id, email, role, expires_at } of ended)
    if (expires_at > now) await audit(tx, now, actor, "invite.ended", team_id, `${email} ${role}`);
}
