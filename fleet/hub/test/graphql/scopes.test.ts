/** A key opens what its scopes name and nothing else, tried on every field of the schema. */
import { readFileSync } from "node:fs";
import { buildSchema, isNonNullType, type GraphQLField, type GraphQLObjectType, type GraphQLType } from "graphql";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKey, rotateKey } from "../../src/nouns/apikey.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import type { Scope } from "../../src/nouns/key-scope.ts";
import { Agent } from "../support/agent.ts";
import { ask, onDatabases, startHub, type TestHub } from "../support/hub.ts";

const DAY_MS = 86_400_000;
const schema = buildSchema(readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8"));

/** Fields of a query and of a mutation, by the scope that opens them beside full access. */
const AREAS: Readonly<Record<string, readonly RegExp[]>> = {
  devices: [
    /^(devices?|deviceTags|deviceLogs|deviceGroups?|adoptKeys?|returningDevicesUntil|awayDeviceCount)$/,
    /^(setDeviceTags|requestDeviceLog|letDevicesReturn|\w+Device|\w+DeviceCredential|\w+DeviceGroup|\w+AdoptKey)$/,
  ],
  applications: [/^(apps?|models|storage)$/, /^(\w+App|\w+AppVersion|endAppRollout|removeModel)$/],
  snaps: [/^(snaps?\w*|eventFile)$/, /^(deleteSnaps\w+|requestSnap)$/],
  alerts: [/^alert\w+$/, /^(\w+AlertRule|\w+AlertChannel|resendAlerts|silenceAlerts)$/],
  keys: [/^apiKeys$/, /^\w+ApiKey$/],
};
const SCOPES: readonly Scope[] = ["read", "devices", "applications", "snaps"];

const typeOf = (name: string): GraphQLObjectType => schema.getType(name) as GraphQLObjectType;

/** Returns a value that fits a type, as text. Nothing of the team has it. */
function dummyOf(type: GraphQLType): string {
  const name = String(type).replace(/!$/, "");
  if (name.startsWith("[")) return name === "[ApiKeyScope!]" ? "[READ]" : `["x"]`;
  if (name === "Int") return "1";
  if (name === "AlertKind") return "DEVICE_OFFLINE";
  return name.endsWith("Input") ? "{}" : '"x"';
}

function textOf({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const needed = args.filter((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined);
  const list = needed.map((arg) => `${arg.name}: ${dummyOf(arg.type)}`).join(", ");
  const inner = typeOf(String(type).replace(/[![\]]/g, ""));
  const selection = "getFields" in inner ? " { __typename }" : "";
  return `${name}${list === "" ? "" : `(${list})`}${selection}`;
}

onDatabases("scopes of API keys", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind })));
  afterAll(() => hub.stop());

  const keyWith = async (scopes: readonly Scope[] | null, days?: number): Promise<{ id: string; key: string }> => {
    const { db } = hub.storage;
    const nonce = `${String(scopes)} ${Math.random()}`;
    return (await createKey(db, Date.now(), hub.admin, hub.team.id, nonce, { name: "some", scopes, days }))!;
  };
  const codesOf = async (operation: string, field: string, key: string): Promise<string[]> => {
    const { json } = await hub.query(`${operation} { team { ${field} } }`, key);
    return ((json.errors ?? []) as { extensions: { code: string } }[]).map(({ extensions }) => extensions.code);
  };

  it.each([["Team", "query"] as const, ["TeamMutation", "mutation"] as const])(
    "every field of %s is open to its scopes and to no other",
    async (type, operation) => {
      const keys = new Map<Scope, string>();
      for (const scope of SCOPES) keys.set(scope, (await keyWith([scope])).key);
      const full = (await keyWith(null)).key;
      const fields = Object.values(typeOf(type).getFields()).filter(({ name }) => !["id", "name"].includes(name));
      expect(fields.length).toBeGreaterThan(20);
      for (const field of fields) {
        const area = Object.keys(AREAS).find((name) => AREAS[name]![type === "Team" ? 0 : 1]!.test(field.name));
        expect([field.name, area]).not.toEqual([field.name, undefined]);
        const opens = (scope: Scope): boolean =>
          scope === area || (scope === "read" && operation === "query" && area !== "keys");
        for (const scope of SCOPES) {
          const codes = await codesOf(operation, textOf(field), keys.get(scope)!);
          expect([scope, field.name, codes.includes("missing_scope")]).toEqual([scope, field.name, !opens(scope)]);
        }
        if (field.name !== "createApiKey")
          expect([field.name, await codesOf(operation, textOf(field), full)]).not.toContain("missing_scope");
      }
    },
    60_000,
  );

  it("a refused field changes nothing, and says what it needs", async () => {
    const { key } = await keyWith(["read", "snaps"]);
    const { nodes } = (await hub.query("query { team { devices { nodes { id name } } } }", key)).json.data.team.devices;
    const before = (await readAudit(hub.storage.db, 1000)).length;
    const rename = `deviceId: "${nodes[0].id}", name: "taken"`;
    for (const text of [
      `mutation { team { renameDevice(${rename}) { status } } }`,
      `mutation { updateDevice(input: { ${rename} }) { status } }`,
      `mutation { team { a: createApiKey(name: "more", scopes: [FULL]) { key } } }`,
    ]) {
      const { json, text: answer } = await hub.query(text, key);
      expect(json.errors[0]).toMatchObject({
        message: expect.stringMatching(
          /^got a key with read, snaps, expected one with (the scope devices|full access)$/,
        ),
        extensions: { code: "missing_scope" },
      });
      expect(answer).not.toContain("hub_");
    }
    expect((await readAudit(hub.storage.db, 1000)).length).toBe(before);
    const after = await hub.query("query { team { devices { nodes { id name } } } }", key);
    expect(after.json.data.team.devices.nodes).toEqual(nodes);
  });

  it("files and models ask for their scope, too", async () => {
    const [devices, read, apps] = [
      await keyWith(["devices"]),
      await keyWith(["read"]),
      await keyWith(["applications"]),
    ];
    const status = async (path: string, method: string, { key }: { key: string }): Promise<number> => {
      const body = method === "PUT" ? { body: "x" } : {};
      return (await fetch(hub.url + path, { method, headers: { authorization: `Bearer ${key}` }, ...body })).status;
    };
    const [model, file] = [`/models/${"0".repeat(64)}`, "/files/0190a000-0000-7000-8000-000000000000"];
    expect([await status(file, "GET", devices), await status(file, "GET", read)]).toEqual([403, 404]);
    expect([await status(model, "HEAD", devices), await status(model, "HEAD", read)]).toEqual([403, 404]);
    expect([await status(model, "PUT", read), await status(model, "PUT", apps)]).toEqual([403, 422]);
  });

  it("a key ends at its time, and is rotated with a time in which both hold", async () => {
    const old = await keyWith(["devices"], 10);
    const rotate = (nonce: string) =>
      rotateKey(hub.storage.db, Date.now() + hub.clock.offset, hub.admin, hub.team.id, nonce, {
        ...{ id: old.id, overlapHours: 24 },
      });
    hub.clock.offset = DAY_MS;
    const made = await rotate("one form");
    expect(await rotate("one form")).toBeUndefined();
    await expect(rotate("another form")).rejects.toThrow(`which is replaced by ${made!.id}`);
    expect([await ask(hub.url, old.key), await ask(hub.url, made!.key)]).toEqual([200, 200]);
    hub.clock.offset = 2 * DAY_MS + 60_000;
    expect([await ask(hub.url, old.key), await ask(hub.url, made!.key)]).toEqual([401, 200]);
    const refused = await hub.query("{ status }", old.key);
    expect(refused.json).toEqual((await hub.query("{ status }", `${old.key.slice(0, -1)}x`)).json);
    hub.clock.offset = 11 * DAY_MS + 60_000;
    expect(await ask(hub.url, made!.key)).toBe(401);
    hub.clock.offset = 0;
    const rows = (await readAudit(hub.storage.db, 10)).filter(({ action }) => action === "key.rotated");
    expect(rows).toMatchObject([
      { actor: hub.admin.email, subject: expect.stringMatching(`^${old.id} ${made!.id} 20`) },
    ]);
  });

  it("are made, listed, rotated and revoked by GraphQL with a full key", async () => {
    const KEY = "apiKey { id name status scopes createdBy expiresAt lastUsedAt replacedById }";
    const change = async (field: string) =>
      (await hub.query(`mutation { team { done: ${field} } }`)).json.data.team.done;
    const made = await change(
      `createApiKey(name: "shop", scopes: [READ, SNAPS], expiresInDays: 30) { status key ${KEY} }`,
    );
    expect(made).toMatchObject({
      ...{ status: "SUCCESS", key: expect.stringMatching(/^hub_/) },
      apiKey: { name: "shop", status: "ACTIVE", scopes: ["READ", "SNAPS"], createdBy: `key ${hub.keyId}` },
    });
    expect(await ask(hub.url, made.key)).toBe(200);
    await hub.running.app.flush();
    const next = await change(`rotateApiKey(apiKeyId: "${made.apiKey.id}", overlapHours: 0) { status key ${KEY} }`);
    expect(next.apiKey).toMatchObject({ name: "shop", scopes: ["READ", "SNAPS"], lastUsedAt: null });
    expect([await ask(hub.url, made.key), await ask(hub.url, next.key)]).toEqual([401, 200]);
    const { json } = await hub.query(`query { team { apiKeys { id status lastUsedAt replacedById } } }`);
    expect(json.data.team.apiKeys).toContainEqual({
      ...{ id: made.apiKey.id, status: "EXPIRED", replacedById: next.apiKey.id },
      lastUsedAt: expect.stringMatching(/Z$/),
    });
    expect((await change(`revokeApiKey(apiKeyId: "${next.apiKey.id}") { status ${KEY} }`)).apiKey.status).toBe(
      "REVOKED",
    );
    expect(await ask(hub.url, next.key)).toBe(401);
    const wrong = [
      `createApiKey(name: "x", scopes: []) { status failedMessage }`,
      `createApiKey(name: "x", scopes: [FULL, READ]) { status failedMessage }`,
      `createApiKey(name: "x", scopes: [READ], expiresInDays: 0) { status failedMessage }`,
      `rotateApiKey(apiKeyId: "${next.apiKey.id}") { status failedMessage }`,
      `rotateApiKey(apiKeyId: "${hub.keyId}", overlapHours: 721) { status failedMessage }`,
    ];
    for (const field of wrong) expect([field, await change(field)]).toMatchObject([field, { status: "FAILED" }]);
  });

  it("a device's credential opens nothing but its own paths", async () => {
    const [one, other] = [await Agent.enrol(hub), await Agent.enrol(hub)];
    const names = await hub.query("query { team { devices { nodes { id name } } } }");
    for (const path of ["/graphql", `/models/${"0".repeat(64)}`, "/files/x"])
      expect([path, (await one.ask(path, { json: { query: "{ status }" } })).status]).toEqual([path, 403]);
    const page = await one.ask(`/teams/${hub.team.id}/devices`, { method: "GET", redirect: "manual" });
    expect(page.status).toBe(303);
    // A heartbeat that names another device counts for its sender: only the credential identifies the device.
    const claims = { device_id: other.id, id: other.id, team_id: "x" };
    const beaten = await one.ask("/device/heartbeat", { json: { ...one.heartbeat(), ...claims, model: "claimed" } });
    expect(beaten.status).toBeLessThan(500);
    const { json } = await hub.query(`query { team { device(deviceId: "${other.id}") { model status } } }`);
    expect(json.data.team.device).toEqual({ model: "Pi 5", status: "OFFLINE" });
    expect((await hub.query("query { team { devices { nodes { id name } } } }")).json).toEqual(names.json);
  });
});
