/** Runs the hub on a port: TLS, time limits of connections, and an orderly shutdown. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Certificate } from "boxwright-service/http/certificate";
import { listen } from "boxwright-service/http/listen";
import { createApp, type App } from "./app.ts";
import type { Passwords } from "./auth/derive.ts";
import type { Config } from "./core/config.ts";
import type { Logger } from "boxwright-service/log";
import type { Database } from "boxwright-service/database";

export interface Running {
  readonly app: App;
  /** The address that browsers and backends use. */
  readonly baseUrl: string;
  readonly port: number;
  /** Accepts no more requests, finishes the running ones, and writes the data in memory to the database. */
  stop(): Promise<void>;
}

export interface Timeouts {
  readonly headers: number;
  readonly request: number;
  readonly standstill?: number;
  readonly certificate?: number;
}

export interface ServeOptions {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => number;
  readonly passwords?: Passwords;
  /** Time limits in milliseconds, for tests of slow clients and renewed certificates. */
  readonly timeouts?: Timeouts;
}

/** Milliseconds between SIGTERM and the moment at which the hub cuts off the answers that still run. */
const DRAIN_LIMIT_MS = 30_000;
/** Largest number of bytes of headers. */
const MAX_HEADERS = 16 * 1024;

export async function serve(options: ServeOptions): Promise<Running> {
  const { config, log, db, timeouts } = options;
  let app: App | undefined;
  const listening = await listen({
    place: { address: config.host, port: config.port, addressName: "HUB_HOST", portName: "HUB_PORT" },
    listener: (request, response) => app!.handle(request, response),
    log,
    maxHeaderSize: MAX_HEADERS,
    perAddress: config.proxyHops > 0 ? undefined : config.addressConnections,
    connections: config.connections,
    onRefused: (limit) => app?.metrics.refusedConnections.inc({ limit }),
    certificate: certificateOf(options),
    drainMs: DRAIN_LIMIT_MS,
    headersMs: timeouts?.headers,
    standstillMs: timeouts?.standstill,
  });
  const { port } = listening;
  // Make the app only now: the base URL may contain the port, which is known from here on. No request comes in before
  // this turn of the event loop ends.
  const baseUrl = config.baseUrl ?? `http://localhost:${port}`;
  const running = (app = createApp({ ...options, baseUrl, ...(timeouts && { bodyMs: timeouts.request }) }));
  log.info({ baseUrl, host: config.host, port, database: db.kind }, "listening");

  async function stop(): Promise<void> {
    running.drain();
    log.info("draining");
    // Wait before refusing connections, so that a load balancer sees the change of /readyz first.
    await sleep(config.drainSeconds * 1000);
    running.endWaits();
    await listening.stop();
    await running.close();
    await db.close();
    log.info("stopped");
    log.flush();
  }

  let stopping: Promise<void> | undefined;
  return { app: running, baseUrl, port, stop: () => (stopping ??= stop()) };
}

function certificateOf({ config, timeouts }: ServeOptions): Certificate | undefined {
  const { tlsCert: cert, tlsKey: key } = config;
  if (cert === undefined || key === undefined) return undefined;
  return { cert, key, certName: "HUB_TLS_CERT", keyName: "HUB_TLS_KEY", everyMs: timeouts?.certificate };
}
