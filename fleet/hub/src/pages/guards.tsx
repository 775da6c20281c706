/**
 * Guards of pages, in this order: checks for all visitors, the session, the form of a POST with its CSRF token, and
 * membership of the team in the path. A form is read only if its sender has a session.
 */
import { checkCsrf, csrfOf, isOwnMark, endedSessionCookie, readSessionCookie } from "../auth/cookie.ts";
import type { Exchange } from "boxwright-service/http/exchange";
import { BodyError } from "boxwright-service/http/body";
import { refuse, refuseBody } from "../http/refusals.ts";
import type { Handler, Params, Router } from "boxwright-service/http/router";
import { reportError } from "../http/services.ts";
import { UserError } from "../core/errors.ts";
import type { Change } from "../nouns/group.ts";
import { readSession, type Session } from "../nouns/session.ts";
import { teamsOf, type Membership } from "../nouns/team.ts";
import { notFound, problemPage, redirect, refused, sendAnswer, type Answer } from "./answer.tsx";
import { emptyForm, isForm, isOwnForm, readForm, type Form } from "./form.ts";
import type { Frame } from "./layout.tsx";
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
  /** Registers a form. An error that the user can correct is shown on the form's page, which `failed` makes. */
  change(path: string, work: Page<V>, failed: (visit: V, problem: UserError) => Promise<Answer> | Answer): void;
}

export interface Guards {
  /** For all visitors. The page itself reads the form of a POST. */
  readonly open: Guard<Visit>;
  readonly signedIn: Guard<SignedIn>;
  /** For members of the team in the path. Other people get 404. Viewers may send no forms and no script requests. */
  readonly member: Guard<Member>;
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
    change(path, work, failed) {
      const page: Page<V> = async (visit) => {
        try {
          return await work(visit);
        } catch (error) {
          if (error instanceof UserError) return failed(visit, error);
          throw error;
        }
      };
      router.post(path, handlerOf(page));
    },
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
export const changeOf = ({ now }: Site, { team, session }: Member): Change => ({
  now: now(),
  actor: session.user.email,
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
