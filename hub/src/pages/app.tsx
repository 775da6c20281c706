/**
 * The web interface: which page, for whom, after which checks. Server-rendered; the browser needs no script but for
 * copying. Every answer is `no-store`, so Back never shows a key again.
 */
import { Hono, type Context } from "hono";
import { getCookie, setCookie, deleteCookie } from "hono/cookie";
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { Config } from "../core/config.ts";
import type { Database } from "../database/database.ts";
import { refusals, UnavailableError, UserError } from "../core/errors.ts";
import { newToken, sameText, seal } from "../core/ids.ts";
import type { Logger } from "../core/log.ts";
import type { Metrics } from "../core/metrics.ts";
import { createKey } from "../nouns/apikey.ts";
import { audit } from "../nouns/audit.ts";
import { addDevices, listDevices, removeDevice, renameDevice } from "../nouns/device.ts";
import { closeSession, openSession, readSession, type Session, type SessionLimits } from "../nouns/session.ts";
import { readLink } from "../nouns/link.ts";
import { membersOf, parseRole, removeMember, renameTeam, teamsOf, type Membership } from "../nouns/team.ts";
import { cleanEmail, cleanPassword, MAX_PASSWORD } from "../nouns/text.ts";
import { changePassword, findUser, invite, useLink, type User } from "../nouns/user.ts";
import type { Passwords } from "../auth/password.ts";
import { Quotas } from "../limits/bucket.ts";
import { Layout, Message, type Frame } from "./layout.tsx";
import { Account, Devices, KeyAlreadyMade, Members, NewKey, OpenLink, Settings, SignIn, Teams } from "./views.tsx";

/** `__Host-`: only over TLS (or on localhost), only for this host, for the whole of it; no other host can plant one. */
export const SESSION_COOKIE = "__Host-hub_session";
const DEVICES_A_PAGE = 100;
/** Seconds in which a full queue of sign-ins moves on by several. */
const BUSY_WAIT = 5;
export const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export interface PagesOptions {
  readonly config: Config;
  readonly baseUrl: string;
  readonly db: Database;
  readonly now: () => number;
  readonly passwords: Passwords;
  readonly metrics: Metrics;
  readonly log: Logger;
}

interface Env {
  Bindings: {
    address: string;
    requestId: string;
    onInternalError: (error: unknown) => void;
    /** For work whose time shall not show in the answer. */
    afterAnswer: (work: () => Promise<unknown>) => void;
  };
  Variables: { session: Session; teams: Membership[]; team: Membership; form: Record<string, string> };
}

export interface EarlyRefusal {
  readonly status: 429 | 503;
  readonly html: string;
  /** In seconds. */
  readonly wait: number;
}

export interface Pages {
  /**
   * For a sign-in of an address that is over its limit, and for any while the queue of password checks is full: the page
   * to answer with, before the body is read. A flood costs least here. Undefined where the sign-in has to be looked at.
   */
  earlyRefusal(address: string): EarlyRefusal | undefined;
  fetch(request: Request, bindings: Env["Bindings"]): Promise<Response>;
}

export function createPages(options: PagesOptions): Pages {
  const { config, baseUrl, db, now, passwords, metrics } = options;
  const sessionLimits: SessionLimits = { idleMs: config.sessionIdleMinutes * 60_000, absoluteMs: config.sessionHours * 3600_000 };
  const signInLimit = { rate: config.signInsPerMinute / 60, burst: config.signInBurst };
  const byAddress = new Quotas(signInLimit);
  const byAccount = new Quotas(signInLimit);
  const app = new Hono<Env>();

  const csrfOf = (session: Session): string => seal(session.token, "form");
  const frameOf = (c: Context<Env>, title: string, here: string): Frame => ({
    title,
    here,
    // Where the address names no team, someone with one team still sees its pages.
    team: c.get("team") ?? (c.get("teams").length === 1 ? c.get("teams")[0] : undefined),
    teams: c.get("teams"),
    email: c.get("session").user.email,
    csrf: csrfOf(c.get("session")),
  });

  function show(
    c: Context<Env>,
    frame: Frame,
    content: Child,
    status: 200 | 201 | 400 | 401 | 403 | 404 | 409 | 415 | 429 | 500 | 503 = 200,
  ): Response | Promise<Response> {
    return c.html(
      <>
        {raw("<!doctype html>")}
        <Layout frame={frame}>{content}</Layout>
      </>,
      status,
    );
  }

  /**
   * The answers a flood of sign-ins gets, rendered once: rendering is most of what a page costs, and a flood must not
   * take the time that others' requests need.
   */
  const turnedAway = (problem: string): string => {
    const page = (
      <Layout frame={{ title: "Sign in" }}>
        <SignIn problem={problem} />
      </Layout>
    );
    // eslint-disable-next-line @typescript-eslint/no-base-to-string -- hono's elements have a toString of their own: the markup
    return `<!doctype html>${String(page)}`;
  };
  const tooMany = turnedAway("Too many sign-ins. Try again in a minute.");
  const tooBusy = turnedAway("Too many people are signing in at the moment. Try again in some seconds.");

  function setSession(c: Context<Env>, session: Session): void {
    setCookie(c, SESSION_COOKIE, session.token, { httpOnly: true, secure: true, sameSite: "Lax", path: "/", maxAge: config.sessionHours * 3600 });
  }

  /** A one-time form: made for this session and this purpose, by this hub; used up where the write happens. */
  const makeNonce = (session: Session, purpose: string): string => {
    const random = newToken();
    return `${random}.${seal(session.token, `${purpose} ${random}`)}`;
  };
  function checkNonce(session: Session, purpose: string, nonce: string): void {
    const [random = "", mark = ""] = nonce.split(".");
    if (!sameText(mark, seal(session.token, `${purpose} ${random}`)))
      throw new UserError("got a form that was not made for this session, expected the one on the page; reload the page and try again", 403);
  }

  app.use(async (c, next) => {
    await next();
    const { headers } = c.res;
    headers.set("content-security-policy", CONTENT_POLICY);
    headers.set("cache-control", "no-store");
    // Not `no-referrer`: with it browsers send `Origin: null` with our own forms.
    headers.set("referrer-policy", "same-origin");
    headers.set("cross-origin-opener-policy", "same-origin");
    headers.set("cross-origin-resource-policy", "same-origin");
    headers.set("x-frame-options", "DENY");
    if (baseUrl.startsWith("https:")) headers.set("strict-transport-security", "max-age=31536000");
    // For the log: the pattern and never the path, which may hold a link's token.
    headers.set("x-route", c.req.routePath === "*" || c.req.routePath === "/*" ? "page" : c.req.routePath);
  });

  // No id holds a NUL, and PostgreSQL takes it for a fault of the one who asks.
  app.use((c, next) => (c.req.url.includes("%00") ? Promise.resolve(notFound(c as Context<Env>)) : next()));

  // Every change comes as a form of our own pages: browsers name the origin of a POST, and it must be ours.
  app.use(async (c, next) => {
    if (c.req.method !== "POST") return next();
    const origin = c.req.header("origin");
    const site = c.req.header("sec-fetch-site");
    if (origin !== baseUrl || (site !== undefined && site !== "same-origin")) {
      return show(
        c,
        { title: "Refused" },
        <Message kind="error">
          Got a form sent from {origin ?? "an unnamed page"}, expected one from {baseUrl}. Open the hub at that address and try again.
        </Message>,
        403,
      );
    }
    if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(c.req.header("content-type") ?? "")) {
      return show(c, { title: "Refused" }, <Message kind="error">Expected a form (application/x-www-form-urlencoded).</Message>, 415);
    }
    c.set("form", Object.fromEntries(new URLSearchParams(await c.req.text())));
    return next();
  });

  const field = (c: Context<Env>, name: string): string => c.get("form")[name] ?? "";

  app.onError((error, c) => {
    // Of what a user can meet only the full queue of password checks is a 503.
    if (error instanceof UserError && error.status === 503) c.header("retry-after", String(BUSY_WAIT));
    if (error instanceof UserError) return show(c, { title: "Not possible" }, <Message kind="error">{error.message}</Message>, error.status);
    c.env.onInternalError(error);
    const away = error instanceof UnavailableError;
    if (away) c.header("retry-after", "1");
    return show(
      c,
      { title: away ? "Not available" : "Something went wrong" },
      <Message kind="error">
        {refusals[away ? "unavailable" : "internal"][1]} (request {c.env.requestId})
      </Message>,
      away ? 503 : 500,
    );
  });

  const notFound = (c: Context<Env>): Response | Promise<Response> =>
    show(
      c,
      { title: "Not found" },
      <p>
        There is no such page, or it is not yours to see. <a href="/">Start page</a>
      </p>,
      404,
    );
  app.notFound(notFound);

  async function currentSession(c: Context<Env>): Promise<Session | undefined> {
    const token = getCookie(c, SESSION_COOKIE);
    return token === undefined ? undefined : readSession(db, now(), sessionLimits, token);
  }

  /** Takes one sign-in from the address and from the account, whether the account exists or not. */
  function limitSignIn(c: Context<Env>, email: string): number {
    const time = now();
    const wait = Math.max(byAddress.take(c.env.address, time), byAccount.take(email, time));
    if (wait > 0) {
      metrics.limited.inc({ limit: "sign_in" });
      metrics.signIns.inc({ result: "limited" });
      c.header("retry-after", String(wait));
    }
    return wait;
  }

  app.get("/sign-in", async (c) => ((await currentSession(c)) === undefined ? show(c, { title: "Sign in" }, <SignIn />) : c.redirect("/", 303)));

  app.post("/sign-in", async (c) => {
    const given = field(c, "email");
    const again = (problem: string, status: 401): Response | Promise<Response> =>
      show(c, { title: "Sign in" }, <SignIn email={given.slice(0, 254)} problem={problem} />, status);
    let email: string;
    try {
      email = cleanEmail(given);
    } catch {
      return again("This email and password do not belong together.", 401);
    }
    const wait = limitSignIn(c, email);
    if (wait > 0) return c.html(tooMany, 429);
    const user = await findUser(db, email);
    const password = field(c, "password").slice(0, MAX_PASSWORD * 2);
    // Unknown users cost the same: `verify` derives a key for them too.
    if (!(await passwords.verify(password, user?.password)) || user === undefined) {
      metrics.signIns.inc({ result: "wrong" });
      // A write takes time, and only for someone with an account: waited for, it would tell who has one.
      if (user !== undefined) c.env.afterAnswer(() => db.write((tx) => audit(tx, now(), user.email, "sign_in_failed", null, user.email)));
      return again("This email and password do not belong together.", 401);
    }
    metrics.signIns.inc({ result: "ok" });
    setSession(c, await openSession(db, now(), sessionLimits, user, getCookie(c, SESSION_COOKIE)));
    return c.redirect("/", 303);
  });

  app.get("/link/:token", async (c) => {
    const token = c.req.param("token");
    const link = await readLink(db, now(), token);
    if (link === undefined) return linkGone(c);
    const user = await findUser(db, link.email);
    return show(
      c,
      { title: link.purpose === "invite" ? "Join a team" : "New password" },
      <OpenLink link={link} token={token} hasAccount={user !== undefined} />,
    );
  });

  const linkGone = (c: Context<Env>): Response | Promise<Response> =>
    show(
      c,
      { title: "This link does not work" },
      <p>
        It was used, is older than a day, is not complete, or whoever made it may not invite any more. Ask for a new one. <a href="/sign-in">Sign in</a>
      </p>,
      404,
    );

  app.post("/link/:token", async (c) => {
    const token = c.req.param("token");
    const link = await readLink(db, now(), token);
    if (link === undefined) return linkGone(c);
    const existing = await findUser(db, link.email);
    const again = (problem: string, status: 400 | 401 | 429): Response | Promise<Response> =>
      show(
        c,
        { title: link.purpose === "invite" ? "Join a team" : "New password" },
        <OpenLink link={link} token={token} hasAccount={existing !== undefined} problem={problem} />,
        status,
      );
    const wait = limitSignIn(c, link.email);
    if (wait > 0) return again(`Too many tries. Try again in ${wait} seconds.`, 429);
    let hash: string | undefined;
    if (link.purpose === "invite" && existing !== undefined) {
      if (!(await passwords.verify(field(c, "password").slice(0, MAX_PASSWORD * 2), existing.password)))
        return again("This is not the password of the account.", 401);
    } else {
      let password: string;
      try {
        password = cleanPassword(field(c, "password"));
      } catch (error) {
        if (error instanceof UserError) return again(error.message, 400);
        throw error;
      }
      hash = await passwords.hash(password);
    }
    const user = await useLink(db, now(), token, hash);
    if (user === undefined) return linkGone(c);
    setSession(c, await openSession(db, now(), sessionLimits, user, getCookie(c, SESSION_COOKIE)));
    return c.redirect(link.team_id === null ? "/" : `/teams/${link.team_id}/devices`, 303);
  });

  // From here on: signed-in people only.
  app.use(async (c, next) => {
    const session = await currentSession(c);
    if (session === undefined) {
      if (getCookie(c, SESSION_COOKIE) !== undefined) deleteCookie(c, SESSION_COOKIE, { path: "/", secure: true });
      return c.redirect("/sign-in", 303);
    }
    c.set("session", session);
    c.set("teams", await teamsOf(db, session.user.id));
    if (c.req.method === "POST" && !sameText(field(c, "csrf"), csrfOf(session))) {
      throw new UserError("got a form that was not made for this session, expected the one on the page; reload the page and try again", 403);
    }
    return next();
  });

  app.post("/sign-out", async (c) => {
    await closeSession(db, now(), c.get("session"));
    deleteCookie(c, SESSION_COOKIE, { path: "/", secure: true });
    return c.redirect("/sign-in", 303);
  });

  app.get("/", (c) => {
    const [only, ...others] = c.get("teams");
    return c.redirect(only !== undefined && others.length === 0 ? `/teams/${only.id}/devices` : "/teams", 303);
  });

  app.get("/teams", (c) => show(c, frameOf(c, "Teams", "teams"), <Teams teams={c.get("teams")} />));

  app.get("/account", (c) => {
    const session = c.get("session");
    return show(c, frameOf(c, "Account", "account"), <Account email={session.user.email} csrf={csrfOf(session)} />);
  });

  app.post("/account", async (c) => {
    const session = c.get("session");
    const again = (problem: string, status: 400 | 401 | 429): Response | Promise<Response> =>
      show(c, frameOf(c, "Account", "account"), <Account email={session.user.email} csrf={csrfOf(session)} problem={problem} />, status);
    const wait = limitSignIn(c, session.user.email);
    if (wait > 0) return again(`Too many tries. Try again in ${wait} seconds.`, 429);
    const user = await findUser(db, session.user.email);
    if (!(await passwords.verify(field(c, "current").slice(0, MAX_PASSWORD * 2), user?.password)) || user === undefined)
      return again("This is not the current password.", 401);
    let password: string;
    try {
      password = cleanPassword(field(c, "password"));
    } catch (error) {
      if (error instanceof UserError) return again(error.message, 400);
      throw error;
    }
    await changePassword(db, now(), user, await passwords.hash(password));
    const fresh = await openSession(db, now(), sessionLimits, user);
    setSession(c, fresh);
    c.set("session", fresh);
    return show(c, frameOf(c, "Account", "account"), <Account email={user.email} csrf={csrfOf(fresh)} done />);
  });

  // From here on: members of the team in the address only. To others the team does not exist.
  app.use("/teams/:team/*", async (c, next) => {
    const team = c.get("teams").find((candidate) => candidate.id === c.req.param("team"));
    if (team === undefined) return notFound(c as Context<Env>);
    c.set("team", team);
    return next();
  });

  const home = (c: Context<Env>, page: string): string => `/teams/${c.get("team").id}/${page}`;

  async function devicesPage(c: Context<Env>, problem?: UserError, name = ""): Promise<Response> {
    const team = c.get("team");
    const rows = await listDevices(db, team.id, c.req.query("after") ?? "", DEVICES_A_PAGE + 1);
    const devices = rows.slice(0, DEVICES_A_PAGE);
    const next = rows.length > DEVICES_A_PAGE ? devices.at(-1)?.id : undefined;
    return show(
      c,
      frameOf(c, "Devices", "devices"),
      <Devices team={team} devices={devices} next={next} csrf={csrfOf(c.get("session"))} problem={problem?.message} name={name} />,
      problem?.status ?? 200,
    );
  }

  /** Runs a change; what the user can put right is shown on the page the form came from. */
  async function attempt(
    c: Context<Env>,
    work: () => Promise<unknown>,
    done: string,
    failed: (problem: UserError) => Response | Promise<Response>,
  ): Promise<Response> {
    try {
      await work();
    } catch (error) {
      if (error instanceof UserError) return failed(error);
      throw error;
    }
    return c.redirect(done, 303);
  }

  app.get("/teams/:team/devices", (c) => devicesPage(c));
  app.post("/teams/:team/devices", (c) => {
    const name = field(c, "name");
    return attempt(
      c,
      () => addDevices(db, now(), c.get("team").id, config.maxDevices, [{ name }]),
      home(c, "devices"),
      (problem) => devicesPage(c, problem, name.slice(0, 200)),
    );
  });
  app.post("/teams/:team/devices/:device/rename", (c) =>
    attempt(
      c,
      () => renameDevice(db, c.get("team").id, c.req.param("device"), field(c, "name")),
      home(c, "devices"),
      (problem) => devicesPage(c, problem),
    ),
  );
  app.post("/teams/:team/devices/:device/remove", (c) =>
    attempt(
      c,
      () => removeDevice(db, c.get("team").id, c.req.param("device")),
      home(c, "devices"),
      (problem) => devicesPage(c, problem),
    ),
  );

  const keyPurpose = (team: Membership): string => `create-key ${team.id}`;

  function settingsPage(c: Context<Env>, problem?: UserError): Response | Promise<Response> {
    const team = c.get("team");
    const session = c.get("session");
    return show(
      c,
      frameOf(c, "Team settings", "settings"),
      <Settings team={team} csrf={csrfOf(session)} nonce={makeNonce(session, keyPurpose(team))} problem={problem?.message} />,
      problem?.status ?? 200,
    );
  }

  app.get("/teams/:team/settings", (c) => settingsPage(c));
  app.post("/teams/:team/settings", (c) => {
    const { user } = c.get("session");
    return attempt(
      c,
      () => renameTeam(db, now(), user.email, user.id, c.get("team").id, field(c, "name")),
      home(c, "settings"),
      (problem) => settingsPage(c, problem),
    );
  });

  app.post("/teams/:team/keys", async (c) => {
    const team = c.get("team");
    const session = c.get("session");
    const nonce = field(c, "nonce");
    checkNonce(session, keyPurpose(team), nonce);
    const key = await createKey(db, now(), session.user, team.id, nonce);
    // The key travels in this answer and nowhere else: no redirect, no address, no cookie, no second look.
    if (key === undefined) return show(c, frameOf(c, "No key to show", "settings"), <KeyAlreadyMade team={team} />, 409);
    return show(c, frameOf(c, "API key created", "settings"), <NewKey team={team} apiKey={key.key} id={key.id} baseUrl={baseUrl} />, 201);
  });

  async function membersPage(c: Context<Env>, extra: { problem?: UserError; link?: { email: string; url: string } } = {}): Promise<Response> {
    const team = c.get("team");
    const session = c.get("session");
    return show(
      c,
      frameOf(c, "Members", "members"),
      <Members
        team={team}
        members={await membersOf(db, team.id)}
        self={session.user.id}
        csrf={csrfOf(session)}
        link={extra.link}
        problem={extra.problem?.message}
      />,
      extra.problem?.status ?? (extra.link === undefined ? 200 : 201),
    );
  }

  app.get("/teams/:team/members", (c) => membersPage(c));
  app.post("/teams/:team/members", async (c) => {
    const { user } = c.get("session") satisfies { user: User };
    try {
      const token = await invite(db, now(), user.email, user.id, c.get("team").id, field(c, "email"), parseRole(field(c, "role")));
      return await membersPage(c, { link: { email: cleanEmail(field(c, "email")), url: `${baseUrl}/link/${token}` } });
    } catch (error) {
      if (error instanceof UserError) return membersPage(c, { problem: error });
      throw error;
    }
  });
  app.post("/teams/:team/members/:user/remove", (c) => {
    const { user } = c.get("session");
    const target = c.req.param("user");
    return attempt(
      c,
      () => removeMember(db, now(), user.email, user.id, c.get("team").id, target),
      target === user.id ? "/" : home(c, "members"),
      (problem) => membersPage(c, { problem }),
    );
  });

  function earlyRefusal(address: string): EarlyRefusal | undefined {
    const wait = byAddress.wait(address, now());
    if (wait === 0 && !passwords.full) return undefined;
    metrics.limited.inc({ limit: wait > 0 ? "sign_in" : "sign_in_queue" });
    metrics.signIns.inc({ result: "limited" });
    return wait > 0 ? { status: 429, html: tooMany, wait } : { status: 503, html: tooBusy, wait: BUSY_WAIT };
  }

  return { earlyRefusal, fetch: async (request, bindings) => app.fetch(request, bindings) };
}
