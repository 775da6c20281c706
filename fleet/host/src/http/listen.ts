/** Listens on the port with time limits for connections, and closes it in order. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { closeServer, refuseBytes } from "boxwright-service/connections";
import { explainListen } from "boxwright-service/listen-error";
import type { Config } from "../core/config.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Env } from "./guards.ts";

/** Connections at once. `LimitNOFILE` of the unit has room for them. */
export const MOST_CONNECTIONS = 2048;
/** The longest headers are those of a preview: three names of 512 bytes, of which each byte may be escaped to three. */
const MOST_HEADER_BYTES = 12 * 1024;
/** Milliseconds after which event streams of live pages are cut: they never end by themselves. */
const DRAIN_MS = 10_000;
const BODY_GRACE_MS = 10_000;

export interface Listening {
  readonly port: number;
  stop(): Promise<void>;
}

export async function listen(
  app: Hono<Env>,
  { address, port, maxBodySeconds }: Pick<Config, "address" | "port" | "maxBodySeconds">,
  metrics: Metrics,
): Promise<Listening> {
  const handle = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
  });
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => void handle(incoming, outgoing);
  const server = createServer(
    // readBody refuses a late body with a reason. This ends bodies that no route reads.
    {
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: 10_000,
      requestTimeout: maxBodySeconds * 1000 + BODY_GRACE_MS,
      keepAliveTimeout: 75_000,
    },
    listener,
  );
  // Pass `Expect: 100-continue` requests to the routes: readBody sends 100 Continue only for a body that it reads.
  server.on("checkContinue", listener);
  server.maxConnections = MOST_CONNECTIONS;
  server.on("drop", () => metrics.denied.inc({ what: "connection" }));
  server.on("clientError", refuseBytes);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(explainListen(error, { address, port, addressName: "--address", portName: "--port" })),
    );
    server.listen(port, address, resolve);
  });
  return { port: (server.address() as AddressInfo).port, stop: () => closeServer(server, DRAIN_MS) };
}
