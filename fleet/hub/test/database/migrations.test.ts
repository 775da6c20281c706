/** The schema, on both databases. */
import { expect, it } from "vitest";
import { databaseVersion, migrate as bring, type Migration } from "boxwright-service/migrate";
import type { Database } from "boxwright-service/database";
import { migrations, schemaVersion } from "../../src/database/migrations.ts";
import { openTestDatabase, onEmptyDatabases } from "../support/hub.ts";

const migrate = (db: Database, steps: readonly Migration[] = migrations): Promise<number> =>
  bring(db, { service: "hub", steps });

onEmptyDatabases("migrations", (db, storage) => {
  it("migrates once, whoever starts (check 19: four at once)", async () => {
    const fresh = await openTestDatabase(storage().kind, { migrated: false });
    const hubs = [fresh.db, fresh.again(), fresh.again(), fresh.again()];
    const applied = await Promise.all(hubs.map((hub) => migrate(hub)));
    expect(applied.sort()).toEqual([0, 0, 0, migrations.length]);
    expect(await fresh.db.all("SELECT version FROM schema_migrations")).toHaveLength(migrations.length);
    expect(await databaseVersion(fresh.db)).toBe(schemaVersion);
    await fresh.remove();
  });

  it("leaves nothing behind of a migration that fails, and refuses a schema from the future", async () => {
    const bad = {
      version: schemaVersion + 1,
      name: "bad",
      sql: (text: string) => `CREATE TABLE half (id ${text}); SELECT * FROM does_not_exist;`,
    };
    await expect(migrate(db(), [...migrations, bad])).rejects.toThrow(/does_not_exist/);
    expect(await databaseVersion(db())).toBe(schemaVersion);
    await expect(db().all("SELECT * FROM half")).rejects.toThrow(/half/);
    await db().write((tx) =>
      tx.all("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)", [99, "future", 0]),
    );
    await expect(migrate(db())).rejects.toThrow(
      `got a database of schema version 99, expected at most ${schemaVersion}`,
    );
  });

  it("learns from the audit who made the invitations that are open when the schema changes", async () => {
    const fresh = await openTestDatabase(storage().kind, { migrated: false });
    await migrate(fresh.db, migrations.slice(0, 1));
    await fresh.db.write(async (tx) => {
      await tx.all("INSERT INTO teams (id, name, created_at) VALUES ('t', 'T', 1)");
      await tx.all("INSERT INTO users (id, email, password, created_at) VALUES ('u', 'ann@example.org', 'hash', 1)");
      for (const [hash, email, actor] of [
        ["1", "a@example.org", "ann@example.org"],
        ["2", "b@example.org", "operator"],
      ]) {
        await tx.all(
          "INSERT INTO links (hash, purpose, email, team_id, role, created_at, expires_at) VALUES (?, 'invite', ?, 't', 'admin', 5, 9)",
          [hash!, email!],
        );
        await tx.all(
          "INSERT INTO audit (id, at, actor, action, team_id, subject) VALUES (?, 5, ?, 'invite.created', 't', ?)",
          [hash!, actor!, `${email} admin`],
        );
      }
    });
    expect(await migrate(fresh.db)).toBe(migrations.length - 1);
    expect(await fresh.db.all("SELECT hash, created_by FROM links ORDER BY hash")).toEqual([
      { hash: "1", created_by: "u" },
      { hash: "2", created_by: null },
    ]);
    await fresh.remove();
  });

  it("knows devices that were revoked before", async () => {
    const fresh = await openTestDatabase(storage().kind, { migrated: false });
    await migrate(fresh.db, migrations.slice(0, 8));
    await fresh.db.write(async (tx) => {
      for (const id of ["good", "revoked", "forgotten"])
        await tx.all(
          "INSERT INTO device_states (team_id, device_id, enrolled_at, enrolled_by, model, architecture, version, counter, application_state, contacts, restarts, drops) VALUES ('t', ?, 5, 'k', '', '', '', 0, 'none', 0, 0, 0)",
          [id],
        );
      await tx.all(
        "INSERT INTO device_credentials (id, team_id, device_id, hash, created_at) VALUES ('c', 't', 'good', 'h', 5)",
      );
      for (const id of ["good", "revoked"])
        await tx.all("INSERT INTO device_revocations (device_id, before) VALUES (?, 1700000000)", [id]);
    });
    await migrate(fresh.db);
    expect(await fresh.db.all("SELECT device_id AS id, revoked_at FROM device_states ORDER BY device_id")).toEqual([
      { id: "forgotten", revoked_at: 5 },
      { id: "good", revoked_at: null },
      { id: "revoked", revoked_at: 1_700_000_000_000 },
    ]);
    await fresh.remove();
  });
});
