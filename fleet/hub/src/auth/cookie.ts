/**
 * Cookies of a browser: the session cookie, from which the CSRF tokens of forms are derived, and the cookie of a known
 * browser.
 */
import { parse, serialize } from "hono/utils/cookie";
import { UserError } from "../core/errors.ts";
import { sameText } from "boxwright-service/tokens";
import { newToken, seal } from "../core/ids.ts";
import type { Session } from "../nouns/session.ts";
import type { UserWithPassword } from "../nouns/user.ts";

/**
 * `__Host-`: browsers accept the cookie only over TLS or on localhost, for this host and all paths. No other host can
 * set the cookie.
 */
const COOKIE = "__Host-hub_session";
const ATTRIBUTES = { httpOnly: true, secure: true, sameSite: "Lax", path: "/" } as const;

/** Returns the token that a Cookie header carries, or undefined. */
export function readSessionCookie(header: string | undefined): string | undefined {
  return header === undefined ? undefined : parse(header, COOKIE)[COOKIE];
}

/** Returns the Set-Cookie header of a session that ends after `seconds`. */
export function sessionCookie({ token }: Session, seconds: number): string {
  return serialize(COOKIE, token, { ...ATTRIBUTES, maxAge: seconds });
}

/**
 * Cookie of a browser in which a user has signed in. Wrong guesses from other browsers do not lock the user out in this
 * one.
 */
const BROWSER_COOKIE = "__Host-hub_browser";
/** Largest number of seconds for which browsers keep a cookie. */
const BROWSER_SECONDS = 400 * 86_400;

/** Returns a Set-Cookie header by which the hub recognises an account's browser until the password changes. */
export function browserCookie({ id: user, password }: UserWithPassword): string {
  const id = newToken();
  const mark = seal(password, `browser ${user} ${id}`);
  return serialize(BROWSER_COOKIE, `${id}.${mark}`, { ...ATTRIBUTES, maxAge: BROWSER_SECONDS });
}

/** Returns the cookie of a known browser, or undefined. The value is not verified yet. */
export function readBrowserCookie(header: string | undefined): string | undefined {
  return header === undefined ? undefined : parse(header, BROWSER_COOKIE)[BROWSER_COOKIE];
}

/** True if a user has signed in to the account with this browser, and the password has not changed since. */
export function isKnownBrowser(browser: string, { id: user, password }: UserWithPassword): boolean {
  const [id = "", mark = ""] = browser.split(".");
  return sameText(mark, seal(password, `browser ${user} ${id}`));
}

export const endedSessionCookie: string = serialize(COOKIE, "", { ...ATTRIBUTES, maxAge: 0 });

/** Returns the CSRF token that each form of a session carries. Pages of other sites cannot know this token. */
export function csrfOf(session: Session): string {
  return seal(session.token, "form");
}

/** Makes a one-time token for one form of this session. The hub accepts the token once. */
export function makeNonce(session: Session, purpose: string): string {
  const random = newToken();
  return `${random}.${seal(session.token, `${purpose} ${random}`)}`;
}

export function isOwnMark(session: Session, given: string): boolean {
  return sameText(given, csrfOf(session));
}

export function checkCsrf(session: Session, given: string): void {
  if (!isOwnMark(session, given)) throw foreignForm();
}

export function checkNonce(session: Session, purpose: string, nonce: string): void {
  const [random = "", mark = ""] = nonce.split(".");
  if (!sameText(mark, seal(session.token, `${purpose} ${random}`))) throw foreignForm();
}

function foreignForm(): UserError {
  const message = "got a form that was not made for this session, expected the one on the page";
  return new UserError(message, 403, "This form belongs to another sign-in. Reload the page and try again.");
}
