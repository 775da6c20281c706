/**
 * The hub as a function from a request to its answer. Creates the services that routes share, registers the routes, and
 * dispatches requests.
 *
 *     request -> limit of the address -> /graphql:  key -> limit of the key -> body -> query
 *                                     -> /device/*: credential -> limit of the device -> body -> state
 *                                     -> pages:     origin -> session -> form -> page
 *                                     -> /readyz, /metrics, files
 *             -> /healthz
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Passwords } from "./auth/derive.ts";
import { Checker } from "./check/check.ts";
import type { Config } from "./core/config.ts";
import { messageOf, UnavailableError } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";
import { Recent } from "./core/recent.ts";
import { WorkLimit } from "./core/work-limit.ts";
import { createMetrics, type Metrics } from "./core/metrics.ts";
import type { Database } from "boxwright-service/database";
import { Alerts } from "./alerts/alerts.ts";
import { registerAgents } from "./agents/routes.ts";
import { openFiles } from "./files/store.ts";
import { createEndpoint, type Endpoint } from "./graphql/endpoint.ts";
import { Exchange } from "boxwright-service/http/exchange";
import { registerOps } from "./http/ops.ts";
import { BodyError } from "boxwright-service/http/body";
import { refuse, refuseBody, refuseLimited, refuseMethod } from "./http/refusals.ts";
import { Router, type Handler } from "boxwright-service/http/router";
import { reportError, type Services } from "./http/services.ts";
import { Buckets } from "boxwright-service/bucket";
import { Room } from "boxwright-service/room";
import { deleteOrphans } from "./nouns/snap-deletion.ts";
import { SnapQuota } from "./nouns/snap-quota.ts";
import { Heartbeats } from "./nouns/status.ts";
import { createSweep } from "./nouns/sweep.ts";
import { watchRollouts } from "./nouns/rollout-steps.ts";
import { Desired } from "./nouns/waiting.ts";
import { registerAssets } from "./pages/assets.ts";
import { explainEndpoint, isOpened } from "./pages/explain.tsx";
import { registerPages } from "./pages/pages.ts";
import { sendSnapFile } from "./uploads/snap-file.ts";
import { handleModel } from "./uploads/models.ts";

/** Milliseconds between two writes of the last-use times of keys. */
const FLUSH_MS = 60_000;
/** Milliseconds between two writes of collected heartbeats. */
const HEARTBEAT_FLUSH_MS = 1000;
/** Milliseconds for which a version's config is cached. */
const CONFIG_MS = 1000;
/**
 * Number of waiting devices that are answered at the same time. Smaller than a database pool, since requests of
 * backends need connections too.
 */
const ANSWERS_AT_ONCE = 4;
/** Milliseconds between deletions of old rows. */
const SWEEP_MS = 60_000;
/** Milliseconds between checks of roll-outs with gates. */
const ROLLOUTS_MS = 5000;
/** Milliseconds between searches for files that no database row names. */
const CLEAN_MS = 3600_000;
/**
 * Limits of simultaneous uploads (files of devices, and model files), in total and per sender. A slow upload blocks no
 * other sender.
 */
const BODIES = { size: 1024, ofSender: 8, slowAfter: 5000 } as const;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\b/i;

export interface AppOptions {
  readonly config: Config;
  readonly baseUrl: string;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => number;
  readonly passwords?: Passwords;
  /** Milliseconds for a whole body, except for uploads. */
  readonly bodyMs?: number;
}

export interface App {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Makes /readyz answer 503 from now on, and closes connections after their answers. */
  drain(): void;
  /** Answers the requests that wait for a change. */
  endWaits(): void;
  /** Writes the last-use times that are still in memory. */
  flush(): Promise<void>;
  close(): Promise<void>;
  readonly metrics: Metrics;
  readonly endpoint: Endpoint;
  /** Heartbeats that are not written to the database yet. */
  readonly heartbeats: Heartbeats;
  /** Versions that devices should run, and the requests that wait for a change. */
  readonly desired: Desired;
  /** Counts the requests of each address. */
  readonly addresses: Buckets;
}

export function createApp(options: AppOptions): App {
  const services = createServices(options);
  const { metrics, addresses } = services;
  const { proxyHops } = options.config;
  const bodyTime = options.bodyMs === undefined ? {} : { bodyMs: options.bodyMs };
  let draining = false;
  const isDraining = (): boolean => draining;
  const router = new Router();
  const { desired } = services;
  desired.start();
  const endpoint = createEndpoint(services);
  registerOps(router, services, isDraining);
  const heartbeats = new Heartbeats(options.config.heartbeatSeconds);
  const ofAgents = { configs: new Recent<string | undefined>(CONFIG_MS), answers: new WorkLimit(ANSWERS_AT_ONCE) };
  registerAgents(router, { ...services, ...ofAgents, heartbeats, snapQuota: new SnapQuota() });
  const model = endpoint.forKey("applications", (exchange, { sha256 = "" }, sender) =>
    handleModel(services, exchange, sender, sha256),
  );
  router.any("/models/:sha256", model, { forPrograms: true });
  const file = endpoint.forKey("snaps", (exchange, { file = "" }, { teamId }) =>
    sendSnapFile(services, exchange, teamId, file),
  );
  router.any("/files/:file", file, { forPrograms: true });
  const graphql: Handler = (exchange) =>
    isOpened(exchange) ? explainEndpoint(exchange, options.baseUrl) : endpoint.handle(exchange);
  router.any("/graphql", graphql, { forPrograms: true });
  registerAssets(router);
  const notFound = registerPages(router, { ...services, passwords: options.passwords ?? new Passwords() });
  const dispatch = createDispatch(router, services, notFound);
  const flush = createFlush(services, endpoint);
  const flusher = setInterval(() => void flush(), FLUSH_MS).unref();
  const flushHeartbeats = createHeartbeatFlush(services, heartbeats);
  const heart = setInterval(() => void flushHeartbeats(), HEARTBEAT_FLUSH_MS).unref();
  const alerts = new Alerts(services);
  alerts.start();
  const sweep = createSweep(services);
  const sweeper = setInterval(() => void sweep(), SWEEP_MS).unref();
  const stopRollouts = watchRollouts(services, ROLLOUTS_MS);
  const cleaner = setInterval(() => void clean(services), CLEAN_MS).unref();
  // Remove files that no row names: a killed hub may have left such files.
  void clean(services);

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const start = performance.now();
    const exchange = new Exchange(request, response, { proxyHops, isDraining, ...bodyTime });
    response.on("close", () => record(services, exchange, (performance.now() - start) / 1000));
    dispatch(exchange).catch((error: unknown) => answerError(services, exchange, error));
  }

  async function close(): Promise<void> {
    for (const timer of [flusher, heart, sweeper, cleaner]) clearInterval(timer);
    desired.stop();
    await stopRollouts();
    await alerts.stop();
    await flush();
    await flushHeartbeats();
  }

  return {
    ...{ handle, flush, close, metrics, endpoint, heartbeats, desired, addresses },
    drain: () => void (draining = true),
    endWaits: () => desired.stop(),
  };
}

function createServices({ config, baseUrl, db, log, now = Date.now }: AppOptions): Services {
  const addresses = new Buckets({ rate: config.addressRate, burst: config.addressBurst });
  const onError = (error: unknown): void => log.error({ err: error }, "what devices should run could not be read");
  const desired = new Desired({ db, onError });
  const [files, checker] = [openFiles(config), new Checker()];
  const bodies = new Room(BODIES);
  return { config, baseUrl, db, now, log, metrics: createMetrics(), addresses, bodies, desired, files, checker };
}

/** Returns the handler of every request: checks the address limit, then calls the route's handler. */
function createDispatch(router: Router, services: Services, notFound: Handler) {
  return async (exchange: Exchange): Promise<void> => {
    // Refuse an absolute URL as the target: only proxies get such requests.
    if (!exchange.path.startsWith("/") || exchange.path.startsWith("//")) return refuse(exchange, "not_found");
    const found = router.find(exchange.method, exchange.path);
    exchange.route = found?.route.pattern ?? "page";
    if (found?.route.unlimited !== true) {
      const wait = services.addresses.take(exchange.address, services.now());
      if (wait > 0) return refuseLimited(exchange, services.metrics, "address", wait);
    }
    // A POST of JSON to another path usually comes from a program with a wrong address. Answer with JSON, not with a
    // page about forms.
    if (found?.route.forPrograms !== true && exchange.method === "POST" && isJson(exchange))
      return refuse(exchange, "not_found", ", expected /graphql");
    if (found !== undefined) return found.route.handler(exchange, found.params);
    if (!["GET", "HEAD", "POST"].includes(exchange.method)) return refuseMethod(exchange, "GET, HEAD, POST");
    return notFound(exchange, {});
  };
}

function isJson(exchange: Exchange): boolean {
  return JSON_TYPE.test(exchange.header("content-type") ?? "");
}

/** Counts and logs an answer. */
function record({ metrics, log }: Services, exchange: Exchange, seconds: number): void {
  const { id, method, route, status, address, sender } = exchange;
  metrics.requests.inc({ route, status });
  metrics.seconds.observe({ route }, seconds);
  log.info({ request: id, method, route, status, ms: Math.round(seconds * 1e5) / 100, address, ...sender });
}

function answerError(services: Services, exchange: Exchange, error: unknown): void {
  if (error instanceof BodyError) return refuseBody(exchange, error);
  reportError(services, exchange, error);
  const detail = ` (request ${exchange.id})`;
  if (error instanceof UnavailableError) refuse(exchange, "unavailable", detail, { "retry-after": "1" });
  else refuse(exchange, "internal", detail);
}

function createFlush({ db, log }: Services, { lastUsed }: Endpoint): () => Promise<void> {
  return async () => {
    try {
      await lastUsed.flush(db);
    } catch (error) {
      log.error({ err: error }, "times of last use could not be written; they are kept for the next time");
    }
  };
}

function createHeartbeatFlush({ db, log }: Services, heartbeats: Heartbeats): () => Promise<void> {
  let loggedReason = "";
  return async () => {
    try {
      await heartbeats.flush(db);
      if (loggedReason !== "") log.info("heartbeats are written again");
      loggedReason = "";
    } catch (error) {
      // Log each reason once: this runs every second, and the full disk may be the disk of the log.
      if (messageOf(error) !== loggedReason)
        log.error({ err: error }, "heartbeats could not be written; they are kept for the next time");
      loggedReason = messageOf(error);
    }
  };
}

/** Deletes files that no row names. */
async function clean({ db, now, log, files }: Services): Promise<void> {
  try {
    await deleteOrphans(db, files, now());
  } catch (error) {
    log.error({ err: error }, "files that no row names could not be deleted; the next time will try again");
  }
}
