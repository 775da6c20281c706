/** Routes for operators: /healthz, /readyz and /metrics. */
import { readCredentials } from "../auth/teamkey.ts";
import { isLoopback } from "boxwright-service/schema/options";
import { sameText } from "boxwright-service/tokens";
import { databaseVersion } from "boxwright-service/migrate";
import { schemaVersion } from "../database/migrations.ts";
import { authorizationOf, callerOf } from "boxwright-service/http/caller";
import type { Exchange } from "boxwright-service/http/exchange";
import { refuse } from "./refusals.ts";
import type { Router } from "boxwright-service/http/router";
import type { Services } from "./services.ts";

const TEXT = "text/plain; charset=utf-8";
/**
 * Milliseconds for which readiness is cached. Anybody may request /readyz, and the database is queried at most once a
 * second.
 */
const READY_CACHE_MS = 1000;

export function registerOps(router: Router, services: Services, isDraining: () => boolean): void {
  const readiness = createReadiness(services);

  router.any("/healthz", (exchange) => exchange.send(200, TEXT, "alive\n"), { forPrograms: true, unlimited: true });

  router.any(
    "/readyz",
    async (exchange) => {
      const problem = isDraining() ? "shutting down" : await readiness();
      exchange.send(problem === undefined ? 200 : 503, TEXT, `${problem ?? "ready"}\n`);
    },
    { forPrograms: true },
  );

  router.any(
    "/metrics",
    async (exchange) => {
      const { registry } = services.metrics;
      if (!maySeeMetrics(services, exchange)) refuse(exchange, "not_found");
      else exchange.send(200, registry.contentType, await registry.metrics());
    },
    { forPrograms: true },
  );
}

/**
 * Makes a function that checks if the hub is ready. The function returns the problem, or undefined if there is none.
 */
function createReadiness({ db, log, now }: Services): () => Promise<string | undefined> {
  let last: { readonly at: number; readonly problem: Promise<string | undefined> } | undefined;

  async function ask(): Promise<string | undefined> {
    try {
      const version = await databaseVersion(db);
      if (version === schemaVersion) return await problemOf();
      return `got a database of schema version ${version}, expected ${schemaVersion}`;
    } catch (error) {
      log.warn({ err: error }, "not ready");
      return (await db.problem().catch(() => undefined)) ?? "the database cannot be reached";
    }
  }

  async function problemOf(): Promise<string | undefined> {
    const problem = await db.problem();
    if (problem !== undefined) log.error({ problem }, "not ready");
    return problem;
  }

  return () => {
    const at = now();
    // Use the absolute difference, since the clock may have been set back.
    if (last === undefined || Math.abs(at - last.at) >= READY_CACHE_MS) last = { at, problem: ask() };
    return last.problem;
  };
}

/**
 * True if the request has the configured token. Without a configured token, true for a request from this machine that
 * no proxy forwarded.
 */
function maySeeMetrics({ config }: Services, { request }: Exchange): boolean {
  if (config.metricsToken === undefined)
    return config.proxyHops === 0 && isLoopback(callerOf(request.socket.remoteAddress ?? ""));
  const credentials = readCredentials(authorizationOf(request));
  return credentials.kind === "bearer" && sameText(credentials.token, config.metricsToken);
}
