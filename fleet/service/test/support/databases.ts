/** Empty databases of both kinds, for the list of tests that both pass. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, inject } from "vitest";
import type { Database } from "../../src/database.ts";
import { migrate, type Migration } from "../../src/migrate.ts";
import { Postgres, type PostgresOptions } from "../../src/postgres.ts";
import { Sqlite } from "../../src/sqlite.ts";
import { temporaryFolder } from "../../src/testing/folder.ts";
import { newDatabase } from "../../src/testing/postgres.ts";

export type Kind = Database["kind"];

/** One row for each camera, with a count and any text. */
export const SCHEMA: readonly Migration[] = [
  {
    version: 1,
    name: "cameras",
    sql: (text) =>
      `CREATE TABLE cameras (name ${text} PRIMARY KEY, frames BIGINT NOT NULL, latency DOUBLE PRECISION, note ${text})`,
  },
];

export interface Place {
  readonly kind: Kind;
  /** Path of the file, or address of the database. */
  readonly place: string;
  /** Opens another connection, or pool of connections. */
  open(options?: Partial<PostgresOptions>): Database;
}

/** Opens a database of either kind. */
export function openAt(kind: Kind, place: string, options: Partial<PostgresOptions> = {}): Database {
  const own = { service: "test", poolSize: 3, onError: () => undefined, ...options };
  return kind === "postgres" ? new Postgres(place, own) : new Sqlite(place, own);
}

/** Describes tests that run on each database that this machine has. Each test gets an empty one. */
export function onEachDatabase(name: string, tests: (at: () => Place, kind: Kind) => void): void {
  for (const kind of ["sqlite", "postgres"] as const)
    describe.skipIf(kind === "postgres" && inject("postgres") === undefined)(`${name} on ${kind}`, () => {
      const opened: Database[] = [];
      let at: Place;
      beforeEach(async () => {
        const place =
          kind === "postgres" ? await newDatabase(inject("postgres")!) : join(temporaryFolder().path, "test.db");
        const open: Place["open"] = (options) => {
          const db = openAt(kind, place, options);
          opened.push(db);
          return db;
        };
        at = { kind, place, open };
      });
      afterEach(async () => {
        for (const db of opened.splice(0)) await db.close().catch(() => undefined);
      });
      tests(() => at, kind);
    });
}

/** Opens a database with the table `cameras`. */
export async function openCameras(at: Place): Promise<Database> {
  const db = at.open();
  await migrate(db, { service: "test", steps: SCHEMA });
  return db;
}
