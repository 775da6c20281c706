/**
 * Limits on open connections: so many of one address, and so many in all. Without the first, one machine with thousands
 * of half-sent headers locks everybody out.
 */
import type { Server, Socket } from "node:net";
import type { Logger } from "boxwright-service/log";
import type { Metrics } from "../core/metrics.ts";
import { callerOf } from "boxwright-service/caller";

/** Refused connections are logged together, at most once in this time: a flood shall not fill the disk. */
const LOG_PAUSE_MS = 10_000;

export type ConnectionLimit = "address" | "total";

export interface ConnectionOptions {
  /** Connections of one address (IPv6: one /64); undefined behind a proxy, whose address all callers share. */
  readonly perAddress: number | undefined;
  /** Connections of this process in all. */
  readonly total: number;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Closes connections over a limit before a byte of them is read. Counts and logs each of them. */
export function limitConnections(server: Server, options: ConnectionOptions): void {
  const { perAddress = Infinity, metrics } = options;
  const open = new Map<string, number>();
  const log = createRefusalLog(options);
  const refuse = (limit: ConnectionLimit, address: string): void => {
    metrics.refusedConnections.inc({ limit });
    log(limit, address);
  };
  server.maxConnections = options.total;
  server.on("drop", (data) => refuse("total", callerOf(data?.remoteAddress ?? "unknown")));
  // Stand before TLS and HTTP: neither shall spend work on a connection that is closed at once.
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

/** Returns a function that logs the first refusal at once, and those of the following pause in one line. */
function createRefusalLog({ log }: ConnectionOptions) {
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
