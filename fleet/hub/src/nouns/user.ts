/** Makes, changes and removes accounts. */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { newId, newToken, sha256 } from "../core/ids.ts";
import { audit, type Change } from "./audit.ts";
import { endInvitations, insertLink, readLink } from "./link.ts";
import type { Role } from "./role.ts";
import { notInTeam, requireAdmin, type Team } from "./team.ts";
import { cleanEmail } from "./text.ts";

export interface User {
  readonly id: string;
  readonly email: string;
}

export interface UserWithPassword extends User {
  readonly password: string;
}

export async function findUser(db: Queries, email: string): Promise<UserWithPassword | undefined> {
  return (await db.all<UserWithPassword>("SELECT id, email, password FROM users WHERE email = ?", [email]))[0];
}

export function listUsers(db: Queries): Promise<(User & { created_at: number; teams: number })[]> {
  return db.all(
    "SELECT u.id AS id, u.email AS email, u.created_at AS created_at, (SELECT count(*) FROM members m WHERE m.user_id = u.id) AS teams FROM users u ORDER BY u.email",
  );
}

/**
 * Makes an invitation, and returns its token: the link lets `email` into the team. `by` is the administrator who
 * invites, or undefined for the operator.
 */
export async function invite(
  db: Database,
  { now, actor, by, teamId }: Change,
  emailText: string,
  role: Role,
): Promise<string> {
  const email = cleanEmail(emailText);
  const token = newToken();
  await db.write(async (tx) => {
    if (by !== undefined) await requireAdmin(tx, teamId, by);
    const already = await tx.all(
      "SELECT m.user_id AS id FROM members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ? AND u.email = ?",
      [teamId, email],
    );
    if (already.length > 0) {
      const message = `got ${email}, expected someone who is not in the team yet`;
      throw new UserError(message, 409, `${email} is in the team already.`);
    }
    await insertLink(tx, now, { token, purpose: "invite", email, team_id: teamId, role, created_by: by ?? null });
    await audit(tx, now, actor, "invite.created", teamId, `${email} ${role}`);
  });
  return token;
}

/** Returns the token of a link that lets `email` choose a new password. */
export async function resetLink(db: Database, now: number, actor: string, emailText: string): Promise<string> {
  const email = cleanEmail(emailText);
  const token = newToken();
  await db.write(async (tx) => {
    if ((await findUser(tx, email)) === undefined)
      throw new UserError(`got ${email}, expected a user (\`boxwright-hub users list\`)`, 404);
    await insertLink(tx, now, { token, purpose: "reset", email, team_id: null, role: null, created_by: null });
    await audit(tx, now, actor, "password.link_created", null, email);
  });
  return token;
}

/**
 * Returns the token of a link with which a member of the team chooses a new password. `by` is the administrator who
 * makes the link. For a member who is also in a team that `by` does not administer, only the operator may make a link,
 * since a link would give `by` access to that team.
 */
export async function resetLinkFor(
  db: Database,
  now: number,
  by: User,
  teamId: string,
  userId: string,
): Promise<{ email: string; token: string }> {
  const token = newToken();
  const email = await db.write(async (tx) => {
    await requireAdmin(tx, teamId, by.id);
    const [user] = await tx.all<User>(
      "SELECT u.id AS id, u.email AS email FROM members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ? AND m.user_id = ?",
      [teamId, userId],
    );
    if (user === undefined || user.id === by.id) throw notInTeam();
    await insertLink(tx, now, {
      token,
      purpose: "reset",
      email: user.email,
      team_id: teamId,
      role: null,
      created_by: by.id,
    });
    // Check the new link by reading it: `readLink` refuses a link that its maker may not make.
    if ((await readLink(tx, now, token)) === undefined)
      throw new UserError(
        `got ${user.email}, expected a person who is only in teams of this administrator`,
        403,
        `${user.email} is also in a team that you do not administer. Whoever runs this hub can make the link.`,
      );
    await audit(tx, now, by.email, "password.link_created", teamId, user.email);
    return user.email;
  });
  return { email, token };
}

/**
 * Accepts a link, which is then used up. `password` is the hash to store. It is undefined if the invited person has an
 * account, whose password the caller has checked. Returns undefined if the link was used or expired meanwhile.
 */
export async function useLink(
  db: Database,
  now: number,
  token: string,
  password: string | undefined,
): Promise<User | undefined> {
  return db.write(async (tx) => {
    const link = await readLink(tx, now, token);
    if (link === undefined) return undefined;
    // Uses up the link, and this person's other invitations into this team: after a removal, they would give access
    // again. Called after the checks, so that a refused attempt leaves the link open.
    const useUp = () =>
      tx.all(
        "UPDATE links SET used_at = ? WHERE hash = ? OR (purpose = 'invite' AND used_at IS NULL AND email = ? AND team_id = ?)",
        [now, sha256(token), link.email, link.team_id],
      );
    let user: User | undefined = await findUser(tx, link.email);
    if (link.purpose === "reset") {
      if (user === undefined || password === undefined) return undefined;
      await useUp();
      await storePassword(tx, now, user, password);
      return { id: user.id, email: user.email };
    }
    if (user === undefined) {
      if (password === undefined) return undefined;
      user = { id: newId(now), email: link.email };
      await tx.all("INSERT INTO users (id, email, password, created_at) VALUES (?, ?, ?, ?)", [
        user.id,
        user.email,
        password,
        now,
      ]);
      await audit(tx, now, user.email, "user.created", null, user.email);
    } else if (password !== undefined) {
      // The account was made after the page was shown, and this form must not set the password of an existing account.
      return undefined;
    }
    await useUp();
    await tx.all(
      "INSERT INTO members (team_id, user_id, role, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      [link.team_id, user.id, link.role, now],
    );
    await audit(tx, now, user.email, "member.joined", link.team_id, `${user.email} ${link.role}`);
    return { id: user.id, email: user.email };
  });
}

async function storePassword(tx: Queries, now: number, user: User, password: string): Promise<void> {
  await tx.all("UPDATE users SET password = ? WHERE id = ?", [password, user.id]);
  // End all sessions, which may have been opened with the old password.
  await tx.all("DELETE FROM sessions WHERE user_id = ?", [user.id]);
  await tx.all("UPDATE links SET used_at = ? WHERE email = ? AND purpose = 'reset' AND used_at IS NULL", [
    now,
    user.email,
  ]);
  await audit(tx, now, user.email, "password.changed", null, user.email);
}

export function changePassword(db: Database, now: number, user: User, password: string): Promise<void> {
  return db.write((tx) => storePassword(tx, now, user, password));
}

/** Removes an account. The person's API keys stay, since they belong to the team, and the audit names them. */
export async function removeUser(db: Database, now: number, actor: string, emailText: string): Promise<void> {
  const email = cleanEmail(emailText);
  await db.write(async (tx) => {
    const user = await findUser(tx, email);
    if (user === undefined) throw new UserError(`got ${email}, expected a user (\`boxwright-hub users list\`)`, 404);
    await tx.all("DELETE FROM sessions WHERE user_id = ?", [user.id]);
    // Use up open invitations, which would create the account again.
    await tx.all("UPDATE links SET used_at = ? WHERE email = ? AND used_at IS NULL", [now, email]);
    await endInvitations(tx, now, actor, user.id);
    await tx.all("DELETE FROM identities WHERE user_id = ?", [user.id]);
    await tx.all("DELETE FROM members WHERE user_id = ?", [user.id]);
    await tx.all("DELETE FROM users WHERE id = ?", [user.id]);
    await audit(tx, now, actor, "user.removed", null, email);
  });
}

/** Makes the first team and a link for its administrator, if there is no team yet. Throws if anybody has an account. */
export async function initialise(
  db: Database,
  now: number,
  emailText: string,
  makeTeam: () => Promise<Team>,
): Promise<{ team: Team; made: boolean; token: string }> {
  const [row] = await db.all<{ count: number }>("SELECT count(*) AS count FROM users");
  if ((row?.count ?? 0) > 0)
    throw new UserError(
      `got ${row?.count} users in the database, expected none; for more people: boxwright-hub users invite`,
      409,
    );
  cleanEmail(emailText);
  const [first] = await db.all<Team>("SELECT id, name FROM teams ORDER BY id LIMIT 1");
  const team = first ?? (await makeTeam());
  return {
    team,
    made: first === undefined,
    token: await invite(db, { now, actor: "operator", teamId: team.id }, emailText, "admin"),
  };
}
