/** A host is killed while it brings an old database up to date: the schema is old or new, and no frame is lost. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT, killAtSize } from "boxwright-service/testing/kills";
import { databaseVersion } from "boxwright-service/migrate";
import { openDatabase } from "boxwright-service/open-database";
import { Sqlite } from "boxwright-service/sqlite";
import { migrations } from "../../src/store/migrations.ts";
import { temporaryFolder } from "../support/host.ts";
import { COMMAND, HostProcess } from "../support/process.ts";

afterAll(() => Child.killAll());

const FRAMES = 60_000;
const NEWEST = migrations.at(-1)!.version;

/** Makes a database of the first version, full of frames. */
async function makeOld(path: string): Promise<void> {
  const db = await openDatabase({ service: "host", steps: migrations.slice(0, 1), place: path, poolSize: 1 });
  await db.migrate((tx) =>
    tx.script(`
      WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${FRAMES - 1})
      INSERT INTO frames (source, id, subject, time, sequence, kind, count, detections, stored_at)
        SELECT '/devices/' || (n % 500), 'frame-' || n, 'door', printf('%020d', n), n, 'raw', 0, '[]', n FROM numbers;`),
  );
  await db.close();
}

async function stateOf(path: string): Promise<{ version: number; frames: number; check: string }> {
  const db = new Sqlite(path, { service: "host" });
  const [{ frames } = { frames: 0 }] = await db.all<{ frames: number }>("SELECT count(*) AS frames FROM frames");
  const [{ check } = { check: "" }] = await db.all<{ check: string }>(
    "SELECT integrity_check AS 'check' FROM pragma_integrity_check",
  );
  const version = await databaseVersion(db);
  await db.close();
  return { version, frames, check };
}

test(
  `a host is killed ${KILLS} times during a migration`,
  async () => {
    const folder = temporaryFolder().path;
    const old = join(folder, "old.db");
    await makeOld(old);
    let halfway = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const path = join(folder, `${kill}.db`);
      copyFileSync(old, path);
      const host = new Child([process.execPath, COMMAND, "--port", "0", "--threads", "1", "--database", path]);
      // The migration is one transaction, whose pages go to the write-ahead log as they come.
      await killAtSize(host, `${path}-wal`, (kill * 97_000) % 1_000_000, /"listening"/);
      const { version, ...rest } = await stateOf(path);
      expect([1, NEWEST]).toContain(version);
      expect(rest).toEqual({ frames: FRAMES, check: "ok" });
      if (version === 1) halfway++;
      const again = await HostProcess.start({ database: path, "keep-days": 0, "keep-bytes": 0 });
      expect(await again.end("SIGTERM")).toBe(0);
      expect(await stateOf(path)).toEqual({ version: NEWEST, frames: FRAMES, check: "ok" });
    }
    console.log(`host killed ${KILLS} times in a migration, ${halfway} times halfway: 0 of ${FRAMES} frames lost`);
  },
  KILLS_TIMEOUT,
);
