/** A disk that gets full once the database is open: the further writes of a start wait for room too. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DISK_FULL } from "boxwright-service/database";
import { UnavailableError } from "boxwright-service/errors";
import { createLogger } from "boxwright-service/log";
import { Sqlite } from "boxwright-service/sqlite";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { freePort } from "boxwright-service/testing/free-port";
import { until } from "boxwright-service/testing/wait";
import { afterEach, expect, test, vi } from "vitest";
import { readConfig } from "../../src/core/config.ts";
import { startHost } from "../../src/host.ts";

const checks = vi.hoisted(() => ({ count: 0 }));
vi.mock("../../src/decode/networks.ts", async (original) => {
  const networks = await original<typeof import("../../src/decode/networks.ts")>();
  const checkNetwork: typeof networks.checkNetwork = (network) => (checks.count++, networks.checkNetwork(network));
  return { ...networks, checkNetwork };
});

afterEach(() => void vi.restoreAllMocks());

/** @param writes that the disk takes once the schema is there: the first is the trusted time, the next the config */
test.each([0, 1])("a disk that takes %i writes after the database is open", async (writes) => {
  const { path } = temporaryFolder();
  checks.count = 0;
  writeFileSync(join(path, "c.json"), JSON.stringify({ family: "yolov8", classes: 1, inputSize: [64, 64] }));
  const { migrate, write } = Sqlite.prototype;
  let [left, refusals] = [Infinity, 0];
  vi.spyOn(Sqlite.prototype, "migrate").mockImplementation(async function (this: Sqlite, work) {
    await migrate.call(this, work);
    left = writes;
  });
  vi.spyOn(Sqlite.prototype, "write").mockImplementation(function (this: Sqlite, work, options) {
    if (left-- > 0) return write.call(this, work, options);
    refusals++;
    return Promise.reject(new UnavailableError(DISK_FULL));
  });
  const port = await freePort();
  const given = { port, threads: 1, database: join(path, "host.db"), configs: [join(path, "c.json")] };
  const lines: string[] = [];
  const log = createLogger("error", { destination: { write: (line) => void lines.push(line) } });
  let isStarted = false;
  const starting = startHost({ config: readConfig({}, given), log, waits: true }).finally(() => (isStarted = true));
  const health = (): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      async (answer) => `${answer.status} ${await answer.text()}`,
      () => "no answer",
    );
  await until(async () => isStarted || /^503 .*not started yet.*is full/.test(await health()), "503");
  await until(() => isStarted || refusals > 1, "another try");
  expect(isStarted).toBe(false);
  left = Infinity;
  const host = await starting;
  expect(await health()).toMatch(/^200/);
  expect(await host.db.all("SELECT 1 AS one FROM configs")).toHaveLength(1);
  // Each try writes the config, but the first alone checks it.
  expect(checks.count).toBe(1);
  // The reason is logged once, however often it is met.
  expect(lines).toEqual([expect.stringMatching(/is full .*make room on this disk.*cannot start yet/)]);
  await host.stop();
});
