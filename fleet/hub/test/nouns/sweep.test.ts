/** Rows are deleted for their age. A wrong clock deletes none. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { readConfig } from "../../src/core/config.ts";
import { createLogger } from "../../src/core/log.ts";
import { openFiles } from "../../src/files/store.ts";
import { audit } from "../../src/nouns/audit.ts";
import { createSweep } from "../../src/nouns/sweep.ts";
import { findWideSteps } from "../support/plans.ts";
import { NOW, openTestDatabase, Watched, type TestDatabase, onDatabases } from "../support/hub.ts";

const DAY = 86_400_000;

onDatabases("a sweep", (kind) => {
  let storage: TestDatabase;
  let db: Watched;
  let clock: number;
  let lines: string[];
  beforeEach(async () => {
    storage = await openTestDatabase(kind);
    db = new Watched(storage.db);
    clock = NOW;
    lines = [];
    const add = (subject: string, at: number): Promise<void> =>
      db.write((tx) => audit(tx, at, "test", "team.created", null, subject));
    await add("old", NOW - 400 * DAY);
    await add("new", NOW);
  });
  afterEach(() => storage.remove());

  const start = (): (() => Promise<void>) => {
    const config = readConfig({ HUB_AUDIT_DAYS: "365", HUB_FILES: storage.filesFolder });
    const log = createLogger("info", { write: (line: string) => void lines.push(line) });
    return createSweep({ db, now: () => clock, log, files: openFiles(config), config });
  };
  const subjects = async (): Promise<string[]> =>
    (await db.all<{ subject: string }>("SELECT subject FROM audit ORDER BY at")).map(({ subject }) => subject);

  it("deletes old rows, and no more when the clock jumps ahead", async () => {
    const sweep = start();
    await sweep();
    expect(await subjects()).toEqual(["new"]);
    clock += 4000 * DAY;
    await sweep();
    expect(await subjects()).toEqual(["new"]);
    expect(lines.join("")).toContain("old rows stay longer");
  });

  // The plans of SQLite alone matter: PostgreSQL runs in a process of its own.
  if (kind === "sqlite")
    it("reads no more than the rows that it deletes", async () => {
      const tables = ["audit", "device_(?:hours|logs|states)", "shadow_reports"];
      const wide = await findWideSteps(storage, tables, async (watched) => {
        const config = readConfig({ HUB_AUDIT_DAYS: "365", HUB_FILES: storage.filesFolder });
        const log = createLogger("info", { write: (line: string) => void lines.push(line) });
        await createSweep({ db: watched, now: () => clock, log, files: openFiles(config), config })();
      });
      expect(lines).toEqual([]);
      // The newest contact of all devices is read once, at the start.
      expect(wide.filter((step) => !step.includes("max(last_contact_at)"))).toEqual([]);
      expect(await subjects()).toEqual(["new"]);
    });

  it("deletes nothing new if the clock is far ahead at its start", async () => {
    clock += 4000 * DAY;
    await start()();
    expect(await subjects()).toEqual(["new"]);
  });

  it("reads the newest row later if the database is away at its start", async () => {
    db.failure = new Error("away");
    db.failing = /UNION ALL/;
    const sweep = start();
    for (let i = 0; i < 2; i++) await sweep();
    expect(await subjects()).toEqual(["old", "new"]);
    db.failure = undefined;
    await sweep();
    expect(await subjects()).toEqual(["new"]);
  });
});
