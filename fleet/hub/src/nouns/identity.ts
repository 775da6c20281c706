/** Accounts at an OpenID provider, and the users of the hub to whom they belong. */
import { randomBytes } from "node:crypto";
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { audit } from "./audit.ts";
import type { Role } from "./role.ts";
import { cleanEmail } from "./text.ts";
import { findUser, type User } from "./user.ts";

/** Claims of the provider about an account. The subject never changes, but the email may. */
export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  /** Email that the provider has verified. */
  readonly email: string;
}

/** Team that a person without an account or invitation joins at the first sign-in. */
export interface Joins {
  readonly teamId: string;
  readonly role: Role;
}

/**
 * Returns the user of a provider's account. At the first sign-in, the verified email identifies an existing user, an
 * invited user, or, with `joins`, a new user. Throws for everybody else.
 */
export async function signInAs(db: Database, now: number, claims: Claims, joins: Joins | undefined): Promise<User> {
  const { issuer, subject } = claims;
  return db.write(async (tx) => {
    const [known] = await tx.all<User>(
      "SELECT u.id AS id, u.email AS email FROM identities i JOIN users u ON u.id = i.user_id WHERE i.issuer = ? AND i.subject = ?",
      [issuer, subject],
    );
    if (known !== undefined) return known;
    const email = cleanEmail(claims.email);
    const user = (await findUser(tx, email)) ?? (await makeUser(tx, now, email, joins));
    const taken = await tx.all("SELECT 1 AS one FROM identities WHERE user_id = ? AND issuer = ?", [user.id, issuer]);
    // Refuse the sign-in: the user with this email signed in with another account of the provider before.
    if (taken.length > 0)
      throw new UserError(
        `got another account of ${issuer} for ${email}, expected the one that signed in before`,
        403,
        "Another account of the provider has signed in with this email before. Ask whoever runs this hub.",
      );
    await tx.all("INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (?, ?, ?, ?)", [
      ...[issuer, subject, user.id, now],
    ]);
    await audit(tx, now, email, "identity.linked", null, `${email} ${issuer}`);
    return { id: user.id, email: user.email };
  });
}

async function makeUser(tx: Queries, now: number, email: string, joins: Joins | undefined): Promise<User> {
  const invitations = await tx.all<{ team_id: string; role: Role }>(
    "SELECT team_id, role FROM links WHERE purpose = 'invite' AND email = ? AND used_at IS NULL AND expires_at > ? ORDER BY created_at",
    [email, now],
  );
  const joined = new Map(invitations.map(({ team_id, role }) => [team_id, role]));
  if (joined.size === 0 && joins !== undefined) joined.set(joins.teamId, joins.role);
  if (joined.size === 0)
    throw new UserError(
      `got ${email}, expected somebody with an account or an invitation`,
      403,
      `${email} has no account here, and no invitation. Ask an administrator of your team for one.`,
    );
  const user = { id: newId(now), email };
  await tx.all("INSERT INTO users (id, email, password, created_at) VALUES (?, ?, ?, ?)", [
    ...[user.id, email, noPassword(), now],
  ]);
  await tx.all("UPDATE links SET used_at = ? WHERE purpose = 'invite' AND email = ? AND used_at IS NULL", [now, email]);
  await audit(tx, now, email, "user.created", null, email);
  for (const [teamId, role] of joined) {
    await tx.all("INSERT INTO members (team_id, user_id, role, created_at) VALUES (?, ?, ?, ?)", [
      ...[teamId, user.id, role, now],
    ]);
    await audit(tx, now, email, "member.joined", teamId, `${email} ${role}`);
  }
  return user;
}

/**
 * Returns a text to store in place of a password's hash. The text is random, since the cookies of known browsers are
 * derived from it.
 */
const noPassword = (): string => `none$${randomBytes(16).toString("base64url")}`;
