/** Migrates a schema in numbered steps. A released step never changes: every change gets a new number. */
import type { Database, Owner, Queries } from "./database.ts";
import { UserError } from "./errors.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Returns the statements. `text` is the type for text columns, which makes both databases order by bytes. */
  readonly sql: (text: string) => string;
}

export interface MigrateOptions extends Owner {
  readonly steps: readonly Migration[];
  readonly now?: () => number;
}

/**
 * Runs the steps that the database lacks, all or none. Returns their number. Several processes may call this function
 * at the same time.
 */
export async function migrate(db: Database, { service, steps, now = Date.now }: MigrateOptions): Promise<number> {
  const text = db.kind === "postgres" ? 'TEXT COLLATE "C"' : "TEXT";
  let applied = 0;
  await db.migrate(async (tx) => {
    applied = 0;
    await tx.script(
      `CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name ${text} NOT NULL, applied_at BIGINT NOT NULL)`,
    );
    // This table holds a service's facts about the database: a growing mark (sqlite-watch.ts), and the last trusted
    // time (trusted-clock.ts).
    await tx.script(`CREATE TABLE IF NOT EXISTS service_state (name ${text} PRIMARY KEY, value BIGINT NOT NULL)`);
    const current = await databaseVersion(tx);
    const newest = steps.at(-1)?.version ?? 0;
    if (current > newest)
      throw new UserError(
        `got a database of schema version ${current}, expected at most ${newest}: this ${service} is older than the one that made it`,
      );
    for (const step of steps) {
      if (step.version <= current) continue;
      await tx.script(step.sql(text));
      await tx.all("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)", [
        step.version,
        step.name,
        now(),
      ]);
      applied++;
    }
  });
  return applied;
}

/** Returns the version of the schema in the database. */
export async function databaseVersion(db: Queries): Promise<number> {
  const [row] = await db.all<{ version: number | null }>("SELECT max(version) AS version FROM schema_migrations");
  return row?.version ?? 0;
}
