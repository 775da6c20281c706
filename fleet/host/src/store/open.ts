/** Opens the configured database and brings its schema up to date. */
import type { Config } from "../core/config.ts";
import type { Database } from "./database.ts";
import { migrate } from "./migrations.ts";
import { Postgres } from "./postgres.ts";
import { Sqlite } from "./sqlite.ts";

export async function openDatabase(
  { database, databasePool }: Pick<Config, "database" | "databasePool">,
  onError: (error: Error) => void = () => undefined,
): Promise<Database> {
  const isPostgres = /^postgres(ql)?:\/\//.test(database);
  const db = isPostgres ? new Postgres(database, databasePool, onError) : new Sqlite(database);
  try {
    await migrate(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
