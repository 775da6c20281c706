/** Ends connections: of bytes that are no request, and of a server that stops. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

const REFUSED_BYTES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/**
 * Answers bytes that are no HTTP request, are too many or come too slowly: one short answer, then the end. Listen with
 * it to "clientError".
 */
export function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  const status = REFUSED_BYTES[error.code ?? ""] ?? "400 Bad Request";
  if (socket.writable && error.code !== "ECONNRESET")
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** Time for the first bytes of a request that were on their way when the port closed. */
const GRACE_MS = 1000;
const SWEEP_MS = 50;

/**
 * Closes the port and waits for the requests under way.
 * @param limit milliseconds after which their connections are cut
 * @param underWay count of requests that are not answered
 */
export async function closeServer(
  server: Pick<Server, "close" | "closeIdleConnections" | "closeAllConnections">,
  limit: number,
  underWay = (): number => 1,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const closedAt = performance.now();
  const sweep = setInterval(() => {
    // Some clients keep the connection, whatever the answer says.
    server.closeIdleConnections();
    // A connection that never sent a request is not idle to Node, and no time limit of Node's ends it any more.
    if (underWay() === 0 && performance.now() - closedAt > GRACE_MS) server.closeAllConnections();
  }, SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), limit);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
