/** Access that was revoked, which a restore must not bring back. */
import type { Queries } from "boxwright-service/database";
import type { AuditAction } from "../nouns/audit.ts";
import type { Role } from "../nouns/role.ts";

/** Access that the database holds now. People are identified by email, since a new account has another id. */
export interface Known {
  readonly passwords: ReadonlyMap<string, string>;
  /** Roles of members. The map's key is made by `memberKey`. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly revoked: ReadonlyMap<string, number>;
}

export const memberKey = (teamId: unknown, email: unknown): string => `${String(teamId)} ${String(email)}`;

export async function readKnown(tx: Queries): Promise<Known> {
  const users = await tx.all<{ email: string; password: string }>("SELECT email, password FROM users");
  const members = await tx.all<{ team_id: string; email: string; role: Role }>(
    "SELECT m.team_id AS team_id, u.email AS email, m.role AS role FROM members m JOIN users u ON u.id = m.user_id",
  );
  const keys = await tx.all<{ id: string; revoked_at: number }>(
    "SELECT id, revoked_at FROM api_keys WHERE revoked_at IS NOT NULL",
  );
  return {
    passwords: new Map(users.map(({ email, password }) => [email, password])),
    roles: new Map(members.map(({ team_id, email, role }) => [memberKey(team_id, email), role])),
    revoked: new Map(keys.map(({ id, revoked_at }) => [id, revoked_at])),
  };
}

const HISTORY: readonly AuditAction[] = [
  "user.created",
  "user.removed",
  "member.joined",
  "member.removed",
  "key.revoked",
  "key.rotated",
  "device.removed",
  "device.revoked",
  "device.restored",
  "device.enrolled",
];

/** Access that was revoked and not granted again since. */
export interface TakenAway {
  /** Emails of removed users. */
  readonly users: ReadonlySet<string>;
  /** Removed memberships, each a key made by `memberKey`. */
  readonly members: ReadonlySet<string>;
  /** Times at which keys were revoked, by public id. */
  readonly keys: ReadonlyMap<string, number>;
  /** Times at which rotated API keys end, by public id. */
  readonly ends: ReadonlyMap<string, number>;
  /** Times at which devices were revoked or removed, by device id. */
  readonly devices: ReadonlyMap<string, number>;
}

/**
 * Reads revoked access from the audit, which every restore keeps. A row that is missing elsewhere proves nothing: an
 * earlier restore may have lost the row.
 */
export async function readTakenAway(tx: Queries): Promise<TakenAway> {
  const users = new Set<string>();
  const members = new Set<string>();
  const teams = new Map<string, Set<string>>();
  const keys = new Map<string, number>();
  const ends = new Map<string, number>();
  const devices = new Map<string, number>();
  const rows = await tx.all<{ at: number; action: AuditAction; team_id: string | null; subject: string }>(
    `SELECT at, action, team_id, subject FROM audit WHERE action IN (${HISTORY.map(() => "?").join(", ")}) ORDER BY id`,
    HISTORY,
  );
  for (const { at, action, team_id, subject } of rows) {
    // The subject of member.joined is an email, which holds no space, then the role. The subject of key.rotated is the
    // old key, the new key, then the end of the old key. Subjects of devices begin with the device id.
    const [email = ""] = subject.split(" ");
    const key = memberKey(team_id, email);
    if (action === "key.revoked") keys.set(subject, keys.get(subject) ?? at);
    else if (action === "key.rotated") ends.set(email, Date.parse(subject.split(" ").at(-1) ?? ""));
    else if (action === "device.removed" || action === "device.revoked") devices.set(email, at);
    else if (action === "device.restored" || action === "device.enrolled") devices.delete(email);
    else if (action === "user.created") users.delete(email);
    else if (action === "member.removed") members.add(key);
    else if (action === "member.joined") {
      members.delete(key);
      teams.set(email, (teams.get(email) ?? new Set()).add(key));
    } else if (action === "user.removed") {
      users.add(email);
      for (const left of teams.get(email) ?? []) members.add(left);
    }
  }
  return { users, members, keys, ends, devices };
}
