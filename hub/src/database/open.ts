/** Opens the configured database and brings its schema up to date. */
import type { Config } from "../core/config.ts";
import type { Database } from "./database.ts";
import { migrate } from "./migrations.ts";
import { Postgres } from "./postgres.ts";
import { Sqlite } from "./sqlite.ts";
import { UnavailableError } from "../core/errors.ts";

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

export async function openDatabase(
  { databaseUrl, databaseFile, databasePool }: Settings,
  onError: (error: Error) => void,
): Promise<Database> {
  if (databaseUrl !== undefined) return upToDate(new Postgres(databaseUrl, { poolSize: databasePool, onError }));
  try {
    return await upToDate(new Sqlite(databaseFile));
  } catch (error) {
    if (error instanceof UnavailableError) throw error;
    // SQLite says "file is not a database" without its name.
    throw new Error(`database file ${databaseFile}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
