/** The hub on a port: TLS, time limits of connections, and an orderly end. */
import { UserError, messageOf } from "boxwright-service/errors";
import { explainListen } from "boxwright-service/listen-error";
import { readFileSync } from "node:fs";
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
import { limitConnections } from "./http/connections.ts";

export interface Running {
  readonly app: App;
  /** The address that browsers and backends use. */
  readonly baseUrl: string;
  readonly port: number;
  /** Stops accepting, answers what is under way, writes what is in memory. */
  stop(): Promise<void>;
}

export interface ServeOptions {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => number;
  readonly passwords?: Passwords;
  /** In milliseconds, for tests of slow clients. */
  readonly timeouts?: { readonly headers: number; readonly request: number; readonly standstill?: number };
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
  const running = (app = createApp({ ...options, baseUrl }));
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

function createServer({ config, timeouts }: ServeOptions, listener: http.RequestListener): http.Server | https.Server {
  const settings: http.ServerOptions = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: timeouts?.headers ?? 10_000,
    requestTimeout: timeouts?.request ?? 20_000,
    connectionsCheckingInterval: Math.min(1000, timeouts?.headers ?? 1000),
    // Longer than the idle time of common balancers: they shall close, and not the hub.
    keepAliveTimeout: 75_000,
  };
  const { tlsCert, tlsKey } = config;
  const server =
    tlsCert === undefined || tlsKey === undefined
      ? http.createServer(settings, listener)
      : createTlsServer({ ...settings, ...tlsSettings(tlsCert, tlsKey, settings.headersTimeout!) }, listener);
  server.setTimeout(timeouts?.standstill ?? STANDSTILL_MS);
  server.on("clientError", refuseBytes);
  return server;
}

/** Makes a server with TLS. OpenSSL does not say which of the two files it cannot use. */
function createTlsServer(settings: https.ServerOptions, listener: http.RequestListener): https.Server {
  try {
    return https.createServer(settings, listener);
  } catch (error) {
    throw new UserError(
      `HUB_TLS_CERT, HUB_TLS_KEY: got files that TLS cannot use (${messageOf(error)}); ` +
        "expected PEM files of a certificate chain and of its private key, without a password",
    );
  }
}

function tlsSettings(tlsCert: string, tlsKey: string, handshakeTimeout: number): https.ServerOptions {
  return {
    cert: readPart("HUB_TLS_CERT", tlsCert),
    key: readPart("HUB_TLS_KEY", tlsKey),
    minVersion: "TLSv1.2",
    handshakeTimeout,
  };
}

function readPart(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UserError(`${name}: got ${path}, which cannot be read (${messageOf(error)}); expected a PEM file`);
  }
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
