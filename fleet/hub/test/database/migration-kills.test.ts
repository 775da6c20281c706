/** A hub is killed while it brings an old database up to date: the schema is the old or the new one, with all rows. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT, killAtSize } from "boxwright-service/testing/kills";
import { databaseVersion } from "boxwright-service/migrate";
import { openDatabase } from "boxwright-service/open-database";
import { Sqlite } from "boxwright-service/sqlite";
import { afterAll, expect, it } from "vitest";
import { migrations, schemaVersion } from "../../src/database/migrations.ts";
import { temporaryFolder } from "../support/hub.ts";
import { HubProcess, cli, merged } from "../support/process.ts";

afterAll(() => Child.killAll());

const LINKS = 20_000;

/** Makes a database of the first version, with an open invitation in each of many teams. */
async function makeOld(path: string): Promise<void> {
  const db = await openDatabase({ service: "hub", steps: migrations.slice(0, 1), place: path, poolSize: 1 });
  const numbers = `(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${LINKS - 1}) SELECT n FROM numbers)`;
  await db.migrate((tx) =>
    tx.script(`
      INSERT INTO users (id, email, password, created_at) VALUES ('u', 'ann@example.org', 'hash', 1);
      INSERT INTO teams (id, name, created_at) SELECT 'team-' || n, 'T' || n, 1 FROM ${numbers};
      INSERT INTO links (hash, purpose, email, team_id, role, created_at, expires_at)
        SELECT 'hash-' || n, 'invite', 'a@example.org', 'team-' || n, 'admin', 5, 9 FROM ${numbers};
      INSERT INTO audit (id, at, actor, action, team_id, subject)
        SELECT 'audit-' || n, 5, 'ann@example.org', 'invite.created', 'team-' || n, 'a@example.org admin' FROM ${numbers};`),
  );
  await db.close();
}

async function stateOf(path: string): Promise<{ version: number; links: number; teams: number; check: string }> {
  const db = new Sqlite(path, { service: "hub" });
  const version = await databaseVersion(db);
  const known = version === 1 ? "1" : "created_by = 'u'";
  const [{ links } = { links: 0 }] = await db.all<{ links: number }>(
    `SELECT count(*) AS links FROM links WHERE ${known}`,
  );
  const [{ teams } = { teams: 0 }] = await db.all<{ teams: number }>("SELECT count(*) AS teams FROM teams");
  const [{ check } = { check: "" }] = await db.all<{ check: string }>(
    "SELECT integrity_check AS 'check' FROM pragma_integrity_check",
  );
  await db.close();
  return { version, links, teams, check };
}

it(
  `loses nothing when the hub is killed ${KILLS} times during a migration`,
  async () => {
    const folder = temporaryFolder().path;
    const old = join(folder, "old.db");
    await makeOld(old);
    let halfway = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const path = join(folder, `${kill}.db`);
      copyFileSync(old, path);
      const env = { HUB_DATABASE_FILE: path, HUB_FILES: join(folder, "files"), HUB_PORT: "0", HUB_LOG_LEVEL: "warn" };
      const hub = new Child([process.execPath, cli, "serve"], { env: merged(env) });
      // The migration is one transaction, whose pages go to the write-ahead log as they come.
      await killAtSize(hub, `${path}-wal`, (kill * 397_000) % 3_000_000, /"listening"/);
      const { version, ...rest } = await stateOf(path);
      expect([1, schemaVersion]).toContain(version);
      expect(rest).toEqual({ links: LINKS, teams: LINKS, check: "ok" });
      if (version === 1) halfway++;
      const again = await HubProcess.start(env);
      expect(await again.stop()).toBe(0);
      expect(await stateOf(path)).toEqual({ version: schemaVersion, links: LINKS, teams: LINKS, check: "ok" });
    }
    console.log(`hub killed ${KILLS} times in a migration, ${halfway} times halfway: 0 of ${LINKS} links lost`);
    expect(halfway).toBeGreaterThan(0);
  },
  KILLS_TIMEOUT,
);
