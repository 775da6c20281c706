/** Enrolment and credentials of devices, on both databases. */
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { afterAll, beforeAll, expect, it } from "vitest";
import { mintKey } from "../../src/core/key.ts";
import { revokeAdoptKey } from "../../src/nouns/adoptkey.ts";
import { listRevocations, revokeDevice } from "../../src/nouns/credential.ts";
import { addDevices, listDevices, removeDevice } from "../../src/nouns/device.ts";
import { replaceSigningKey } from "../../src/nouns/signing.ts";
import { LIST, startHub, type TestHub, onDatabases } from "../support/hub.ts";
import { adoptKey, Agent, enrol, ENROL, send } from "../support/agent.ts";

const DAY = 86_400_000;
const names = async (hub: TestHub) => (await listDevices(hub.storage.db, hub.team.id)).map(({ name }) => name);
const idOf = (key: string): string => key.slice(4, 16);

onDatabases("enrolment", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind })));
  afterAll(() => hub.stop());

  it("makes a device with a credential, for as many devices as the key says", async () => {
    const key = await adoptKey(hub, { devices: 2 });
    const first = await enrol(hub, key);
    expect(first.status).toBe(201);
    expect(first.json).toMatchObject({ name: "Gate 3", team: "Crew" });
    expect(first.json.credential).toMatch(/^bwd_/);
    expect((await enrol(hub, key)).status).toBe(201);
    const third = await enrol(hub, key);
    expect(third.status).toBe(403);
    expect(third.json.errors[0].message).toContain("used up");
    expect((await names(hub)).filter((name) => name === "Gate 3")).toHaveLength(2);
  });

  it("counts right when many enrol at once", async () => {
    const key = await adoptKey(hub, { devices: 5 });
    const done = await Promise.all(Array.from({ length: 12 }, (_, i) => enrol(hub, key, { name: `rush ${i}` })));
    expect(done.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(7).fill(403)]);
    expect((await names(hub)).filter((name) => name.startsWith("rush"))).toHaveLength(5);
  });

  it("refuses a key that ran out, was revoked or was invented", async () => {
    const old = await adoptKey(hub, { days: 1 });
    hub.clock.offset = DAY + 1000;
    expect((await enrol(hub, old)).json.errors[0].message).toContain("expired");
    hub.clock.offset = 0;
    const revoked = await adoptKey(hub);
    await revokeAdoptKey(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, idOf(revoked));
    expect((await enrol(hub, revoked)).json.errors[0].message).toContain("revoked");
    // Prefix and checksum are judged without the database.
    const queries = await hub.queriesOf(async () => {
      for (const wrong of ["", "bwa_x", hub.key, mintKey("bwd").key, revoked.slice(0, -1) + "-"])
        expect((await enrol(hub, wrong)).json.errors[0].extensions.code).toBe("invalid_adopt_key");
    });
    expect(queries).toBe(0);
    expect((await enrol(hub, mintKey("bwa").key)).status).toBe(401);
  });

  it("gives the same device to a request that comes again, until its credential was used", async () => {
    const key = await adoptKey(hub, { devices: 1 });
    const lost = await Agent.enrol(hub, key, { serial_number: "s-1" });
    const again = await Agent.enrol(hub, key, { serial_number: "s-1" });
    expect(again.id).toBe(lost.id);
    expect((await lost.beat()).status).toBe(401);
    expect((await again.beat()).status).toBe(200);
    // Whoever has the key and knows the serial number takes over nothing.
    expect((await enrol(hub, key, { serial_number: "s-1" })).status).toBe(403);
    expect((await again.beat()).status).toBe(200);
  });

  it("adopts a device that somebody typed in, and keeps its name", async () => {
    const [device] = await addDevices(hub.storage.db, Date.now(), hub.team.id, 100, [{ name: "typed in" }]);
    const agent = await Agent.enrol(hub, await adoptKey(hub, { deviceId: device!.id }));
    expect([agent.id, agent.name]).toEqual([device!.id, "typed in"]);
    // A second adoption, of a device that was set up anew, ends the first credential.
    const anew = await Agent.enrol(hub, await adoptKey(hub, { deviceId: device!.id }));
    expect([(await agent.beat()).status, (await anew.beat()).status]).toEqual([401, 200]);
  });

  it("never gives one id to devices of two teams", async () => {
    const other = await hub.makeTeam("Other", []);
    const typed = { id: "cam1", name: "cam" };
    await addDevices(hub.storage.db, Date.now(), hub.team.id, 100, [typed]);
    await addDevices(hub.storage.db, Date.now(), other.team.id, 100, [typed]);
    expect((await enrol(hub, await adoptKey(hub, { deviceId: "cam1" }))).status).toBe(201);
    const second = await enrol(hub, await adoptKey(hub, { deviceId: "cam1" }, other.team.id));
    expect([second.status, second.json.errors[0].extensions.code]).toEqual([409, "device_conflict"]);
  });

  it.each([
    [{ name: "" }, /name: got ""/],
    [{ name: "\u200b" }, /name: got nothing that can be seen/],
    [{ model: 5 }, /model: got 5/],
    [{ version: undefined }, /version: got nothing/],
    [{ adopt_key: 7 }, /adopt_key: got none/],
  ])("refuses %j and says why", async (part, message) => {
    const { status, json } = await enrol(hub, await adoptKey(hub), part);
    expect([status, json.errors[0].extensions.code]).toEqual([400, "invalid_device_body"]);
    expect(json.errors[0].message).toMatch(message);
  });

  it("refuses what is no JSON, is too large or comes by GET", async () => {
    expect((await send(hub, "/device/enrol", { body: "{" })).json.errors[0].message).toContain("not JSON");
    expect((await send(hub, "/device/enrol", { body: " ".repeat(70_000) })).status).toBe(413);
    expect((await send(hub, "/device/enrol", { method: "GET" })).status).toBe(405);
  });

  it("rotates: the old credential is good until the new one was used", async () => {
    const agent = await Agent.enrol(hub);
    const old = agent.credential;
    const lost = (await agent.ask("/device/rotate")).json.credential;
    const next = (await agent.ask("/device/rotate")).json.credential;
    expect((await agent.beat()).json.rotate).toBe(false);
    agent.credential = lost;
    expect((await agent.beat()).status).toBe(401);
    agent.credential = next;
    expect((await agent.beat()).status).toBe(200);
    agent.credential = old;
    expect((await agent.beat()).status).toBe(401);
  });

  it("asks for a new credential after 30 days", async () => {
    const agent = await Agent.enrol(hub);
    hub.clock.offset = 31 * DAY;
    expect((await agent.beat()).json.rotate).toBe(true);
    hub.clock.offset = 0;
  });

  it("signs a token that a host can check, and names it void once the device is removed", async () => {
    const agent = await Agent.enrol(hub);
    const { token, expires_at } = (await agent.ask("/device/token")).json;
    const document = await fetch(`${hub.url}/.well-known/boxwright-hub.json`);
    const { issuer, keys, revoked } = await document.json();
    expect(issuer).toBe(hub.url);
    expect(JSON.stringify(keys)).not.toContain('"d"');
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys }), { issuer, algorithms: ["EdDSA"] });
    expect(payload).toMatchObject({ sub: agent.id, name: agent.name, team: hub.team.id });
    expect(payload.exp! - payload.iat!).toBe(7 * 86_400);
    expect(Date.parse(expires_at)).toBe(payload.exp! * 1000);
    expect(revoked.map((row: any) => row.device_id)).not.toContain(agent.id);

    const etag = document.headers.get("etag")!;
    const asked = await fetch(document.url, { headers: { "if-none-match": etag } });
    expect(asked.status).toBe(304);

    await removeDevice(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, agent.id);
    expect((await agent.beat()).status).toBe(401);
    hub.clock.offset += 6000;
    const after = await (await fetch(document.url)).json();
    const { before } = after.revoked.find((row: any) => row.device_id === agent.id);
    expect(before).toBeGreaterThan(payload.iat!);
    // "Undo" brings back the same device. Its old token stays void, its next one is good.
    await addDevices(hub.storage.db, Date.now(), hub.team.id, 1000, [{ id: agent.id, name: agent.name }], {
      restored: true,
    });
    expect((await agent.beat()).status).toBe(200);
    expect(decodeJwt((await agent.ask("/device/token")).json.token).iat!).toBeGreaterThanOrEqual(before);
    hub.clock.offset = 0;
  });

  it("names a token void that was issued while the hub's clock was ahead", async () => {
    const agent = await Agent.enrol(hub);
    hub.clock.offset = 3600_000;
    const { iat } = decodeJwt((await agent.ask("/device/token")).json.token);
    hub.clock.offset = 0;
    const place = { teamId: hub.team.id, id: agent.id, name: agent.name };
    await revokeDevice(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, place);
    const revoked = await listRevocations(hub.storage.db);
    expect(revoked.find(({ device_id }) => device_id === agent.id)!.before).toBeGreaterThan(iat!);
  });

  it("gives no token to a device that is revoked while it asks for one", async () => {
    const agent = await Agent.enrol(hub);
    const place = { teamId: hub.team.id, id: agent.id, name: agent.name };
    const all = hub.db.all.bind(hub.db);
    // The signing key is read after the credential was checked.
    hub.db.all = async (sql, params) => {
      if (sql.includes("signing_keys"))
        await revokeDevice(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, place);
      return all(sql, params);
    };
    const { status } = await agent.ask("/device/token");
    hub.db.all = all;
    expect(status).toBe(401);
  });

  it("names a revocation under a clock that is far ahead too", async () => {
    const agent = await Agent.enrol(hub);
    await revokeDevice(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, agent);
    hub.clock.offset = 30 * DAY;
    const { revoked } = await (await fetch(`${hub.url}/.well-known/boxwright-hub.json`)).json();
    expect(revoked).toContainEqual({ device_id: agent.id, before: expect.any(Number) });
    hub.clock.offset = 0;
  });

  it("names a revocation within a second, so that hosts refuse the device within their hubSeconds", async () => {
    const agent = await Agent.enrol(hub);
    const revoked = async (): Promise<string[]> => {
      const document = await (await fetch(`${hub.url}/.well-known/boxwright-hub.json`)).json();
      return document.revoked.map(({ device_id }: { device_id: string }) => device_id);
    };
    expect(await revoked()).not.toContain(agent.id);
    await revokeDevice(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, agent);
    hub.clock.offset += 900;
    expect(await revoked()).toContain(agent.id);
    hub.clock.offset = 0;
  });

  it("signs with another key once an operator replaces it, and names only that one", async () => {
    const agent = await Agent.enrol(hub);
    const tokenOf = async () => (await agent.ask("/device/token")).json.token as string;
    const before = await tokenOf();
    const id = await replaceSigningKey(hub.storage.db, Date.now(), "test");
    hub.clock.offset = 60_000;
    const { keys } = await (await fetch(`${hub.url}/.well-known/boxwright-hub.json`)).json();
    expect(keys).toMatchObject([{ kid: id }]);
    const known = createLocalJWKSet({ keys });
    await expect(jwtVerify(before, known)).rejects.toThrow("no applicable key");
    expect((await jwtVerify(await tokenOf(), known)).payload.sub).toBe(agent.id);
    hub.clock.offset = 0;
  });

  it("gives the id of a removed device to a stranger without its credential", async () => {
    const agent = await Agent.enrol(hub);
    await removeDevice(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, agent.id);
    await addDevices(hub.storage.db, Date.now(), hub.team.id, 1000, [{ id: agent.id, name: "another" }]);
    expect((await agent.beat()).status).toBe(401);
  });

  it("keeps credentials of devices out of /graphql, and API keys out of /device", async () => {
    const agent = await Agent.enrol(hub);
    const queries = await hub.queriesOf(async () => {
      for (const key of [agent.credential, await adoptKey(hub)]) {
        const { status, json } = await hub.query(LIST, key);
        expect([status, json.errors[0].extensions.code]).toEqual([403, "device_credential"]);
      }
      const { status } = await send(hub, "/device/heartbeat", { headers: { authorization: `Bearer ${hub.key}` } });
      expect(status).toBe(401);
    });
    expect(queries).toBe(0);
    expect(
      (
        await fetch(`${hub.url}/teams`, {
          headers: { authorization: `Bearer ${agent.credential}` },
          redirect: "manual",
        })
      ).status,
    ).toBe(303);
  });

  it("writes no key into the log, the database or the audit", async () => {
    const key = await adoptKey(hub);
    const agent = await Agent.enrol(hub, key);
    await agent.beat();
    const rows = await hub.storage.db.all("SELECT actor, subject FROM audit");
    const stored = await hub.storage.db.all("SELECT * FROM adopt_keys");
    const credentials = await hub.storage.db.all("SELECT * FROM device_credentials");
    const all = hub.logs() + JSON.stringify([rows, stored, credentials]);
    for (const secret of [key, agent.credential]) expect(all).not.toContain(secret.slice(17, 49));
    expect(JSON.stringify(rows)).toContain(`adopt key ${idOf(key)}`);
  });

  it("has no room beyond the limit of a team", async () => {
    const small = await startHub({ kind, env: { HUB_MAX_DEVICES: "2" } });
    try {
      const { status, json } = await enrol(small, await adoptKey(small));
      expect([status, json.errors[0].message]).toEqual([409, expect.stringContaining("2 devices already")]);
    } finally {
      await small.stop();
    }
  });
});

it("makes guessing adopt keys cost an address its allowance", async () => {
  const hub = await startHub({ isClockStopped: true, env: { HUB_ADDRESS_RATE: "1", HUB_ADDRESS_BURST: "60" } });
  try {
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await enrol(hub, mintKey("bwa").key)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    expect(ENROL.name).toBe("Gate 3");
  } finally {
    await hub.stop();
  }
});

it("takes no conflict of two teams for a guess", async () => {
  const hub = await startHub({ isClockStopped: true, env: { HUB_ADDRESS_RATE: "1", HUB_ADDRESS_BURST: "60" } });
  try {
    const other = await hub.makeTeam("Other", []);
    for (const team of [hub.team.id, other.team.id])
      await addDevices(hub.storage.db, Date.now(), team, 100, [{ id: "cam1", name: "cam" }]);
    expect((await enrol(hub, await adoptKey(hub, { deviceId: "cam1" }))).status).toBe(201);
    const key = await adoptKey(hub, { deviceId: "cam1" }, other.team.id);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await enrol(hub, key)).status);
    expect(statuses).toEqual([409, 409, 409, 409, 409, 409]);
  } finally {
    await hub.stop();
  }
});
