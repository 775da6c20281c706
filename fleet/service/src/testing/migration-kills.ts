/** Kills of a service while it brings an old database up to date: the schema is old or new, with all rows. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { databaseVersion, type Migration } from "../migrate.ts";
import { openDatabase } from "../open-database.ts";
import { Sqlite } from "../sqlite.ts";
import type { Child } from "./child.ts";
import { KILLS, killAtSize } from "./kills.ts";

export interface MigrationKills {
  readonly service: string;
  readonly steps: readonly Migration[];
  /** Folder of the databases. */
  readonly folder: string;
  /** Statements that fill a database of the first version. */
  readonly fill: string;
  /** Returns a query of one row of counts, for a schema of this version. */
  readonly count: (version: number) => string;
  /** The row that each database has to give. */
  readonly expected: Readonly<Record<string, number>>;
  /** Size of the write-ahead log at which a kill comes. */
  readonly bytes: (kill: number) => number;
  /** Starts the service over a database. It says "listening" once it has brought it up to date. */
  readonly start: (database: string) => Child;
  /** Starts the service and ends it in order. Returns its exit code. */
  readonly run: (database: string) => Promise<unknown>;
}

/** Most kills for each of KILLS: on a busy machine a kill may come when the migration is over. */
const MOST_TRIES = 10;

/** Kills the service in each of KILLS migrations, and in further ones until one was cut. Returns how many were. */
export async function killInMigrations(given: MigrationKills): Promise<number> {
  const { service, steps, folder, fill, expected, bytes, start, run } = given;
  const newest = steps.at(-1)!.version;
  const old = join(folder, "old.db");
  const db = await openDatabase({ service, steps: steps.slice(0, 1), place: old, poolSize: 1 });
  await db.migrate((tx) => tx.script(fill));
  await db.close();
  let [kill, halfway] = [0, 0];
  for (; kill < KILLS || (halfway === 0 && kill < KILLS * MOST_TRIES); kill++) {
    const path = join(folder, `${kill}.db`);
    copyFileSync(old, path);
    // The migration is one transaction, whose pages go to the write-ahead log as they come.
    await killAtSize(start(path), `${path}-wal`, bytes(kill), /"listening"/);
    const version = await checkDatabase(path, given);
    expect([1, newest]).toContain(version);
    if (version === 1) halfway++;
    expect(await run(path)).toBe(0);
    expect(await checkDatabase(path, given)).toBe(newest);
  }
  console.log(`${service} killed ${kill} times in a migration, ${halfway} times halfway: ${JSON.stringify(expected)}`);
  return halfway;
}

/** Checks that a database is whole and has every row. Returns the version of its schema. */
async function checkDatabase(path: string, { service, count, expected }: MigrationKills): Promise<number> {
  const db = new Sqlite(path, { service });
  const version = await databaseVersion(db);
  expect(await db.all(count(version))).toEqual([expected]);
  expect(await db.all("SELECT integrity_check AS state FROM pragma_integrity_check")).toEqual([{ state: "ok" }]);
  await db.close();
  return version;
}
