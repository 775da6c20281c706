/** Query plans of the statements that some work runs on SQLite. */
import type { Database, Queries, Value } from "boxwright-service/database";
import type { TestDatabase } from "./hub.ts";

/**
 * Runs `work` with a database that keeps its statements. Returns the steps of their plans that read more than a slice
 * of a table: a step searches for one value of the last column of an index, or for a range of it.
 * @param tables names in the statements, of tables with a row for each device, alert or hour
 */
export async function findWideSteps(
  storage: TestDatabase,
  tables: readonly string[],
  work: (db: Database) => Promise<unknown>,
): Promise<string[]> {
  const { db } = storage;
  const statements = new Map<string, readonly Value[]>();
  const keep = (queries: Queries): Queries => ({
    all: (sql, params = []) => {
      statements.set(sql, params);
      return queries.all(sql, params);
    },
  });
  const write = <T>(run: (tx: Queries) => Promise<T>): Promise<T> => db.write((tx) => run(keep(tx)));
  await work(Object.assign(Object.create(db) as Database, { ...keep(db), write }));
  const ofTable = new RegExp(`^(SCAN|SEARCH) (${tables.join("|")})\\b`);
  const wide: string[] = [];
  // Ask another connection: after EXPLAIN of a change, libsql keeps a connection at the state of that moment.
  const plans = storage.again();
  for (const [sql, params] of statements) {
    if (!/^(SELECT|INSERT|UPDATE|DELETE)/.test(sql)) continue;
    for (const { detail } of await plans.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params))
      if (ofTable.test(detail) && !/\b(id|rowid|device_id|subject|ended_at|at|hour|received_at)[=<>]\?/.test(detail))
        wide.push(`${detail}: ${sql}`);
  }
  return wide;
}
