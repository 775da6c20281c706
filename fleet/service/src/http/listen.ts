/**
 * Opens a service on a port, with limits on time and connections, TLS if there is a certificate, and an orderly end.
 *
 * Connections are limited in total and per address. Without the limit per address, one machine with thousands of
 * half-sent headers could lock everybody out.
 */
import http, { type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type https from "node:https";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import { UserError, codeOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import { type Certificate, createTlsServer } from "./certificate.ts";
import { callerOf } from "./caller.ts";

/** Address and port of a service, with the names of their settings for errors. */
export interface Place {
  readonly address: string;
  readonly port: number;
  readonly addressName: string;
  readonly portName: string;
}

export type ConnectionLimit = "address" | "total";

export interface ListenOptions {
  readonly place: Place;
  readonly listener: RequestListener;
  readonly log: Logger;
  readonly maxHeaderSize: number;
  /**
   * Largest number of connections per address (IPv6: per /64). Undefined behind a proxy, whose address all callers
   * share.
   */
  readonly perAddress: number | undefined;
  /** Largest number of connections in total. */
  readonly connections: number;
  readonly onRefused: (limit: ConnectionLimit) => void;
  readonly certificate?: Certificate | undefined;
  /** Milliseconds from the stop of the service until the connections of running requests are closed. */
  readonly drainMs: number;
  readonly headersMs?: number | undefined;
  readonly standstillMs?: number | undefined;
}

export interface Listening {
  readonly port: number;
  /** Closes the port, and waits for running requests. */
  stop(): Promise<void>;
}

const HEADERS_MS = 10_000;
/**
 * Milliseconds without a byte after which a connection is closed, since its client is probably gone. No request may
 * wait that long inside a service.
 */
const STANDSTILL_MS = 60_000;
/**
 * Milliseconds after which an idle connection is closed. Common load balancers close their connections earlier, so they
 * never use one that the service has closed.
 */
const KEEP_ALIVE_MS = 75_000;
/** Milliseconds after an answer during which the rest of the body is discarded. Then the connection is closed. */
const LINGER_MS = 1000;

export async function listen(options: ListenOptions): Promise<Listening> {
  const { certificate, headersMs = HEADERS_MS, log, maxHeaderSize } = options;
  let underWay = 0;
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    underWay++;
    response.once("close", () => {
      underWay--;
      discardRest(request);
    });
    options.listener(request, response);
  };
  const settings: http.ServerOptions = {
    maxHeaderSize,
    headersTimeout: headersMs,
    // Turn off Node's limit, which would cut off large files even if they come fast. The readers of bodies have their
    // own limits.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(1000, headersMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server =
    certificate === undefined
      ? http.createServer(settings)
      : createTlsServer({ ...settings, handshakeTimeout: headersMs }, certificate, log);
  // Pass `Expect: 100-continue` to the routes, which answer it only if they read the body.
  server.on("request", listener).on("checkContinue", listener);
  server.setTimeout(options.standstillMs ?? STANDSTILL_MS);
  server.on("clientError", refuseBytes);
  limitConnections(server, options);
  await open(server, options.place);
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => closeServer(server, options.drainMs, () => underWay),
  };
}

async function open(server: Server | https.Server, place: Place): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explainListen(error, place)));
    server.listen(place.port, place.address, resolve);
  });
}

/** Returns a UserError if the operator can fix the problem with another address or port, else the error itself. */
export function explainListen(error: Error, { address, port, addressName, portName }: Place): Error {
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `port: got ${port}, which another program listens on at ${address}; expected a free one (${portName})`,
    EACCES: `port: got ${port}, which this user may not listen on; expected one above 1023 (${portName})`,
    EADDRNOTAVAIL: `address: got ${address}, which this machine does not have; expected one of its own (${addressName})`,
    ENOTFOUND: `address: got ${address}, which is no address and no known name; expected an address of this machine (${addressName})`,
  };
  const problem = problems[codeOf(error)];
  return problem === undefined ? error : new UserError(problem, { cause: error });
}

/** Discards the rest of a body for a moment, for senders that read the answer only after writing everything. */
function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.destroy(), LINGER_MS).unref();
}

const REFUSED_BYTES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Answers bytes that are no HTTP request, and headers that are too large or too slow. Closes the connection. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  const status = REFUSED_BYTES[error.code ?? ""] ?? "400 Bad Request";
  if (socket.writable && error.code !== "ECONNRESET")
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** Closes connections over a limit before reading a byte. Counts and logs them. */
function limitConnections(server: NetServer, options: ListenOptions): void {
  const { perAddress = Infinity, onRefused } = options;
  const open = new Map<string, number>();
  const logRefusal = createRefusalLog(options.log);
  const refuse = (limit: ConnectionLimit, address: string): void => {
    onRefused(limit);
    logRefusal(limit, address);
  };
  server.maxConnections = options.connections;
  server.on("drop", (data) => refuse("total", callerOf(data?.remoteAddress ?? "unknown")));
  // Count before TLS and HTTP handle the connection, so that a refused connection costs no handshake.
  const accept = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket) => {
    const address = callerOf(socket.remoteAddress ?? "unknown");
    const count = (open.get(address) ?? 0) + 1;
    if (count > perAddress) {
      refuse("address", address);
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    for (const listener of accept) listener.call(server, socket);
  });
}

/** Milliseconds between two log lines about refused connections, so that a flood does not fill the disk. */
const LOG_PAUSE_MS = 10_000;

/** Returns a function that logs the first refusal at once, and all refusals of the following pause in one line. */
function createRefusalLog(log: Logger) {
  const counts = { address: 0, total: 0 };
  let pause: NodeJS.Timeout | undefined;
  let last = "";

  function write(): void {
    const refused = counts.address + counts.total;
    pause = undefined;
    if (refused === 0) return;
    log.warn({ refused, overAddressLimit: counts.address, overTotalLimit: counts.total, last }, "connections refused");
    counts.address = counts.total = 0;
    pause = setTimeout(write, LOG_PAUSE_MS).unref();
  }

  return (limit: ConnectionLimit, address: string): void => {
    counts[limit]++;
    last = address;
    if (pause === undefined) write();
  };
}

/** Milliseconds for requests that were already on their way when the port closed. */
const GRACE_MS = 1000;
const SWEEP_MS = 50;

/**
 * Closes the port and waits for the running requests.
 * @param limit milliseconds after which the connections of these requests are cut
 * @param underWay number of requests without a complete answer
 */
async function closeServer(server: Server | https.Server, limit: number, underWay: () => number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const closedAt = performance.now();
  const sweep = setInterval(() => {
    // Close idle connections repeatedly, since some clients keep a connection although the answer says close.
    server.closeIdleConnections();
    // Close connections that never sent a request, which Node does not count as idle.
    if (underWay() === 0 && performance.now() - closedAt > GRACE_MS) server.closeAllConnections();
  }, SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), limit);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
