/** Transactions, on both databases. */
import { randomBytes } from "node:crypto";
import { copyFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Queries } from "boxwright-service/database";
import { Sqlite } from "boxwright-service/sqlite";
import { addDevices, listDevices } from "../../src/nouns/device.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { NOW, openTestDatabase, onEmptyDatabases } from "../support/hub.ts";

it("leaves everything in the one file of SQLite, once it is closed", async () => {
  const storage = await openTestDatabase("sqlite");
  try {
    const team = await addTeam(storage.db, NOW, "test", "A");
    await storage.db.close();
    const copy = `${storage.config.databaseFile}.copy`;
    copyFileSync(storage.config.databaseFile, copy);
    const opened = new Sqlite(copy, { service: "hub" });
    expect(await opened.all("SELECT id FROM teams")).toEqual([{ id: team.id }]);
    await opened.close();
  } finally {
    await storage.remove();
  }
});

onEmptyDatabases("transactions", (db, storage) => {
  it("undoes a transaction whole, and other connections see it only when it is done", async () => {
    const other = storage().again();
    await expect(
      db().write(async (tx) => {
        await tx.all("INSERT INTO teams (id, name, created_at) VALUES (?, ?, ?)", ["t", "x", 1]);
        expect(await other.all("SELECT id FROM teams")).toEqual([]);
        expect(await db().all("SELECT id FROM teams")).toEqual([]);
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await db().all("SELECT id FROM teams")).toEqual([]);
    const team = await addTeam(db(), NOW, "test", "A");
    expect(await other.all("SELECT id, name, created_at FROM teams")).toEqual([{ ...team, created_at: NOW }]);
  });

  it("writes from several connections at once without losing one", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const hubs = [db(), storage().again(), storage().again()];
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => addDevices(hubs[i % 3]!, NOW, team.id, 1000, [{ name: `d${i}` }])),
    );
    for (const hub of hubs) expect(await listDevices(hub, team.id)).toHaveLength(60);
  });

  it("tells why a transaction failed where the database has undone it by itself", async () => {
    const failed = db().write(async (tx) => {
      await tx.all("ROLLBACK");
      throw new Error("the disk is full");
    });
    await expect(failed).rejects.toThrow("the disk is full");
    expect((await addTeam(db(), NOW, "test", "A")).name).toBe("A");
  });

  it("waits for the disk, except where a power cut may undo a transaction", async () => {
    const sql = storage().kind === "sqlite" ? "PRAGMA synchronous" : "SHOW synchronous_commit";
    const setting = async (tx: Queries) => Object.values((await tx.all(sql))[0]!)[0] as unknown;
    const [fast, durable] = storage().kind === "sqlite" ? [1, 2] : ["off", "on"];
    expect(await db().write(setting, { durable: false })).toBe(fast);
    expect(await db().write(setting)).toBe(durable);
    const failed = db().write(() => Promise.reject(new Error("no")), { durable: false });
    await expect(failed).rejects.toThrow("no");
    expect(await db().write(setting)).toBe(durable);
  });

  it("keeps any text as it is", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const names = [
      "'; DROP TABLE devices; --",
      '"quoted"',
      "\\x00",
      "?",
      "$1",
      "日本語",
      "👩‍👩‍👧",
      randomBytes(30).toString("base64"),
    ];
    await addDevices(
      db(),
      NOW,
      team.id,
      100,
      names.map((name) => ({ name })),
    );
    expect((await listDevices(db(), team.id)).map((device) => device.name)).toEqual(names);
  });
});
