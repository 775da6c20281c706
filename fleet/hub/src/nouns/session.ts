/**
 * Sessions of the web pages. The cookie holds 32 random bytes, the database their SHA-256. A session ends when the user
 * signs out, when the password changes, after `idleMs` without a request, and at the latest after `absoluteMs`.
 */
import { UnavailableError } from "boxwright-service/errors";
import { CLOCK_SKEW_MS } from "../core/clock.ts";
import type { Database } from "boxwright-service/database";
import { newToken, sha256 } from "../core/ids.ts";
import { audit } from "./audit.ts";
import type { User } from "./user.ts";

export interface SessionLimits {
  readonly idleMs: number;
  readonly absoluteMs: number;
}

export interface Session {
  readonly token: string;
  readonly user: User;
}

/** Smallest number of milliseconds between two writes of `seen_at`. */
const SEEN_STEP_MS = 60_000;

/** Opens a session, always with a new token, so that a cookie from before the sign-in never becomes valid. */
export async function openSession(
  db: Database,
  now: number,
  limits: SessionLimits,
  user: User,
  previous?: string,
): Promise<Session> {
  const token = newToken();
  await db.write(async (tx) => {
    await tx.all("DELETE FROM sessions WHERE created_at < ? OR seen_at < ?", [
      now - limits.absoluteMs,
      now - limits.idleMs,
    ]);
    await tx.all("DELETE FROM sessions WHERE created_at > ?", [now + CLOCK_SKEW_MS]);
    if (previous !== undefined) await tx.all("DELETE FROM sessions WHERE hash = ?", [sha256(previous)]);
    await tx.all("INSERT INTO sessions (hash, user_id, created_at, seen_at) VALUES (?, ?, ?, ?)", [
      sha256(token),
      user.id,
      now,
      now,
    ]);
    await audit(tx, now, user.email, "signed_in", null, user.email);
  });
  return { token, user };
}

export async function readSession(
  db: Database,
  now: number,
  limits: SessionLimits,
  token: string,
): Promise<Session | undefined> {
  const hash = sha256(token);
  const [row] = await db.all<{ id: string; email: string; created_at: number; seen_at: number }>(
    "SELECT u.id AS id, u.email AS email, s.created_at AS created_at, s.seen_at AS seen_at FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = ?",
    [hash],
  );
  if (row === undefined || now - row.created_at >= limits.absoluteMs || now - row.seen_at >= limits.idleMs)
    return undefined;
  if (row.created_at - now > CLOCK_SKEW_MS) return undefined;
  // Overwrite a time in the future too: a wrong clock wrote this time, and the session would not end when idle.
  if (now - row.seen_at >= SEEN_STEP_MS || row.seen_at - now > CLOCK_SKEW_MS) await noteSeen(db, now, hash);
  return { token, user: { id: row.id, email: row.email } };
}

/**
 * Records the use of a session. If the disk is full, people can still read pages, and the session merely ends earlier.
 */
async function noteSeen(db: Database, now: number, hash: string): Promise<void> {
  try {
    await db.write((tx) => tx.all("UPDATE sessions SET seen_at = ? WHERE hash = ?", [now, hash]));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
  }
}

export async function closeSession(db: Database, now: number, session: Session): Promise<void> {
  await db.write(async (tx) => {
    await tx.all("DELETE FROM sessions WHERE hash = ?", [sha256(session.token)]);
    await audit(tx, now, session.user.email, "signed_out", null, session.user.email);
  });
}
