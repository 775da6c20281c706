/** Opens the configured database and brings its schema up to date. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../core/config.ts";
import type { Database } from "./database.ts";
import { migrate } from "./migrations.ts";
import { Postgres } from "./postgres.ts";
import { explainDisk, Sqlite } from "./sqlite.ts";
import { UnavailableError, UserError } from "../core/errors.ts";

type Settings = Pick<Config, "databaseUrl" | "databaseFile" | "databasePool">;

async function upToDate(db: Database): Promise<Database> {
  try {
    await migrate(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

export interface OpenOptions {
  /** True if a SQLite file that is not there may be made. A command in the wrong folder must not make one. */
  readonly create: boolean;
  readonly onError?: (error: Error) => void;
}

export async function openDatabase(
  { databaseUrl, databaseFile, databasePool }: Settings,
  { create, onError = () => undefined }: OpenOptions,
): Promise<Database> {
  if (databaseUrl !== undefined) return upToDate(new Postgres(databaseUrl, { poolSize: databasePool, onError }));
  if (!create && !existsSync(databaseFile))
    throw new UserError(
      `got no database file at ${resolve(databaseFile)}, expected one; ` +
        "run the command in the hub's folder, set HUB_DATABASE_FILE, or add --create to make a new, empty one",
    );
  try {
    return await upToDate(new Sqlite(databaseFile));
  } catch (caught) {
    const error = explainDisk(resolve(databaseFile), caught);
    if (error instanceof UnavailableError) throw error;
    // SQLite says "file is not a database" without its name.
    throw new Error(`database file ${databaseFile}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
