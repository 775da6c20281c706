/** A host is killed while it brings an old database up to date: the schema is old or new, and no frame is lost. */
import { afterAll, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { killInMigrations } from "boxwright-service/testing/migration-kills";
import { migrations } from "../../src/store/migrations.ts";
import { temporaryFolder } from "../support/host.ts";
import { COMMAND, HostProcess } from "../support/process.ts";

afterAll(() => Child.killAll());

const FRAMES = 60_000;

test(
  `a host is killed ${KILLS} times during a migration`,
  async () => {
    await killInMigrations({
      ...{ service: "host", steps: migrations, folder: temporaryFolder().path },
      fill: `
        WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${FRAMES - 1})
        INSERT INTO frames (source, id, subject, time, sequence, kind, count, detections, stored_at)
          SELECT '/devices/' || (n % 500), 'frame-' || n, 'door', printf('%020d', n), n, 'raw', 0, '[]', n FROM numbers;`,
      count: () => "SELECT count(*) AS frames FROM frames",
      expected: { frames: FRAMES },
      bytes: (kill) => (kill * 97_000) % 1_000_000,
      start: (path) => new Child([process.execPath, COMMAND, "--port", "0", "--threads", "1", "--database", path]),
      run: async (path) => {
        const host = await HostProcess.start({ database: path, "keep-days": 0, "keep-bytes": 0 });
        return host.end("SIGTERM");
      },
    });
  },
  KILLS_TIMEOUT,
);
