/** Nothing is acknowledged that is not safe: group commit, and files that are deleted, replaced or overwritten. */
import {
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { afterEach, expect, test } from "vitest";
import { migrate } from "../../src/migrate.ts";
import { Sqlite } from "../../src/sqlite.ts";
import { temporaryFolder } from "../../src/testing/folder.ts";
import { until, untilPasses } from "../../src/testing/wait.ts";

const steps = [{ version: 1, name: "rows", sql: () => "CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)" }];
const open: Sqlite[] = [];
afterEach(async () => {
  for (const db of open.splice(0)) await db.close().catch(() => undefined);
});

async function openAt(file: string, sync?: () => Promise<void>): Promise<Sqlite> {
  const db = new Sqlite(file, { service: "test" }, sync);
  open.push(db);
  await migrate(db, { service: "test", steps });
  return db;
}
const newFile = (): string => join(temporaryFolder().path, "t.db");
const add = (db: Sqlite, count = 1, text = "x".repeat(100)): Promise<void> =>
  db.write(async (tx) => {
    for (let n = 0; n < count; n++) await tx.all("INSERT INTO rows (text) VALUES (?)", [text]);
  });
/** Counts the rows as another process would after a kill: in a copy of the files that have names. */
function countInCopy(file: string): number {
  const copy = newFile();
  for (const part of ["", "-wal"])
    try {
      copyFileSync(file + part, copy + part);
    } catch {
      // The log is gone.
    }
  const db = new Libsql(copy);
  const rows = db.prepare("SELECT count(*) AS n FROM rows").all() as { n: number }[];
  db.close();
  return rows[0]!.n;
}

test("writes are acknowledged after a sync that began later, and share it", async () => {
  let syncs = 0;
  let release: () => void = () => undefined;
  let isHeld = false;
  const db = await openAt(newFile(), () => {
    syncs++;
    return isHeld ? new Promise((resolve) => (release = resolve)) : Promise.resolve();
  });
  await add(db);
  isHeld = true;
  // A transaction that nobody waits for needs no sync.
  await db.write((tx) => tx.all("DELETE FROM rows WHERE id < 0"), { durable: false });
  syncs = 0;
  let acknowledged = 0;
  const writes = Array.from({ length: 50 }, () => add(db).then(() => acknowledged++));
  // All are committed, and the first sync runs.
  await untilPasses(async () => expect(await db.all("SELECT count(*) AS n FROM rows")).toEqual([{ n: 51 }]));
  expect([syncs, acknowledged]).toEqual([1, 0]);
  release();
  await until(() => syncs === 2);
  expect(acknowledged).toBeLessThan(50);
  isHeld = false;
  release();
  await Promise.all(writes);
  expect([syncs, acknowledged]).toEqual([2, 50]);
});

test("a sync that fails acknowledges nothing; the next write moves all to the database first", async () => {
  const file = newFile();
  let fails = false;
  const db = await openAt(file, () =>
    fails ? Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" })) : Promise.resolve(),
  );
  fails = true;
  await expect(add(db)).rejects.toThrow("the disk of the database fails");
  fails = false;
  await add(db);
  rmSync(`${file}-wal`);
  expect(countInCopy(file)).toBe(2);
});

for (const [what, harm] of [
  ["deleted", (file: string) => rmSync(`${file}-wal`)],
  ["replaced", (file: string) => (renameSync(`${file}-wal`, `${file}-old`), writeFileSync(`${file}-wal`, ""))],
] as const)
  test(`a log that is ${what} is noticed, and what was acknowledged is brought into the database`, async () => {
    const file = newFile();
    const db = await openAt(file);
    await add(db, 40);
    harm(file);
    await expect(add(db)).rejects.toThrow(/deleted or replaced under the running test; restart the test .*t\.db-wal/);
    expect(await db.problem()).toContain("t.db-wal");
    await expect(db.all("SELECT 1 FROM rows")).rejects.toThrow("deleted or replaced");
    expect(countInCopy(file)).toBe(40);
  });

test("a log that is deleted while nobody writes is noticed too", async () => {
  const file = newFile();
  const db = await openAt(file);
  await add(db, 40);
  rmSync(`${file}-wal`);
  await untilPasses(() => expect(countInCopy(file)).toBe(40));
  await expect(db.all("SELECT 1 FROM rows")).rejects.toThrow("deleted or replaced");
});

test("a database that is damaged in the middle is noticed, and nothing is acknowledged into it", async () => {
  const file = newFile();
  const db = await openAt(file);
  await add(db, 20_000);
  await add(db, 20_000);
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(40_960, 7), 0, 40_960, 409_600);
  closeSync(descriptor);
  await expect(add(db)).rejects.toThrow(/damaged, or was overwritten under the running test: .* repair or restore/);
  expect(await db.problem()).toContain("damaged");
});

test("a database that is overwritten by an older copy of itself, or by another one, is noticed", async () => {
  for (const isOwn of [true, false]) {
    const file = newFile();
    const copy = newFile();
    const before = await openAt(isOwn ? file : copy);
    await add(before, 10);
    await before.close();
    if (isOwn) copyFileSync(file, copy);
    const db = await openAt(file);
    await add(db, 20_000);
    writeFileSync(file, readFileSync(copy));
    truncateSync(`${file}-wal`, 0);
    await expect(add(db)).rejects.toThrow(/damaged, or was overwritten|deleted or replaced/);
  }
});

test("another process that writes and checkpoints is no damage", async () => {
  const file = newFile();
  const db = await openAt(file);
  await add(db, 10);
  const other = await openAt(file);
  for (let n = 0; n < 20; n++) {
    await add(other, 500);
    await add(db, 10);
  }
  await other.close();
  await add(db);
  expect(await db.problem()).toBe(undefined);
  expect(await db.all("SELECT count(*) AS n FROM rows")).toEqual([{ n: 10_211 }]);
});
