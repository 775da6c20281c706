/** Opens the configured database and brings its schema up to date. */
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import { migrate } from "./database/migrations.ts";
import { Postgres } from "./database/postgres.ts";
import { Sqlite } from "./database/sqlite.ts";

export async function openDatabase(config: Pick<Config, "databaseUrl" | "databaseFile" | "databasePool">, onError: (error: Error) => void): Promise<Database> {
  const db = config.databaseUrl === undefined ? new Sqlite(config.databaseFile) : new Postgres(config.databaseUrl, { poolSize: config.databasePool, onError });
  try {
    await migrate(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return db;
}
