/** `hub serve`: runs the hub until SIGTERM or SIGINT. */
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { UserError, messageOf } from "boxwright-service/errors";
import type { Config } from "../core/config.ts";
import { createLogger } from "../core/log.ts";
import { openDatabase } from "../database/open.ts";
import { serve } from "../server.ts";

export async function runServer(config: Config, create: boolean): Promise<void> {
  const log = createLogger(config.logLevel);
  const onError = (error: Error): void => log.warn({ err: error }, "a database connection broke");
  const db = await openDatabase(config, { create, onError });
  await checkFolder(config.filesFolder);
  const server = await serve({ config, db, log });
  const stop = (): void => {
    server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "did not stop in order");
        log.flush(() => process.exit(1));
      },
    );
  };
  // Before the line "listening": whoever waits for it may send a signal at once.
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  const listening = { listening: server.baseUrl, port: server.port, database: db.kind };
  process.stdout.write(`${JSON.stringify(listening)}\n`);
}

/** Makes the folder of files if it is missing. Without it the hub would run, and refuse each model and snap. */
async function checkFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UserError(
      `HUB_FILES: got ${folder}, which the hub cannot write (${messageOf(error)}); expected a folder of its own user`,
    );
  }
}
