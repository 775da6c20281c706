/**
 * Guards of pages, in this order: checks for all visitors, the session, the form of a POST with its CSRF token, and
 * membership of the team in the path. A form is read only if its sender has a session.
 */
import type { Child } from "hono/jsx";
import { checkCsrf, csrfOf, isOwnMark, endedSessionCookie, readSessionCookie } from "../auth/cookie.ts";
import type { AnswerHeaders, Exchange } from "boxwright-service/http/exchange";
import { BodyError } from "boxwright-service/http/body";
import { refuse, refuseBody } from "../http/refusals.ts";
import type { Handler, Params, Router } from "boxwright-service/http/router";
import { reportError } from "../http/services.ts";
import { UserError } from "../core/errors.ts";
import type { PersonalChange } from "../nouns/audit.ts";
import { readSession, type Session } from "../nouns/session.ts";
import { teamsOf, type Membership } from "../nouns/team.ts";
import { notFound, problemPage, redirect, refused, sendAnswer, show, type Answer } from "./answer.tsx";
import { emptyForm, isForm, isOwnForm, readForm, type Form } from "./form.ts";
import { ButtonForm } from "./forms.tsx";
import { Breakable, Message, type Frame } from "./layout.tsx";
import { readSaid, sayAt } from "./said.ts";
import type { Site } from "./site.ts";

export interface Visit {
  readonly exchange: Exchange;
  /** Returns the part of the path at the place of `:name` in the pattern. */
  readonly param: (name: string) => string;
  /** Token in the session cookie, if there is one. The token may be invalid. */
  readonly token: string | undefined;
}

/** A visit of a signed-in user. */
export interface SignedIn extends Visit {
  readonly session: Session;
  readonly teams: readonly Membership[];
  /** Fields of the form. Empty for GET. */
  readonly form: Form;
}

/** A visit of a member of the team in the path. */
export interface Member extends SignedIn {
  readonly team: Membership;
}

type Page<V> = (visit: V) => Promise<Answer> | Answer;

/** Registers pages behind one guard. */
interface Guard<V> {
  get(path: string, page: Page<V>): void;
  post(path: string, page: Page<V>, options?: FormOptions): void;
}

/** Row of a page whose form is open, by the name of the form. */
export type Open = Readonly<Record<string, string | undefined>>;

/** Makes a page. `problem` is the reason why a form of the page failed. */
type ShowPage = (visit: Member, problem?: UserError, open?: Open) => Promise<Answer> | Answer;

/**
 * Registers a form of a page. `work` returns the message that the page then shows, or a complete answer. An error that
 * the user can correct is shown on the page. A GET of the form's path, which Enter in the address bar sends, leads to
 * the page. `open` is the name of a form that replaces a row: the last parameter of the path is the id of the row.
 */
export type PageForm = (path: string, work: (visit: Member) => Promise<string | Answer>, open?: string) => void;

export interface Guards {
  /** For all visitors. The page itself reads the form of a POST. */
  readonly open: Guard<Visit>;
  readonly signedIn: Guard<SignedIn>;
  /** For members of the team in the path. Other people get 404. Viewers may send no forms and no script requests. */
  readonly member: Guard<Member>;
  /**
   * Registers a page for members of a team. Returns the function that registers the forms of the page. `addressOf`
   * returns the address of the page with an open form. Default: the query names the row.
   */
  page(path: string, show: ShowPage, addressOf?: (visit: Member, open: Open) => string): PageForm;
  /** For scripts of the hub's own pages, which send the CSRF token in a header. `work` sends the answer. */
  script(path: string, work: (visit: Member) => Promise<void> | void): void;
  /** Returns the handler for paths without a page, for signed-in users. */
  otherwise(page: Page<SignedIn>): Handler;
}

interface FormOptions {
  /** Largest number of bytes in the form. */
  readonly maxForm?: number;
}

/** Header in which a script sends the CSRF token of its page. */
const CSRF_HEADER = "x-hub-csrf";

export function createGuards(site: Site, router: Router): Guards {
  const { db, now, baseUrl } = site;

  const open = (page: Page<Visit>): Handler => {
    return async (exchange, params) => {
      try {
        sendAnswer(exchange, refuseVisit(exchange, baseUrl) ?? (await page(toVisit(exchange, params))), baseUrl);
      } catch (error) {
        if (error instanceof BodyError) return refuseBody(exchange, error);
        if (!(error instanceof UserError)) reportError(site, exchange, error);
        sendAnswer(exchange, problemPage(error, exchange.id), baseUrl);
      }
    };
  };

  const signedIn = (page: Page<SignedIn>, { maxForm }: FormOptions = {}): Handler => {
    return open(async (visit) => {
      const session = await sessionOf(site, visit);
      if (session === undefined)
        return redirect("/sign-in", visit.token === undefined ? {} : { "set-cookie": endedSessionCookie });
      const teams = await teamsOf(db, session.user.id);
      if (visit.exchange.method !== "POST") return page({ ...visit, session, teams, form: emptyForm });
      const form = await readForm(visit.exchange, maxForm);
      checkCsrf(session, form("csrf"));
      return page({ ...visit, session, teams, form });
    });
  };

  const member = (page: Page<Member>, options?: FormOptions): Handler => {
    return signedIn((visit) => {
      const team = visit.teams.find(({ id }) => id === visit.param("team"));
      if (team === undefined) return notFound(frameOf(visit, "Not found"));
      if (visit.exchange.method === "POST" && team.role === "viewer")
        return refused(403, "You are a viewer of this team, and change nothing. Ask one of its administrators.");
      return page({ ...visit, team });
    }, options);
  };

  const script: Guards["script"] = (path, work) => {
    const handler: Handler = async (exchange, params) => {
      const visit = toVisit(exchange, params);
      const session = await sessionOf(site, visit);
      const teams = session === undefined ? [] : await teamsOf(db, session.user.id);
      const team = teams.find(({ id }) => id === visit.param("team"));
      if (session === undefined || team === undefined) return refuse(exchange, "not_found");
      if (exchange.method !== "GET" && exchange.method !== "HEAD") {
        const mark = exchange.header(CSRF_HEADER) ?? "";
        if (!isOwnForm(exchange, baseUrl) || !isOwnMark(session, mark)) return refuse(exchange, "foreign_script");
        if (team.role === "viewer") return refuse(exchange, "viewer");
      }
      await work({ ...visit, session, teams, team, form: emptyForm });
    };
    router.any(path, handler, { forPrograms: true });
  };

  return {
    open: guardOf(router, open),
    signedIn: guardOf(router, signedIn),
    member: guardOf(router, member),
    page: (path, show, addressOf) => registerPage(guardOf(router, member), path, show, addressOf),
    script,
    otherwise: signedIn,
  };

  function toVisit(exchange: Exchange, params: Params): Visit {
    return { exchange, param: (name) => params[name] ?? "", token: readSessionCookie(exchange.header("cookie")) };
  }

  async function sessionOf({ sessionLimits }: Site, { token }: Visit): Promise<Session | undefined> {
    return token === undefined ? undefined : readSession(db, now(), sessionLimits, token);
  }
}

function guardOf<V>(router: Router, handlerOf: (page: Page<V>, options?: FormOptions) => Handler): Guard<V> {
  return {
    get: (path, page) => router.get(path, handlerOf(page)),
    post: (path, page, options) => router.post(path, handlerOf(page, options)),
  };
}

function registerPage(
  guard: Guard<Member>,
  page: string,
  show: ShowPage,
  addressOf = ({ param }: Member, open: Open) =>
    page.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(param(name))) + queryText(open),
): PageForm {
  guard.get(page, (visit) => show(visit, undefined, Object.fromEntries(queryOf(visit))));
  return (path, work, open) => {
    const row = /:([a-z]+)[^:]*$/.exec(path)![1]!;
    const openOf = ({ param }: Member): Open => (open === undefined ? {} : { [open]: param(row) });
    if (path !== page) guard.get(path, (visit) => redirect(addressOf(visit, openOf(visit))));
    guard.post(path, async (visit) => {
      try {
        const done = await work(visit);
        return typeof done === "string" ? redirect(sayAt(visit.session, addressOf(visit, {}), { text: done })) : done;
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return show(visit, error, openOf(visit));
      }
    });
  };
}

/** Returns the refusal of a request that no visitor may send, or undefined. */
function refuseVisit(exchange: Exchange, baseUrl: string): Answer | undefined {
  // Refuse NUL: no id contains NUL, and PostgreSQL refuses a query with it.
  if (`${exchange.path}?${exchange.search}`.includes("%00")) return notFound();
  if (exchange.method !== "POST") return undefined;
  if (!isOwnForm(exchange, baseUrl)) {
    const origin = exchange.header("origin") ?? "a page without an address";
    const text = `This form came from ${origin}. The hub takes forms only from ${baseUrl}: open it there and try again.`;
    return refused(403, text);
  }
  return isForm(exchange) ? undefined : refused(415, "The hub takes forms of its own pages only.");
}

/** Returns the parts of a change by this visit: the team in the path, the user, and the time. */
export const changeOf = ({ now }: Site, { team, session }: Member): PersonalChange => ({
  now: now(),
  actor: session.user.email,
  by: session.user.id,
  teamId: team.id,
});

/** Returns the frame of a page for a signed-in user. `here` is the navigation entry of the page. */
export function frameOf(visit: SignedIn | Member, title: string, here = "", session = visit.session): Frame {
  const { teams } = visit;
  return {
    title,
    here,
    // If the path names no team and the user has only one team, show the entries of this team.
    team: "team" in visit ? visit.team : teams.length === 1 ? teams[0] : undefined,
    teams,
    email: session.user.email,
    csrf: csrfOf(session),
  };
}

/** Returns the query of the address. */
export const queryOf = ({ exchange }: Visit): URLSearchParams => new URLSearchParams(exchange.search);

/** Returns a query with its question mark. Leaves out empty values. */
export function queryText(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

/** Shows a page to a signed-in user. Above it stands the reason why a form failed, or the result of a change. */
export function showPage(
  visit: SignedIn,
  [title, here]: readonly [title: string, here: string],
  content: Child,
  { problem, status, headers }: { problem?: UserError | undefined; status?: number; headers?: AnswerHeaders } = {},
): Answer {
  const said = readSaid(visit.session, visit.exchange);
  return show(
    frameOf(visit, title, here),
    <>
      {problem !== undefined && <Message kind="error">{problem.shown}</Message>}
      {said !== undefined && (
        <Message kind="done" said>
          <span>
            <Breakable text={said.text} />
          </span>
          {said.undo !== undefined && <ButtonForm {...said.undo} label="Undo" />}
        </Message>
      )}
      {content}
    </>,
    problem?.status ?? status,
    headers,
  );
}
