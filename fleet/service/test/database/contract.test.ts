/** Tests the promises of every database to the services. SQLite and PostgreSQL pass the same list. */
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { tryWrite, type Database, type Queries } from "../../src/database.ts";
import { onEachDatabase, openCameras, type Place } from "../support/databases.ts";

const add = (tx: Queries, name: string, frames = 0): Promise<object[]> =>
  tx.all("INSERT INTO cameras (name, frames) VALUES (?, ?)", [name, frames]);
const namesOf = async (db: Queries): Promise<string[]> =>
  (await db.all<{ name: string }>("SELECT name FROM cameras ORDER BY name")).map(({ name }) => name);

onEachDatabase("values", (at) => {
  it("keeps any text, and orders it by its bytes", async () => {
    const db = await openCameras(at());
    const texts = ["'; DROP TABLE cameras; --", '"q"', "\\x00", "?", "$1", "日本語", "👩‍👩‍👧", "b", "B", "a", "ä", "Z", ""];
    texts.push(randomBytes(300).toString("base64"));
    await db.write(async (tx) => {
      for (const text of texts) await add(tx, text);
    });
    expect(await namesOf(db)).toEqual(texts.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  });

  it("gives numbers as numbers, to 2^53 - 1, and NULL as null", async () => {
    const db = await openCameras(at());
    const values = ["door", Number.MAX_SAFE_INTEGER, 0.1, null] as const;
    await db.write((tx) => tx.all("INSERT INTO cameras (name, frames, latency, note) VALUES (?, ?, ?, ?)", values));
    const [row] = await db.all("SELECT name, frames, latency, note FROM cameras");
    expect(Object.values(row!)).toEqual(values);
    expect(await db.all("SELECT count(*) AS count, sum(latency) AS sum FROM cameras")).toEqual([
      { count: 1, sum: 0.1 },
    ]);
    const [changed] = await db.write((tx) => tx.all("UPDATE cameras SET frames = -1 RETURNING frames"));
    expect(changed).toEqual({ frames: -1 });
  });
});

onEachDatabase("transactions", (at, kind) => {
  it("undoes a transaction whole, and others see it only when it is done", async () => {
    const db = await openCameras(at());
    const other = at().open();
    const failed = db.write(async (tx) => {
      await add(tx, "door");
      expect(await namesOf(tx)).toEqual(["door"]);
      expect([await namesOf(other), await namesOf(db)]).toEqual([[], []]);
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(await namesOf(db)).toEqual([]);
    await db.write((tx) => add(tx, "door"));
    expect(await namesOf(other)).toEqual(["door"]);
  });

  it("loses no write of several connections at once, each of which reads first", async () => {
    const db = await openCameras(at());
    await db.write((tx) => add(tx, "door"));
    const all = [db, at().open(), at().open()];
    const count = async (tx: Queries): Promise<void> => {
      const [row] = await tx.all<{ frames: number }>("SELECT frames FROM cameras WHERE name = ?", ["door"]);
      await tx.all("UPDATE cameras SET frames = ? WHERE name = ?", [row!.frames + 1, "door"]);
    };
    await Promise.all(Array.from({ length: 30 }, (_, i) => all[i % 3]!.write(count)));
    expect(await db.all("SELECT frames FROM cameras")).toEqual([{ frames: 30 }]);
  });

  it("waits for the lock of another connection", async () => {
    const db = await openCameras(at());
    const other = at().open();
    await db.write((tx) => add(tx, "door"));
    let letGo!: () => void;
    const mayEnd = new Promise<void>((resolve) => (letGo = resolve));
    let hasLock!: () => void;
    const locked = new Promise<void>((resolve) => (hasLock = resolve));
    const first = other.write(async (tx) => {
      await tx.all("UPDATE cameras SET frames = 1");
      hasLock();
      await mayEnd;
    });
    await locked;
    let isDone = false;
    const second = db.write((tx) => tx.all("UPDATE cameras SET frames = frames + 1")).then(() => (isDone = true));
    // Reads wait for nobody.
    expect(await db.all("SELECT frames FROM cameras")).toEqual([{ frames: 0 }]);
    expect(isDone).toBe(false);
    letGo();
    await Promise.all([first, second]);
    expect(await db.all("SELECT frames FROM cameras")).toEqual([{ frames: 2 }]);
  });

  it("tells why a transaction failed where the database has undone it by itself, and goes on", async () => {
    const db = await openCameras(at());
    const failed = db.write(async (tx) => {
      await tx.all("ROLLBACK");
      throw new Error("the disk is full");
    });
    await expect(failed).rejects.toThrow("the disk is full");
    await expect(db.write((tx) => tx.all("INSERT INTO nowhere VALUES (1)"))).rejects.toThrow(/nowhere/);
    await expect(db.write((tx) => tx.all("INSERT INTO cameras (name) VALUES ('x')"))).rejects.toThrow(/null/i);
    await db.write((tx) => add(tx, "door"));
    expect(await namesOf(db)).toEqual(["door"]);
  });

  it("gives a snapshot one moment, in which nothing can be written", async () => {
    const db = await openCameras(at());
    await db.write((tx) => add(tx, "door"));
    await db
      .snapshot(async (tx) => {
        expect(await namesOf(tx)).toEqual(["door"]);
        await db.write((writing) => add(writing, "yard"));
        expect(await namesOf(tx)).toEqual(["door"]);
        await expect(add(tx, "roof")).rejects.toThrow(/read-?only/i);
      })
      .catch((error: unknown) => {
        // PostgreSQL ends the transaction with the statement that it refuses.
        if (kind === "sqlite") throw error;
      });
    expect(await namesOf(db)).toEqual(["door", "yard"]);
  });
});

/** Tests of the setting by which PostgreSQL waits for the disk, connection by connection. */
function testSettings(at: () => Place): void {
  const settingOf = async (tx: Queries): Promise<unknown> => {
    const [row] = await tx.all("SHOW synchronous_commit");
    return Object.values(row!)[0];
  };
  const [fast, durable] = ["off", "on"];

  // The order matters: a write that need not be durable sets the value back.
  it("waits for the disk from the first write on", async () => {
    const db = await openCameras(at());
    expect(await db.write(settingOf)).toBe(durable);
    await db.migrate(async (tx) => expect(await settingOf(tx)).toBe(durable));
  });

  it("waits for the disk in each write but those that a power cut may undo", async () => {
    const db = await openCameras(at());
    expect(await db.write(settingOf, { durable: false })).toBe(fast);
    expect(await db.write(settingOf)).toBe(durable);
    await expect(db.write(() => Promise.reject(new Error("no")), { durable: false })).rejects.toThrow("no");
    expect(await db.write(settingOf)).toBe(durable);
    const both = [db.write(settingOf, { durable: false }), db.write(settingOf)];
    expect(await Promise.all(both)).toEqual([fast, durable]);
  });
}

onEachDatabase("durability", (at, kind) => {
  // SQLite syncs after the commit: sqlite.test.ts counts its syncs.
  if (kind === "postgres") testSettings(at);

  it("says that nothing is wrong, and leaves nothing behind of its try to write", async () => {
    const db = await openCameras(at());
    const before = await db.all("SELECT * FROM schema_migrations");
    expect(await db.problem()).toBeUndefined();
    await tryWrite(db);
    expect(await db.all("SELECT * FROM schema_migrations")).toEqual(before);
  });

  it("ends what is under way before it closes, and answers nothing afterwards", async () => {
    const db: Database = await openCameras(at());
    const writes = Array.from({ length: 5 }, (_, i) => db.write((tx) => add(tx, `camera ${i}`)));
    await Promise.all([...writes, db.close()]);
    await expect(db.all("SELECT name FROM cameras")).rejects.toThrow();
    await expect(db.write((tx) => add(tx, "late"))).rejects.toThrow();
    expect(await namesOf(at().open())).toHaveLength(5);
  });
});
