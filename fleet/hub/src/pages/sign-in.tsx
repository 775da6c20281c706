/** Pages for signing in and out. */
import { endedSessionCookie, isKnownBrowser, readBrowserCookie } from "../auth/cookie.ts";
import type { Exchange } from "boxwright-service/http/exchange";
import { reportError } from "../http/services.ts";
import { audit } from "../nouns/audit.ts";
import { closeSession, readSession } from "../nouns/session.ts";
import { cleanEmail, MAX_PASSWORD } from "../nouns/text.ts";
import { findUser, type User } from "../nouns/user.ts";
import { BUSY_WAIT, redirect, show, type Answer } from "./answer.tsx";
import { readForm, type Form } from "./form.ts";
import { PasswordField, PostForm, Submit } from "./forms.tsx";
import type { Guards, Visit } from "./guards.tsx";
import { Message } from "./layout.tsx";
import { registerOidc } from "./provider.ts";
import { beginSession, countLimited, takeKnownSignIn, type Site } from "./site.ts";

export function registerSignIn(site: Site, guards: Guards): void {
  const { db, now, sessionLimits } = site;

  guards.open.get("/sign-in", async ({ token, exchange }) => {
    const session = token === undefined ? undefined : await readSession(db, now(), sessionLimits, token);
    if (session !== undefined) return redirect("/");
    const content = <SignIn signedOut={exchange.search === SIGNED_OUT} provider={providerOf(site)} />;
    return show({ title: "Sign in", narrow: true }, content);
  });

  guards.open.post("/sign-in", (visit) => signIn(site, visit));

  registerOidc(site, guards, {
    limit: ({ exchange: sender }) => limitAddress(site, sender),
    failed: ({ shown, status }) => again(shown, status, "", providerOf(site)),
  });

  // Redirect a GET, which Enter in the address bar sends: only the form signs out.
  guards.signedIn.get("/sign-out", () => redirect("/"));
  guards.signedIn.post("/sign-out", async ({ session }) => {
    await closeSession(db, now(), session);
    return redirect(`/sign-in?${SIGNED_OUT}`, { "set-cookie": endedSessionCookie });
  });
}

/** Query in the address of the sign-in page after the user has signed out. */
const SIGNED_OUT = "signed-out";
const WRONG = "This email and password do not belong together.";
const again = (problem: string, status: number, email = "", provider?: string): Answer =>
  show(
    { title: "Sign in", narrow: true },
    <SignIn email={email.slice(0, 254)} problem={problem} provider={provider} />,
    status,
  );
/** Returns the name of the OpenID provider, or undefined if none is configured. */
const providerOf = ({ config }: Site): string | undefined =>
  config.oidcIssuer === undefined ? undefined : config.oidcName;
// Render this page once. A flood of sign-ins gets this answer, and most of its cost would be the rendering.
const tooMany = again("Too many sign-ins. Try again in a minute.", 429);
const tooBusy = again("Too many people are signing in at the moment. Try again in some seconds.", 503);

/**
 * Counts an attempt to sign in against the limit of the visitor's address. Returns the refusal, or undefined if the
 * attempt may continue.
 */
function limitAddress(site: Site, { address }: Exchange): Answer | undefined {
  const { byAddress } = site.signIns;
  const time = site.now();
  const wait = byAddress.wait(address, time);
  if (wait > 0) {
    countLimited(site, "sign_in");
    return { ...tooMany, headers: { "retry-after": String(wait) } };
  }
  if (site.passwords.full) {
    countLimited(site, "sign_in_queue");
    return { ...tooBusy, headers: { "retry-after": String(BUSY_WAIT) } };
  }
  byAddress.take(address, time);
  return undefined;
}

/**
 * Counts an attempt to sign in against the limit of the account, or, for a browser known to this account, of the
 * browser.
 */
function limitAccount(site: Site, email: string, browser: string | undefined): Answer | undefined {
  const { byAccount } = site.signIns;
  const wait = browser === undefined ? byAccount.take(email, site.now()) : takeKnownSignIn(site, browser);
  if (wait === 0) return undefined;
  if (browser === undefined) countLimited(site, "sign_in");
  return { ...tooMany, headers: { "retry-after": String(wait) } };
}

async function signIn(site: Site, { exchange, token }: Visit): Promise<Answer> {
  const browser = readBrowserCookie(exchange.header("cookie"));
  // Limit a browser without a cookie before its form is read. A browser with a cookie may be known for an account,
  // which only the form names.
  const refusal = browser === undefined ? limitAddress(site, exchange) : undefined;
  if (refusal !== undefined) return refusal;
  const form = await readForm(exchange);
  const email = readEmail(form("email"));
  const user = browser === undefined || email === undefined ? undefined : await findUser(site.db, email);
  const isKnown = user !== undefined && isKnownBrowser(browser!, user);
  const late = browser === undefined || isKnown ? undefined : limitAddress(site, exchange);
  if (late !== undefined) return late;
  if (email === undefined) return again(WRONG, 401, form("email"), providerOf(site));
  const limited = limitAccount(site, email, isKnown ? browser : undefined);
  return limited ?? (await checkPassword(site, { exchange, token, form, email, isKnown }));
}

interface Attempt extends Pick<Visit, "exchange" | "token"> {
  readonly form: Form;
  readonly email: string;
  /** True if a user has signed in to the account with this browser before. */
  readonly isKnown: boolean;
}

async function checkPassword(site: Site, { exchange, token, form, email, isKnown }: Attempt): Promise<Answer> {
  const { db, metrics, passwords } = site;
  const user = await findUser(db, email);
  const password = form("password").slice(0, MAX_PASSWORD * 2);
  // Call `verify` for unknown users too, so that the answer takes as long as for known users.
  if (!(await passwords.verify(password, user?.password, isKnown)) || user === undefined) {
    metrics.signIns.inc({ result: "wrong" });
    // Write after the answer: only failures of existing accounts are written, so the time for the write would reveal
    // which accounts exist.
    if (user !== undefined) exchange.afterAnswer(() => void auditFailure(site, exchange, user));
    return again(WRONG, 401, form("email"), providerOf(site));
  }
  metrics.signIns.inc({ result: "ok" });
  return redirect("/", (await beginSession(site, user, token)).headers);
}

function readEmail(text: string): string | undefined {
  try {
    return cleanEmail(text);
  } catch {
    return undefined;
  }
}

async function auditFailure(site: Site, exchange: Exchange, { email }: User): Promise<void> {
  try {
    await site.db.write((tx) => audit(tx, site.now(), email, "sign_in_failed", null, email));
  } catch (error) {
    reportError(site, exchange, error);
  }
}

interface SignInProps {
  readonly email?: string;
  readonly problem?: string | undefined;
  readonly signedOut?: boolean;
  readonly provider?: string | undefined;
}

function SignIn({ email = "", problem, signedOut, provider }: SignInProps) {
  return (
    <>
      {signedOut === true && <Message kind="done">You are signed out.</Message>}
      {problem !== undefined && <Message kind="error">{problem}</Message>}
      {provider !== undefined && (
        <p>
          <a href="/sign-in/oidc">Sign in with {provider}</a>
        </p>
      )}
      <PostForm action="/sign-in">
        <label for="email">Email</label>
        <input id="email" name="email" type="email" autocomplete="username" required value={email} />
        <PasswordField label="Password" isNew={false} />
        <p class="actions">
          <Submit kind="main">Sign in</Submit>
        </p>
      </PostForm>
      <p class="soft">
        No account, or the password forgotten? An administrator of your team makes you a link, on the page "Members".
        Whoever runs this hub can do it too.
      </p>
    </>
  );
}
