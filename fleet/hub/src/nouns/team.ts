import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { audit, type Change } from "./audit.ts";
import { ALERT_TABLES } from "../database/alerts.ts";
import { voidTokensOfTeam } from "./credential.ts";
import { endInvitations } from "./link.ts";
import type { Role } from "./role.ts";
import { cleanEmail, cleanName } from "./text.ts";

export interface Team {
  readonly id: string;
  readonly name: string;
}

export interface Membership extends Team {
  readonly role: Role;
}

export interface Member {
  readonly user_id: string;
  readonly email: string;
  readonly role: Role;
}

export async function addTeam(db: Database, now: number, actor: string, name: string): Promise<Team> {
  const team = { id: newId(now), name: cleanName(name, "team name") };
  await db.write(async (tx) => {
    await tx.all("INSERT INTO teams (id, name, created_at) VALUES (?, ?, ?)", [team.id, team.name, now]);
    await audit(tx, now, actor, "team.created", team.id, team.name);
  });
  return team;
}

export async function renameTeam(db: Database, { now, actor, by, teamId }: Change, name: string): Promise<Team> {
  const clean = cleanName(name, "team name");
  await db.write(async (tx) => {
    if (by !== undefined) await requireAdmin(tx, teamId, by);
    const rows = await tx.all("UPDATE teams SET name = ? WHERE id = ? RETURNING id", [clean, teamId]);
    if (rows.length === 0) throw new UserError(`got team ${JSON.stringify(teamId)}, expected one that exists`, 404);
    await audit(tx, now, actor, "team.renamed", teamId, clean);
  });
  return { id: teamId, name: clean };
}

/** Tables with rows of a team. A table comes before the tables that it refers to. */
const OF_TEAM = [
  ...ALERT_TABLES,
  ...[
    "snap_files",
    "snap_tags",
    "snap_extras",
    "snaps",
    "assignments",
    "app_reports",
    "shadow_reports",
    "app_versions",
    "apps",
    "models",
  ],
  ...["team_changes"],
  ...["links", "api_keys", "device_hours", "device_credentials", "device_states", "removed_devices"],
  ...["device_tags", "device_group_members", "device_groups", "adopt_keys", "devices", "members"],
];

export interface RemovedTeam {
  readonly devices: number;
  /** Emails of the members. */
  readonly members: readonly string[];
  /** Public ids of the keys that were valid until the removal. */
  readonly keys: readonly string[];
}

/**
 * Removes a team and everything in it. Without `withEverything`, removes only an empty team. The audit keeps each ended
 * membership and key, so that a restore does not bring the access back.
 */
export async function removeTeam(
  db: Database,
  now: number,
  actor: string,
  team: Team,
  withEverything: boolean,
): Promise<RemovedTeam> {
  return db.write(async (tx) => {
    const of = <T extends object>(sql: string): Promise<T[]> => tx.all<T>(sql, [team.id]);
    const [counted] = await of<{ count: number }>("SELECT count(*) AS count FROM devices WHERE team_id = ?");
    const devices = counted?.count ?? 0;
    const members = (await membersOf(tx, team.id)).map(({ email }) => email);
    const inForce = await of<{ id: string }>(
      "SELECT id FROM api_keys WHERE team_id = ? AND revoked_at IS NULL ORDER BY id",
    );
    const keys = inForce.map(({ id }) => id);
    if (!withEverything && devices + members.length + keys.length > 0)
      throw new UserError(
        `got a team with ${devices} devices, ${members.length} members and ${keys.length} API keys in force, expected an empty one; --with-everything removes all of that too`,
        409,
      );
    for (const key of keys) await audit(tx, now, actor, "key.revoked", team.id, key);
    for (const email of members) await audit(tx, now, actor, "member.removed", team.id, email);
    await voidTokensOfTeam(tx, now, team.id);
    await of("DELETE FROM adopt_key_groups WHERE adopt_key_id IN (SELECT id FROM adopt_keys WHERE team_id = ?)");
    for (const table of OF_TEAM) await of(`DELETE FROM ${table} WHERE team_id = ?`);
    await tx.all("DELETE FROM teams WHERE id = ?", [team.id]);
    await audit(tx, now, actor, "team.removed", team.id, team.name);
    return { devices, members, keys };
  });
}

export function listTeams(db: Queries): Promise<(Team & { created_at: number })[]> {
  return db.all("SELECT id, name, created_at FROM teams ORDER BY id");
}

/** Finds a team by its id, or by its name if no other team has this name. */
export async function findTeam(db: Queries, idOrName: string): Promise<Team> {
  const rows = await db.all<Team>("SELECT id, name FROM teams WHERE id = ? OR name = ? ORDER BY id", [
    idOrName,
    idOrName,
  ]);
  const team = rows.find((row) => row.id === idOrName) ?? rows[0];
  if (team === undefined)
    throw new UserError(
      `got team ${JSON.stringify(idOrName)}, expected the id or name of one that exists (\`boxwright-hub teams list\`)`,
      404,
    );
  if (rows.length > 1 && team.id !== idOrName) {
    throw new UserError(
      `got team name ${JSON.stringify(idOrName)}, which ${rows.length} teams have; expected an id: ${rows.map((row) => row.id).join(", ")}`,
    );
  }
  return team;
}

export function teamsOf(db: Queries, userId: string): Promise<Membership[]> {
  return db.all<Membership>(
    "SELECT t.id AS id, t.name AS name, m.role AS role FROM members m JOIN teams t ON t.id = m.team_id WHERE m.user_id = ? ORDER BY t.id",
    [userId],
  );
}

export function membersOf(db: Queries, teamId: string): Promise<Member[]> {
  return db.all<Member>(
    "SELECT u.id AS user_id, u.email AS email, m.role AS role FROM members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ? ORDER BY u.email",
    [teamId],
  );
}

function lastAdmin(): UserError {
  return new UserError(
    "this is the team's last administrator; expected another one to be named first",
    409,
    "This is the team's last administrator. Make somebody else an administrator first.",
  );
}

export function notInTeam(email = "somebody"): UserError {
  return new UserError(`got ${email}, expected a member of the team`, 404, "This person is not in the team any more.");
}

async function admins(tx: Queries, teamId: string): Promise<string[]> {
  return (
    await tx.all<{ user_id: string }>("SELECT user_id FROM members WHERE team_id = ? AND role = 'admin'", [teamId])
  ).map((row) => row.user_id);
}

/**
 * Throws unless the person is an administrator. Call this in the transaction that writes, since the page may be
 * outdated.
 */
export async function requireAdmin(tx: Queries, teamId: string, userId: string): Promise<void> {
  const rows = await tx.all("SELECT role FROM members WHERE team_id = ? AND user_id = ? AND role = 'admin'", [
    teamId,
    userId,
  ]);
  if (rows.length === 0)
    throw new UserError("this needs an administrator of the team", 403, "Only administrators of the team can do this.");
}

/**
 * Removes a member, and returns the member's email. `by` is the administrator who removes, or undefined for the
 * operator.
 */
export async function removeMember(db: Database, { now, actor, by, teamId }: Change, userId: string): Promise<string> {
  return db.write(async (tx) => {
    if (by !== undefined) await requireAdmin(tx, teamId, by);
    const left = await admins(tx, teamId);
    if (left.length === 1 && left[0] === userId) throw lastAdmin();
    const removed = await tx.all("DELETE FROM members WHERE team_id = ? AND user_id = ? RETURNING user_id", [
      teamId,
      userId,
    ]);
    if (removed.length === 0) throw notInTeam();
    await endInvitations(tx, now, actor, userId, teamId);
    const [user] = await tx.all<{ email: string }>("SELECT email FROM users WHERE id = ?", [userId]);
    const email = user?.email ?? userId;
    await audit(tx, now, actor, "member.removed", teamId, email);
    return email;
  });
}

export async function setRole(
  db: Database,
  { now, actor, by, teamId }: Change,
  emailText: string,
  role: Role,
): Promise<void> {
  const email = cleanEmail(emailText);
  await db.write(async (tx) => {
    if (by !== undefined) await requireAdmin(tx, teamId, by);
    const [user] = await tx.all<{ id: string }>("SELECT id FROM users WHERE email = ?", [email]);
    const left = await admins(tx, teamId);
    if (role !== "admin" && left.length === 1 && left[0] === user?.id) {
      throw lastAdmin();
    }
    const rows = await tx.all<{ user_id: string }>(
      "UPDATE members SET role = ? WHERE team_id = ? AND user_id = ? RETURNING user_id",
      [role, teamId, user?.id ?? ""],
    );
    if (rows[0] === undefined) throw notInTeam(email);
    if (role !== "admin") await endInvitations(tx, now, actor, rows[0].user_id, teamId);
    await audit(tx, now, actor, "member.role_changed", teamId, `${email} ${role}`);
  });
}
