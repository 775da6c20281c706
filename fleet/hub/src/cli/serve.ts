/** `boxwright-hub serve`: runs the hub until SIGTERM or SIGINT. */
import type { Config } from "../core/config.ts";
import type { Database } from "boxwright-service/database";
import { outliveRotation } from "boxwright-service/hang-up";
import { connectionLimitProblem } from "boxwright-service/limits";
import { openWhenThere } from "boxwright-service/open-when-there";
import { createLogger } from "../core/log.ts";
import { openDatabase } from "../database/open.ts";
import { openFiles } from "../files/store.ts";
import { serve } from "../server.ts";

/** Opens the database, and checks that the file store works. */
async function openAll(config: Config, create: boolean, onError: (error: Error) => void): Promise<Database> {
  const db = await openDatabase(config, { create, onError });
  try {
    await openFiles(config).check();
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

export async function runServer(config: Config, create: boolean): Promise<void> {
  const log = createLogger(config.logLevel);
  outliveRotation((message) => log.info(message));
  const onError = (error: Error): void => log.warn({ err: error }, "a database connection broke");
  const db = await openWhenThere(() => openAll(config, create, onError), {
    log,
    address: config.host,
    port: config.port,
  });
  const server = await serve({ config, db, log });
  const limit = connectionLimitProblem(config.connections);
  if (limit !== undefined) log.warn(limit);
  const stop = (): void => {
    server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "did not stop in order");
        log.flush(() => process.exit(1));
      },
    );
  };
  // Register the handlers before printing "listening": programs that wait for this line may send a signal at once.
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  const listening = { listening: server.baseUrl, port: server.port, database: db.kind };
  process.stdout.write(`${JSON.stringify(listening)}\n`);
}

/** Runs the checks of `runServer` that come before the port opens. Returns their results. */
export async function checkServer(config: Config, create: boolean): Promise<Record<string, unknown>> {
  const db = await openDatabase(config, { create });
  try {
    await openFiles(config).check();
    const { s3Endpoint, s3Bucket, filesFolder } = config;
    return { database: db.kind, files: s3Bucket === undefined ? filesFolder : `${s3Endpoint}/${s3Bucket}` };
  } finally {
    await db.close();
  }
}
