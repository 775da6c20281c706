/** A database that goes away and comes back. */
import { describe, expect, inject, it } from "vitest";
import { UnavailableError } from "boxwright-service/errors";
import { Agent } from "../support/agent.ts";
import { ask, startHub } from "../support/hub.ts";
import { PostgresServer } from "boxwright-service/testing/postgres";
import { untilPasses } from "boxwright-service/testing/wait";
import { HubProcess, makeKey, run, useLinkAt } from "../support/process.ts";

describe.skipIf(inject("postgres") === undefined)("a PostgreSQL that goes away (20)", () => {
  it("is said on /readyz, not on /healthz; requests get 503; and all is well again without a restart", async () => {
    const server = await PostgresServer.create();
    const env = { DATABASE_URL: await server.newDatabase() };
    const init = await run(["init", "--email", "root@example.org"], env);
    const hub = await HubProcess.start(env);
    const person = await useLinkAt(hub.url, init.json.link as string);
    const key = await makeKey(person, init.json.team.id as string);
    const ready = async (): Promise<number> => (await fetch(`${hub.url}/readyz`)).status;
    expect([await ready(), await ask(hub.url, key)]).toEqual([200, 200]);
    for (const end of ["stop", "kill"] as const) {
      await server[end]();
      await untilPasses(async () => expect(await ready()).toBe(503));
      expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);
      expect(await ask(hub.url, key)).toBe(503);
      expect((await person.get(`/teams/${init.json.team.id}/devices`)).status).toBe(503);
      await server.start();
      await untilPasses(async () => expect(await ready()).toBe(200));
      expect(await ask(hub.url, key)).toBe(200);
      expect((await person.get(`/teams/${init.json.team.id}/devices`)).status).toBe(200);
    }
    expect(await hub.stop()).toBe(0);
    await server.remove();
  });
});

it("tells once that heartbeats cannot be written, and that they are again", async () => {
  const hub = await startHub();
  const agent = await Agent.enrol(hub);
  hub.db.failure = new UnavailableError("full");
  hub.db.failing = /UPDATE device_states SET model/;
  let tries = 0;
  const write = hub.db.write.bind(hub.db);
  hub.db.write = (work, options) => (tries++, write(work, options));
  await agent.beat();
  tries = 0;
  await untilPasses(() => expect(tries).toBeGreaterThan(2));
  expect(hub.logs().match(/heartbeats could not be written/g)).toHaveLength(1);
  hub.db.failure = undefined;
  await untilPasses(() => expect(hub.logs()).toContain("heartbeats are written again"));
  await hub.stop();
});
