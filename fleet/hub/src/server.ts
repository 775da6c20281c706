/** The hub on a port: TLS, time limits of connections, and an orderly end. */
import { explainListen } from "boxwright-service/listen-error";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { closeServer, refuseBytes } from "boxwright-service/connections";
import { createApp, type App } from "./app.ts";
import type { Passwords } from "./auth/derive.ts";
import type { Config } from "./core/config.ts";
import type { Logger } from "boxwright-service/log";
import type { Database } from "boxwright-service/database";
import { createTlsServer } from "./http/certificate.ts";
import { limitConnections } from "./http/connections.ts";

export interface Running {
  readonly app: App;
  /** The address that browsers and backends use. */
  readonly baseUrl: string;
  readonly port: number;
  /** Stops accepting, answers what is under way, writes what is in memory. */
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
  /** In milliseconds, for tests of slow clients and renewed certificates. */
  readonly timeouts?: Timeouts;
}

/** After SIGTERM, an answer that is still under way is given up after this long. */
const DRAIN_LIMIT_MS = 30_000;
/**
 * A connection on which nothing moves for so long is cut. An answer that nobody reads may be of megabytes, and is held
 * until it is read. Longer than any request may wait inside the hub.
 */
const STANDSTILL_MS = 60_000;

export async function serve(options: ServeOptions): Promise<Running> {
  const { config, log, db } = options;
  let app: App | undefined;
  let underWay = 0;
  const server = createServer(options, (request, response) => {
    underWay++;
    response.once("close", () => underWay--);
    app!.handle(request, response);
  });
  const port = await listen(server, config);
  // The base address may hold the port, which is known only now. No request comes in before this tick ends.
  const baseUrl = config.baseUrl ?? `http://localhost:${port}`;
  const running = (app = createApp({
    ...options,
    baseUrl,
    ...(options.timeouts && { requestMs: options.timeouts.request }),
  }));
  const perAddress = config.proxyHops > 0 ? undefined : config.addressConnections;
  limitConnections(server, { perAddress, total: config.connections, metrics: running.metrics, log });
  log.info({ baseUrl, host: config.host, port, database: db.kind }, "listening");

  async function stop(): Promise<void> {
    running.drain();
    log.info("draining");
    // A balancer needs time to see /readyz before connections are refused.
    await sleep(config.drainSeconds * 1000);
    running.endWaits();
    await closeServer(server, DRAIN_LIMIT_MS, () => underWay);
    await running.close();
    await db.close();
    log.info("stopped");
    log.flush();
  }

  let stopping: Promise<void> | undefined;
  return { app: running, baseUrl, port, stop: () => (stopping ??= stop()) };
}

function createServer(
  { config, log, timeouts }: ServeOptions,
  listener: http.RequestListener,
): http.Server | https.Server {
  const settings: http.ServerOptions = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: timeouts?.headers ?? 10_000,
    // The exchange limits the time of a request. Node's limit would cut uploads too, however fast they come.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(1000, timeouts?.headers ?? 1000),
    // Longer than the idle time of common balancers: they shall close, and not the hub.
    keepAliveTimeout: 75_000,
  };
  const { tlsCert, tlsKey } = config;
  const files = tlsCert === undefined || tlsKey === undefined ? undefined : { tlsCert, tlsKey };
  const tlsSettings = { ...settings, handshakeTimeout: settings.headersTimeout! };
  const server =
    files === undefined ? http.createServer(settings) : createTlsServer(tlsSettings, files, log, timeouts?.certificate);
  server.on("request", listener);
  server.setTimeout(timeouts?.standstill ?? STANDSTILL_MS);
  server.on("clientError", refuseBytes);
  return server;
}

async function listen(server: http.Server | https.Server, { port, host }: Config): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(explainListen(error, { address: host, port, addressName: "HUB_HOST", portName: "HUB_PORT" })),
    );
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}
