/** The one route by which schemas change, on both databases. */
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import type { Database } from "../../src/database.ts";
import { databaseVersion, migrate, type Migration } from "../../src/migrate.ts";
import { Child } from "../../src/testing/child.ts";
import { KILLS, KILLS_TIMEOUT } from "../../src/testing/kills.ts";
import { sleep } from "../../src/testing/wait.ts";
import { onEachDatabase, SCHEMA, type Place } from "../support/databases.ts";
import { FRAMES, STEPS } from "../support/steps.mjs";

afterAll(() => Child.killAll());

const bring = (db: Database, steps: readonly Migration[]): Promise<number> =>
  migrate(db, { service: "test", steps, now: () => 5 });
const SECOND: Migration = { version: 2, name: "labels", sql: (text) => `ALTER TABLE cameras ADD COLUMN label ${text}` };

onEachDatabase("migrations", (at) => {
  it("runs each step once, whoever starts", async () => {
    const all = Array.from({ length: 4 }, () => at().open());
    const applied = await Promise.all(all.map((db) => bring(db, SCHEMA)));
    expect(applied.sort()).toEqual([0, 0, 0, SCHEMA.length]);
    expect(await all[0]!.all("SELECT * FROM schema_migrations")).toEqual([
      { version: 1, name: "cameras", applied_at: 5 },
    ]);
  });

  it("runs only the steps that are missing, and keeps the rows", async () => {
    const db = at().open();
    await bring(db, SCHEMA);
    await db.write((tx) => tx.all("INSERT INTO cameras (name, frames) VALUES ('door', 1)"));
    expect(await bring(db, [...SCHEMA, SECOND])).toBe(1);
    // A statement that was prepared before sees the new column.
    expect(await db.all("SELECT * FROM cameras")).toEqual([
      { name: "door", frames: 1, latency: null, note: null, label: null },
    ]);
    expect(await databaseVersion(db)).toBe(2);
  });

  it("leaves nothing behind of a step that fails, nor of those before it", async () => {
    const db = at().open();
    await bring(db, SCHEMA);
    const bad: Migration = {
      version: 3,
      name: "bad",
      sql: () => "CREATE TABLE half (id TEXT); SELECT * FROM nowhere;",
    };
    await expect(bring(db, [...SCHEMA, SECOND, bad])).rejects.toThrow(/nowhere/);
    expect(await databaseVersion(db)).toBe(1);
    await expect(db.all("SELECT * FROM half")).rejects.toThrow(/half/);
    await expect(db.all("SELECT label FROM cameras")).rejects.toThrow(/label/);
  });

  it("refuses a schema from the future, in a sentence for the operator", async () => {
    const db = at().open();
    await bring(db, [...SCHEMA, SECOND]);
    await expect(bring(db, SCHEMA)).rejects.toThrow(
      "got a database of schema version 2, expected at most 1: this test is older than the one that made it",
    );
  });

  it("runs alone: the others wait", async () => {
    const dbs = [at().open(), at().open()];
    await bring(dbs[0]!, SCHEMA);
    let [running, most] = [0, 0];
    const alone = (db: Database): Promise<void> =>
      db.migrate(async (tx) => {
        most = Math.max(most, ++running);
        await tx.script("UPDATE cameras SET frames = 0; UPDATE cameras SET frames = 1;");
        await sleep(20);
        running--;
      });
    await Promise.all([...dbs, ...dbs].map(alone));
    expect(most).toBe(1);
  });
});

onEachDatabase("kills in migrations", (at, kind) => {
  const migrateInChild = ({ place }: Place): Child =>
    new Child([process.execPath, fileURLToPath(new URL("../support/migrating.mjs", import.meta.url)), place]);

  it(
    `leaves the old or the new schema, with all rows, after ${KILLS} kills`,
    async () => {
      const db = at().open();
      await bring(db, STEPS.slice(0, 1));
      let halfway = 0;
      // On a busy machine a kill may come when the migration is over: then it starts again from the first version.
      for (let kill = 0; halfway < KILLS && kill < KILLS * 10; kill++) {
        const child = migrateInChild(at());
        await child.says(/step 3/);
        await child.end("SIGKILL");
        const fresh = at().open();
        const version = await databaseVersion(fresh);
        expect([1, 3]).toContain(version);
        expect(await fresh.all("SELECT count(*) AS frames FROM frames")).toEqual([{ frames: FRAMES }]);
        if (kind === "sqlite") expect(await fresh.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
        if (version === 1) halfway++;
        else break;
      }
      expect(halfway).toBeGreaterThan(0);
      const { code, text } = await migrateInChild(at()).ended;
      expect([code, text]).toEqual([0, expect.stringContaining("done")]);
      expect(await at().open().all("SELECT count(*) AS frames, min(note) AS note FROM frames")).toEqual([
        { frames: FRAMES, note: "moved" },
      ]);
    },
    KILLS_TIMEOUT,
  );
});
