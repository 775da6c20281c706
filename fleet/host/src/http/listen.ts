/** Listens on the port with time limits for connections, and closes it in order. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { UserError } from "boxwright-service/errors";
import type { Metrics } from "../core/metrics.ts";
import type { Env } from "./guards.ts";

const MOST_CONNECTIONS = 2048;
const DRAIN_MS = 10_000;

export interface Listening {
  readonly port: number;
  stop(): Promise<void>;
}

export async function listen(
  app: Hono<Env>,
  { address, port }: { readonly address: string; readonly port: number },
  metrics: Metrics,
): Promise<Listening> {
  const handle = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
  });
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => void handle(incoming, outgoing);
  const server = createServer(
    { maxHeaderSize: 32 * 1024, headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 75_000 },
    listener,
  );
  // Pass `Expect: 100-continue` requests to the routes: readBody sends 100 Continue only for a body that it reads.
  server.on("checkContinue", listener);
  server.maxConnections = MOST_CONNECTIONS;
  server.on("drop", () => metrics.denied.inc({ what: "connection" }));
  server.on("clientError", refuseBytes);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, address, port)));
    server.listen(port, address, resolve);
  });
  return { port: (server.address() as AddressInfo).port, stop: () => close(server) };
}

/** Returns a UserError for an address or port that the operator can change, else the error itself. */
function explain(error: NodeJS.ErrnoException, address: string, port: number): Error {
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `port: got ${port}, which another program listens on at ${address}; expected a free one (--port)`,
    EACCES: `port: got ${port}, which this user may not listen on; expected one above 1023 (--port)`,
    EADDRNOTAVAIL: `address: got ${address}, which this machine does not have; expected one of its own (--address)`,
    ENOTFOUND: `address: got ${address}, which has no meaning here; expected an address of this machine (--address)`,
  };
  const problem = problems[error.code ?? ""];
  return problem === undefined ? error : new UserError(problem, { cause: error });
}

/** Answers bytes that are no request, or arrive too slowly. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  if (socket.writable && error.code !== "ECONNRESET")
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), 1000).unref();
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  // Close the event streams of live pages by force: they never end by themselves.
  const limit = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(limit);
}
