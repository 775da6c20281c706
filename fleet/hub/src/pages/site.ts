/** Services that pages use beyond those of every route. */
import type { Passwords } from "../auth/derive.ts";
import { sessionCookie } from "../auth/cookie.ts";
import type { Services } from "../http/services.ts";
import { Buckets } from "boxwright-service/bucket";
import { openSession, type Session, type SessionLimits } from "../nouns/session.ts";
import type { User } from "../nouns/user.ts";

export interface Site extends Services {
  readonly passwords: Passwords;
  readonly sessionLimits: SessionLimits;
  readonly signIns: SignIns;
}

/** Password checks of each address, and for each account. */
export interface SignIns {
  readonly byAddress: Buckets;
  readonly byAccount: Buckets;
}

export function createSite(services: Services & { readonly passwords: Passwords }): Site {
  const { config } = services;
  const limit = { rate: config.signInsPerMinute / 60, burst: config.signInBurst };
  return {
    ...services,
    sessionLimits: { idleMs: config.sessionIdleMinutes * 60_000, absoluteMs: config.sessionHours * 3600_000 },
    signIns: { byAddress: new Buckets(limit), byAccount: new Buckets(limit) },
  };
}

/** Takes one password check from the address and from the account. Returns the seconds to wait, 0 if allowed. */
export function takeSignIn(site: Site, address: string, email: string): number {
  const time = site.now();
  const { byAddress, byAccount } = site.signIns;
  const wait = Math.max(byAddress.take(address, time), byAccount.take(email, time));
  if (wait > 0) countLimited(site, "sign_in");
  return wait;
}

/** Counts a sign-in that a limit turned away. */
export function countLimited({ metrics }: Site, limit: "sign_in" | "sign_in_queue"): void {
  metrics.limited.inc({ limit });
  metrics.signIns.inc({ result: "limited" });
}

/** Opens a session with a new token, in place of `previous`. Returns it and its Set-Cookie header. */
export async function beginSession(
  site: Site,
  user: User,
  previous?: string,
): Promise<{ session: Session; headers: { "set-cookie": string } }> {
  const session = await openSession(site.db, site.now(), site.sessionLimits, user, previous);
  return { session, headers: { "set-cookie": sessionCookie(session, site.config.sessionHours * 3600) } };
}
