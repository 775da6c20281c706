/** Pages of the sign-in with a company account: the way to the provider, and the return from there. */
import { CALLBACK, endedCookie, OpenIdProvider, readSettings } from "../auth/oidc.ts";
import { UserError } from "../core/errors.ts";
import { signInAs } from "../nouns/identity.ts";
import { redirect, type Answer } from "./answer.tsx";
import type { Guards, Visit } from "./guards.tsx";
import { beginSession, type Site } from "./site.ts";

/** Parts of the sign-in page that these pages use. */
export interface SignInPages {
  /**
   * Counts an attempt to sign in against the limit of the visitor's address. Returns the refusal, or undefined if the
   * attempt may continue.
   */
  readonly limit: (visit: Visit) => Answer | undefined;
  readonly failed: (problem: UserError) => Answer;
}

export function registerOidc(site: Site, guards: Guards, pages: SignInPages): void {
  const { config, metrics, log } = site;
  const settings = readSettings(config);
  if (settings === undefined) return;
  const provider = new OpenIdProvider(settings, site.baseUrl);
  const joins = config.oidcTeam === undefined ? undefined : { teamId: config.oidcTeam, role: config.oidcRole };
  const attempt = async (visit: Visit, work: () => Promise<Answer>): Promise<Answer> => {
    const limited = pages.limit(visit);
    if (limited !== undefined) return limited;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      metrics.signIns.inc({ result: "wrong" });
      log.warn({ request: visit.exchange.id, reason: error.message }, "a sign-in by OpenID Connect failed");
      return { ...pages.failed(error), headers: { "set-cookie": endedCookie } };
    }
  };
  guards.open.get("/sign-in/oidc", (visit) =>
    attempt(visit, async () => {
      const { location, cookie } = await provider.begin();
      return redirect(location, { "set-cookie": cookie });
    }),
  );
  guards.open.get(CALLBACK, (visit) =>
    attempt(visit, async () => {
      const { exchange, token } = visit;
      const claims = await provider.finish(exchange.search, exchange.header("cookie"));
      const user = await signInAs(site.db, site.now(), claims, joins);
      metrics.signIns.inc({ result: "ok" });
      const { headers } = await beginSession(site, user, token);
      return redirect("/", { "set-cookie": [...headers["set-cookie"], endedCookie] });
    }),
  );
}
