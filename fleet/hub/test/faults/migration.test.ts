/**
 * A hub of a new release starts over the database of the old one, while devices go on to send heartbeats and wait for
 * their versions. They keep their credentials, and the old release says why it does not start any more.
 */
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { until } from "boxwright-service/testing/wait";
import { readConfig } from "../../src/core/config.ts";
import { createLogger } from "../../src/core/log.ts";
import { migrations } from "../../src/database/migrations.ts";
import { openDatabase } from "../../src/database/open.ts";
import { serve } from "../../src/server.ts";
import { ENROL } from "../support/agent.ts";
import { ask, temporaryFolder } from "../support/hub.ts";
import { HubProcess, makeKey, run, useLinkAt } from "../support/process.ts";

// The built command is the old release, and this process the new one, with one more step.
vi.mock("../../src/database/migrations.ts", async (original) => {
  const { migrations } = await original<typeof import("../../src/database/migrations.ts")>();
  const sql = (text: string): string =>
    `ALTER TABLE devices ADD COLUMN place ${text}; UPDATE devices SET place = name; CREATE INDEX places ON devices (place);`;
  return { migrations: [...migrations, { version: migrations.at(-1)!.version + 1, name: "places", sql }] };
});

afterAll(() => Child.killAll());

const BEAT = {
  ...{ version: "1.0.0", model: "Pi 5", architecture: "arm64", frames: 1, dropped: 0, lost: 0 },
  application: { identifier: null, version: null, state: "none" },
  ...{ decode_ms: { p50: 2, p99: 9 }, spool: { bytes: 0, limit: 1000, frames: 0 } },
};

it("a migration with devices online", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_FILES: join(folder.path, "files") };
  const init = await run(["init", "--email", "root@example.org", "--team", "Team"], env);
  const adopt = await run(["adopt-keys", "create", "--team", "Team", "--name", "wall", "--devices", "3"], env);
  const old = await HubProcess.start(env);
  const key = await makeKey(await useLinkAt(old.url, init.json.link as string), init.json.team.id as string);
  const post = (path: string, token: string, body: object): Promise<Response> =>
    fetch(old.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  let isOver = false;
  const statuses = new Set<number>();
  const beats = [0, 0, 0];
  const devices = beats.map(async (_, i) => {
    const answer = await post("/device/enrol", "", { adopt_key: adopt.json.key, ...ENROL, name: `d${i}` });
    const { credential } = (await answer.json()) as { credential: string };
    for (let counter = 1; !isOver; counter++) {
      const beat = { ...BEAT, counter, process_id: `p${i}`, time: new Date().toISOString() };
      // 0: nobody listens.
      const status = await post("/device/heartbeat", credential, beat).then(
        (reply) => reply.status,
        () => 0,
      );
      if (status === 200) beats[i]!++;
      statuses.add(status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const more = async (): Promise<void> => {
    const enough = beats.map((count) => count + 2);
    await until(() => beats.every((count, i) => count >= enough[i]!), "heartbeats of all devices");
  };
  await more();
  expect(await old.stop()).toBe(0);

  const config = readConfig({ ...env, HUB_PORT: String(old.port) });
  const db = await openDatabase(config, { create: false });
  const hub = await serve({ config, db, log: createLogger("warn", { write: () => undefined }) });
  onTestFinished(() => hub.stop());
  await more();
  isOver = true;
  await Promise.all(devices);
  // 401 would make an agent enrol anew, and any other refusal throw something away.
  expect([...statuses].filter((status) => ![0, 200, 429, 503].includes(status))).toEqual([]);
  expect(await ask(old.url, key)).toBe(200);
  expect(await db.all("SELECT place FROM devices ORDER BY place")).toEqual(
    ["d0", "d1", "d2"].map((place) => ({ place })),
  );
  await hub.stop();
  const { code, text } = await run(["serve"], { ...env, HUB_PORT: "0" });
  const { version } = migrations.at(-1)!;
  const refusal = `version ${version}, expected at most ${version - 1}: this hub is older`;
  expect([code, text]).toEqual([1, expect.stringContaining(refusal)]);
});
