/** Services that only pages use. */
import type { Passwords } from "../auth/derive.ts";
import { browserCookie, sessionCookie } from "../auth/cookie.ts";
import type { Services } from "../http/services.ts";
import { Buckets } from "boxwright-service/bucket";
import { openSession, type Session, type SessionLimits } from "../nouns/session.ts";
import type { User } from "../nouns/user.ts";

export interface Site extends Services {
  readonly passwords: Passwords;
  readonly sessionLimits: SessionLimits;
  readonly signIns: SignIns;
}

/**
 * Limits of password checks. Unknown browsers are limited by address and by account. A sender with a session, a link or
 * the cookie of a known browser has a separate limit, which others cannot use up.
 */
export interface SignIns {
  readonly byAddress: Buckets;
  readonly byAccount: Buckets;
  readonly byKnown: Buckets;
}

export function createSite(services: Services & { readonly passwords: Passwords }): Site {
  const { config } = services;
  const limit = { rate: config.signInsPerMinute / 60, burst: config.signInBurst };
  return {
    ...services,
    sessionLimits: { idleMs: config.sessionIdleMinutes * 60_000, absoluteMs: config.sessionHours * 3600_000 },
    signIns: { byAddress: new Buckets(limit), byAccount: new Buckets(limit), byKnown: new Buckets(limit) },
  };
}

/** Counts a password check of a known sender. Returns the seconds to wait, 0 if the check is allowed. */
export function takeKnownSignIn(site: Site, sender: string): number {
  const wait = site.signIns.byKnown.take(sender, site.now());
  if (wait > 0) countLimited(site, "sign_in");
  return wait;
}

/** Counts a sign-in that a limit refused. */
export function countLimited({ metrics }: Site, limit: "sign_in" | "sign_in_queue"): void {
  metrics.limited.inc({ limit });
  metrics.signIns.inc({ result: "limited" });
}

/**
 * Opens a session with a new token, which replaces the session `previous`. Returns the session and its Set-Cookie
 * headers. If `user` contains the password's hash, one header holds the cookie of a known browser.
 */
export async function beginSession(
  site: Site,
  user: User & { readonly password?: string | undefined },
  previous?: string,
): Promise<{ session: Session; headers: { "set-cookie": readonly string[] } }> {
  const session = await openSession(site.db, site.now(), site.sessionLimits, user, previous);
  const cookies = [sessionCookie(session, site.config.sessionHours * 3600)];
  const { password } = user;
  if (password !== undefined) cookies.push(browserCookie({ ...user, password }));
  return { session, headers: { "set-cookie": cookies } };
}
