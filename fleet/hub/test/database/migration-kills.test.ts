/** A hub is killed while it brings an old database up to date: the schema is the old or the new one, with all rows. */
import { join } from "node:path";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { killInMigrations } from "boxwright-service/testing/migration-kills";
import { afterAll, expect, it } from "vitest";
import { migrations } from "../../src/database/migrations.ts";
import { temporaryFolder } from "../support/hub.ts";
import { HubProcess, cli, merged } from "../support/process.ts";

afterAll(() => Child.killAll());

const LINKS = 20_000;
const NUMBERS = `(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${LINKS - 1}) SELECT n FROM numbers)`;
/** An open invitation in each of many teams. */
const FILL = `
  INSERT INTO users (id, email, password, created_at) VALUES ('u', 'ann@example.org', 'hash', 1);
  INSERT INTO teams (id, name, created_at) SELECT 'team-' || n, 'T' || n, 1 FROM ${NUMBERS};
  INSERT INTO links (hash, purpose, email, team_id, role, created_at, expires_at)
    SELECT 'hash-' || n, 'invite', 'a@example.org', 'team-' || n, 'admin', 5, 9 FROM ${NUMBERS};
  INSERT INTO audit (id, at, actor, action, team_id, subject)
    SELECT 'audit-' || n, 5, 'ann@example.org', 'invite.created', 'team-' || n, 'a@example.org admin' FROM ${NUMBERS};`;

it(
  `loses nothing when the hub is killed ${KILLS} times during a migration`,
  async () => {
    const folder = temporaryFolder().path;
    const files = join(folder, "files");
    const envOf = (database: string) => ({ HUB_DATABASE_FILE: database, HUB_FILES: files, HUB_PORT: "0" });
    const halfway = await killInMigrations({
      ...{ service: "hub", steps: migrations, folder, fill: FILL },
      // A later version knows who made a link.
      count: (version) =>
        `SELECT (SELECT count(*) FROM links WHERE ${version === 1 ? "1" : "created_by = 'u'"}) AS links,
          (SELECT count(*) FROM teams) AS teams`,
      expected: { links: LINKS, teams: LINKS },
      bytes: (kill) => (kill * 397_000) % 3_000_000,
      start: (path) => new Child([process.execPath, cli, "serve"], { env: merged(envOf(path)) }),
      run: async (path) => (await HubProcess.start(envOf(path))).stop(),
    });
    expect(halfway).toBeGreaterThan(0);
  },
  KILLS_TIMEOUT,
);
