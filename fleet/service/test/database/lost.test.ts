/** A database that is lost, locked or wrong is told in a sentence, and nothing is acknowledged into it. */
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { UnavailableError, UserError } from "../../src/errors.ts";
import { openDatabase } from "../../src/open-database.ts";
import { Sqlite } from "../../src/sqlite.ts";
import { temporaryFolder } from "../../src/testing/folder.ts";
import { PostgresServer } from "../../src/testing/postgres.ts";
import { onEachDatabase, openAt, openCameras, SCHEMA, type Kind } from "../support/databases.ts";

const INSERT = "INSERT INTO cameras (name, frames) VALUES (?, 1)";
const isAway = (error: unknown): boolean => error instanceof UnavailableError;

/** Takes a database away and brings it back. */
const losses: readonly [Kind, string, (place: string) => Promise<() => Promise<void>>][] = [
  [
    "sqlite",
    "whose file was deleted",
    async (place) => {
      const names = readdirSync(dirname(place));
      for (const name of names) renameSync(join(dirname(place), name), join(dirname(place), `${name}.away`));
      return async () => {
        for (const name of names) renameSync(join(dirname(place), `${name}.away`), join(dirname(place), name));
        return Promise.resolve();
      };
    },
  ],
  [
    "sqlite",
    "whose file was replaced",
    async (place) => {
      renameSync(place, `${place}.away`);
      copyFileSync(`${place}.away`, place);
      return async () => {
        renameSync(`${place}.away`, place);
        return Promise.resolve();
      };
    },
  ],
];

describe.each(losses)("a database on %s %s", (kind, _name, lose) => {
  it("answers nothing, acknowledges nothing, says why, and goes on when it is back", async () => {
    const place = join(temporaryFolder().path, "test.db");
    const db = await openCameras({ kind, place, open: () => openAt(kind, place) });
    await db.write((tx) => tx.all(INSERT, ["before"]));
    const bringBack = await lose(place);
    await expect(db.write((tx) => tx.all(INSERT, ["lost"]))).rejects.toSatisfy(isAway);
    await expect(db.all("SELECT name FROM cameras")).rejects.toSatisfy(isAway);
    expect(await db.problem()).toMatch(/was deleted or replaced under the running test; restart the test/);
    await bringBack();
    expect(await db.problem()).toBeUndefined();
    await db.write((tx) => tx.all(INSERT, ["after"]));
    expect(await db.all("SELECT name FROM cameras ORDER BY name")).toEqual([{ name: "after" }, { name: "before" }]);
    await db.close();
  });
});

describe.skipIf(inject("postgres") === undefined)("a database on PostgreSQL whose server is away", () => {
  it("answers nothing, acknowledges nothing, says why, and goes on when it is back", async () => {
    const server = await PostgresServer.create();
    const place = await server.newDatabase();
    const db = await openCameras({ kind: "postgres", place, open: () => openAt("postgres", place) });
    await db.write((tx) => tx.all(INSERT, ["before"]));
    await server.kill();
    await expect(db.write((tx) => tx.all(INSERT, ["lost"]))).rejects.toSatisfy(isAway);
    await expect(db.all("SELECT name FROM cameras")).rejects.toThrow("the database cannot be reached");
    await server.start();
    await db.write((tx) => tx.all(INSERT, ["after"]));
    expect(await db.all("SELECT name FROM cameras ORDER BY name")).toEqual([{ name: "after" }, { name: "before" }]);
    await db.close();
    await server.remove();
  });
});

onEachDatabase("a place that is wrong", (at, kind) => {
  it("is told to the operator with what to do", async () => {
    const { place } = at();
    const folder = temporaryFolder().path;
    const file = join(folder, "letter.txt");
    writeFileSync(file, "this is no database, but a letter of some length ".repeat(100));
    mkdirSync(join(folder, "sub"));
    const wrong: readonly [string, RegExp][] =
      kind === "sqlite"
        ? [
            [
              join(folder, "no", "test.db"),
              /folder .*no, which does not exist; make it for the user that runs the test/,
            ],
            [join(folder, "sub"), /is a folder; expected a SQLite file, or a place for one/],
            [file, /file is not a database; expected a SQLite file, or a place for one/],
          ]
        : [
            [place.replace(/[^/]*$/, "nowhere"), /database "nowhere" does not exist/],
            [place.replace("postgres@", "nobody@"), /role "nobody" does not exist/],
          ];
    for (const [where, message] of wrong) {
      const error = await openDatabase({ service: "test", steps: SCHEMA, place: where, poolSize: 1 }).catch(
        (caught: unknown) => caught,
      );
      expect(error).toBeInstanceOf(UserError);
      expect((error as Error).message).toMatch(message);
    }
  });
});

describe("a file of SQLite", () => {
  it("is for its owner alone, has everything in one file once it is closed, and is not made by accident", async () => {
    const place = join(temporaryFolder().path, "test.db");
    const missing = "name another file";
    const own = { service: "test", steps: SCHEMA, place, poolSize: 1 };
    await expect(openDatabase({ ...own, missing })).rejects.toThrow(/got no database file at .*; name another file/);
    const db = await openDatabase(own);
    await db.write((tx) => tx.all(INSERT, ["door"]));
    for (const name of readdirSync(dirname(place)))
      expect([name, statSync(join(dirname(place), name)).mode & 0o777]).toEqual([name, 0o600]);
    await db.close();
    copyFileSync(place, `${place}.copy`);
    rmSync(place);
    const copy = new Sqlite(`${place}.copy`, { service: "test" });
    expect(await copy.all("SELECT name FROM cameras")).toEqual([{ name: "door" }]);
    await copy.close();
  });

  it("keeps its references, its write-ahead log and its pages' way back to the disk", async () => {
    const place = join(temporaryFolder().path, "test.db");
    const db = new Sqlite(place, { service: "test" });
    const setting = async (name: string): Promise<unknown> =>
      db.write(async (tx) => Object.values((await tx.all(`PRAGMA ${name}`))[0]!)[0] as unknown);
    expect(await setting("foreign_keys")).toBe(1);
    expect(await setting("journal_mode")).toBe("wal");
    expect(await setting("auto_vacuum")).toBe(2);
    await db.close();
  });

  it("that another process holds locked is told after ten seconds, and the next write goes on", async () => {
    const place = join(temporaryFolder().path, "test.db");
    const open = (): Sqlite => new Sqlite(place, { service: "test" });
    const [db, other] = [await openCameras({ kind: "sqlite", place, open }), open()];
    let letGo!: () => void;
    const mayEnd = new Promise<void>((resolve) => (letGo = resolve));
    const holding = other.write(() => mayEnd);
    await expect(db.write((tx) => tx.all(INSERT, ["door"]))).rejects.toThrow(
      "the database file stayed locked by another process",
    );
    letGo();
    await holding;
    await db.write((tx) => tx.all(INSERT, ["door"]));
    await Promise.all([db.close(), other.close()]);
  });
});
