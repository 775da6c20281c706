/**
 * At the start of a service, waits for a resource that is not available yet, so that services may start in any order.
 */
import { createServer, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { DISK_FULL } from "./database.ts";
import { messageOf, RefusedError, UnavailableError } from "./errors.ts";
import type { Logger } from "./log.ts";

const RETRY_MS = 1000;

export interface WaitOptions {
  readonly log: Logger;
  /** Address of the service. Until the resource is available, every request to it gets 503 with the reason. */
  readonly address: string;
  readonly port: number;
  /** False: tries only once. Default true. */
  readonly waits?: boolean;
}

/**
 * Opens a resource, and retries while it is unavailable. Logs each new reason. A signal ends the process at once, since
 * there is nothing to finish.
 * @throws any other error of `open`
 */
export async function openWhenThere<T>(
  open: () => Promise<T>,
  { log, address, port, waits = true }: WaitOptions,
): Promise<T> {
  let problem = "";
  let server: Server | undefined;
  try {
    for (;;)
      try {
        return await open();
      } catch (error) {
        if (!waits || !(error instanceof UnavailableError) || error instanceof RefusedError) throw error;
        const { message, cause } = error;
        const reason = cause === undefined || message.includes(messageOf(cause)) ? "" : ` (${messageOf(cause)})`;
        const found = message + reason + (message.startsWith(DISK_FULL) ? "; make room on this disk" : "");
        if (problem !== found) log.error({ problem: found }, "cannot start yet, trying again");
        problem = found;
        server ??= await listen(address, port, () => problem);
        await sleep(RETRY_MS);
      }
  } finally {
    await close(server);
  }
}

/** Answers every request with the problem. Ignores a taken port, which the service itself reports later. */
function listen(address: string, port: number, problem: () => string): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    const headers = { "Content-Type": "application/json", "Retry-After": "1", Connection: "close" };
    response.writeHead(503, headers).end(JSON.stringify({ ok: false, error: "not started yet", problem: problem() }));
  });
  return new Promise((resolve) => {
    server.once("error", () => resolve(server)).listen(port, address, () => resolve(server));
  });
}

async function close(server: Server | undefined): Promise<void> {
  if (server === undefined) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
