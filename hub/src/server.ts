/** The hub on a port: time limits of the connections, TLS, and an orderly end. */
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "./core/config.ts";
import type { Database } from "./database/database.ts";
import { createHub, type Hub } from "./app.ts";
import type { Logger } from "./core/log.ts";
import type { Passwords } from "./auth/password.ts";

export interface Running {
  readonly hub: Hub;
  /** Where browsers and backends find it. */
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
  /** For tests of slow clients. */
  readonly timeouts?: { readonly headers: number; readonly request: number; readonly standstill?: number };
}

/** After this long an answer that is still under way is given up. */
const DRAIN_LIMIT_MS = 30_000;
/** For the first bytes of a request that were on their way when the port closed. */
const DRAIN_GRACE_MS = 1000;
const MAX_CONNECTIONS = 4096;
/**
 * A connection on which nothing moves for so long is cut. It is for answers that nobody reads: each may be of megabytes,
 * and is held until it is read. Longer than any request may wait inside.
 */
const STANDSTILL_MS = 60_000;

export async function serve(options: ServeOptions): Promise<Running> {
  const { config, log } = options;
  const settings: http.ServerOptions = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: options.timeouts?.headers ?? 10_000,
    requestTimeout: options.timeouts?.request ?? 20_000,
    connectionsCheckingInterval: Math.min(1000, options.timeouts?.headers ?? 1000),
    // Longer than the idle time of common balancers, so that it is them who close.
    keepAliveTimeout: 75_000,
  };
  // Given only when the port is known, because the base address may hold it; no request comes in before that.
  const late: { hub?: Hub } = {};
  let underWay = 0;
  const listener: http.RequestListener = (request, response) => {
    underWay++;
    response.once("close", () => underWay--);
    late.hub!.handle(request, response);
  };
  const server =
    config.tlsCert !== undefined && config.tlsKey !== undefined
      ? https.createServer(
          {
            ...settings,
            cert: readFileSync(config.tlsCert),
            key: readFileSync(config.tlsKey),
            minVersion: "TLSv1.2",
            handshakeTimeout: settings.headersTimeout,
          },
          listener,
        )
      : http.createServer(settings, listener);
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(options.timeouts?.standstill ?? STANDSTILL_MS);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // Not HTTP, too long, or too slow: one short answer, and the connection ends.
    const status =
      error.code === "HPE_HEADER_OVERFLOW"
        ? "431 Request Header Fields Too Large"
        : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
          ? "408 Request Timeout"
          : "400 Bad Request";
    if (socket.writable && error.code !== "ECONNRESET") socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    setTimeout(() => socket.destroy(), 1000).unref();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = config.baseUrl ?? `http://localhost:${port}`;
  const running = createHub({ ...options, baseUrl });
  late.hub = running;
  log.info({ baseUrl, host: config.host, port, database: options.db.kind }, "listening");

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    running.drain();
    log.info("draining");
    // A balancer needs time to see /readyz before connections are refused.
    await sleep(config.drainSeconds * 1000);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const closedAt = performance.now();
    const sweep = setInterval(() => {
      // Connections that finish their answer during the drain say `Connection: close`; some are kept by their client all the same.
      server.closeIdleConnections();
      // One that was opened and never sent a request is not idle to Node, and no time limit of Node's ends it any more.
      if (underWay === 0 && performance.now() - closedAt > DRAIN_GRACE_MS) server.closeAllConnections();
    }, 50);
    const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
    await closed;
    clearInterval(sweep);
    clearTimeout(limit);
    await running.close();
    await options.db.close();
    log.info("stopped");
    log.flush();
  }
  return { hub: running, baseUrl, port, stop: () => (stopping ??= stop()) };
}
