/** Services that every route may use. app.ts makes the services once. */
import type { Config } from "../core/config.ts";
import { UnavailableError } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";
import type { Metrics } from "../core/metrics.ts";
import type { Database } from "boxwright-service/database";
import type { Buckets } from "boxwright-service/bucket";
import type { Room } from "boxwright-service/room";
import type { Checker } from "../check/check.ts";
import type { Files } from "../files/files.ts";
import type { Desired } from "../nouns/waiting.ts";
import type { Exchange } from "boxwright-service/http/exchange";

export interface Services {
  readonly config: Config;
  /** The address that browsers and backends use, without a path. */
  readonly baseUrl: string;
  readonly db: Database;
  readonly now: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Counts the requests of each address. */
  readonly addresses: Buckets;
  /** Slots for bodies of devices and model files. */
  readonly bodies: Room;
  /** Versions that devices should run, and the requests that wait for a change. */
  readonly desired: Desired;
  /** Model files and pictures. */
  readonly files: Files;
  /** Checks applications. */
  readonly checker: Checker;
}

/** Logs and counts an error of the hub itself. The answer holds only the request id. */
export function reportError({ log, metrics }: Services, exchange: Exchange, error: unknown): void {
  metrics.internalErrors.inc();
  const what =
    error instanceof UnavailableError ? "the database or the store of files is not available" : "internal error";
  log.error({ request: exchange.id, route: exchange.route, err: error }, what);
}
