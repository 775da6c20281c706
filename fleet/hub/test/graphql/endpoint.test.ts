/** POST /graphql over HTTP, on both databases: what is answered. */
import { getIntrospectionQuery } from "graphql";
import { auditServer } from "graphql-http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { revokeKey } from "../../src/nouns/apikey.ts";
import { addDevices, renameDevice } from "../../src/nouns/device.ts";
import { renameTeam } from "../../src/nouns/team.ts";
import { queryCodes } from "../../src/graphql/errors.ts";
import { refusals } from "../../src/http/refusals.ts";
import { LIST, startHub, type TestHub, onDatabases } from "../support/hub.ts";

const DEVICES = ["north", "south", "east"];

onDatabases("endpoint", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind, devices: DEVICES })));
  afterAll(() => hub.stop());

  it("answers the documented query with the team's devices", async () => {
    const { status, headers, json } = await hub.query(LIST);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(json.data.team.devices.nodes.map((node: { name: string }) => node.name)).toEqual(DEVICES);
    expect(Object.keys(json.data.team.devices.nodes[0])).toEqual(["id", "name"]);
  });

  it("pages with first and after, and says what is wrong with them", async () => {
    const page = (args: string) =>
      hub.query(`{ team { devices(${args}) { nodes { name } pageInfo { hasNextPage endCursor } } } }`);
    const first = (await page("first: 2")).json.data.team.devices;
    expect(first.nodes).toEqual([{ name: "north" }, { name: "south" }]);
    expect(first.pageInfo.hasNextPage).toBe(true);
    const second = (await page(`first: 2, after: "${first.pageInfo.endCursor}"`)).json.data.team.devices;
    expect(second).toMatchObject({ nodes: [{ name: "east" }], pageInfo: { hasNextPage: false } });
    expect((await page("first: 3")).json.data.team.devices.pageInfo.hasNextPage).toBe(false);
    expect((await page(`after: "${second.pageInfo.endCursor}"`)).json.data.team.devices).toEqual({
      nodes: [],
      pageInfo: { hasNextPage: false, endCursor: null },
    });
    expect((await page("first: 0")).json.errors[0]).toMatchObject({
      message: "first: got 0, expected at least 1",
      extensions: { code: "invalid_input" },
    });
    expect((await page('after: "?"')).json.errors[0].message).toMatch(/after: got "\?", expected an endCursor/);
    for (const forged of ["\0", "a\0b", "' OR 1=1", "\u{1f980}", "x".repeat(65)]) {
      const { status, json } = await page(`after: "${Buffer.from(forged).toString("base64url")}"`);
      expect([forged, status, json.errors[0].extensions.code]).toEqual([forged, 200, "invalid_input"]);
    }
  });

  it("gives every error of a query a code, in the casing of the refusals", async () => {
    const ask = async (body: object) =>
      (await hub.query("", hub.key, { body: JSON.stringify(body) })).json.errors.map(
        ({ extensions }: { extensions: { code: string } }) => extensions.code,
      );
    const page = "query($n: Int) { team { devices(first: $n) { nodes { id } } } }";
    const cases: [object, string][] = [
      [{ query: "{ team {" }, "syntax_error"],
      [{ query: "{ nothing }" }, "invalid_query"],
      [{ query: "{ team }" }, "invalid_query"],
      [{ query: "mutation { team { id } }" }, "invalid_query"],
      [{ query: "query A { team { id } }", operationName: "B" }, "invalid_query"],
      [{ query: page, variables: { n: "x" } }, "invalid_input"],
      [{ query: page, variables: { n: 0 } }, "invalid_input"],
      [{ query: `{ team { ${"devices { nodes { id } } ".repeat(200)} } }` }, "query_too_large"],
    ];
    for (const [body, code] of cases) expect([body, await ask(body)]).toEqual([body, [code]]);
    for (const code of [...Object.keys(queryCodes), ...Object.keys(refusals)]) expect(code).toMatch(/^[a-z_]+$/);
  });

  it("takes operationName, variables and extensions", async () => {
    const body = {
      query: "query A { team { id } } query B($n: Int) { team { devices(first: $n) { nodes { name } } } }",
      operationName: "B",
      variables: { n: 1 },
      extensions: { persistedQuery: { version: 1 } },
    };
    const { json } = await hub.query("", hub.key, { body: JSON.stringify(body) });
    expect(json.data.team.devices.nodes).toEqual([{ name: "north" }]);
  });

  it("names the operations of a query of which none is meant", async () => {
    for (const operationName of ["C", undefined]) {
      const { status, json } = await hub.query("", hub.key, {
        body: JSON.stringify({ query: "query A { team { id } } query B { team { name } }", operationName }),
      });
      expect([status, json.data]).toEqual([200, undefined]);
      expect(json.errors[0].message).toBe(
        `operationName: got ${JSON.stringify(operationName ?? null)}, expected the name of one operation of the query: A, B`,
      );
    }
  });

  it("passes every MUST and SHOULD of the GraphQL over HTTP audits with a key (10)", async () => {
    const results = await auditServer({
      url: `${hub.url}/graphql`,
      fetchFn: (url: string, init: RequestInit = {}) =>
        fetch(url, {
          ...init,
          headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${hub.key}` },
        }),
    });
    const failed = results.filter((result) => result.status !== "ok").map((result) => result.name);
    expect(results.filter((result) => /^MUST/.test(result.name)).length).toBe(13);
    expect(results.filter((result) => /^SHOULD/.test(result.name)).length).toBe(23);
    expect(failed.filter((name) => !name.startsWith("MAY"))).toEqual([]);
    // The audits that fail are about GET, which the hub does not offer.
    expect(failed.every((name) => /GET/.test(name))).toBe(true);
    expect(failed.length).toBeLessThanOrEqual(3);
  });

  it("answers the standard introspection query", async () => {
    const { json } = await hub.query(getIntrospectionQuery());
    expect(json.errors).toBeUndefined();
    expect(json.data.__schema.queryType.name).toBe("PublicQuery");
    expect(json.data.__schema.mutationType.name).toBe("PublicMutation");
  });

  it("has no subscriptions, and no queries among the mutations", async () => {
    for (const text of ["mutation { team { devices { nodes { id } } } }", "subscription { team { id } }"]) {
      const { status, json } = await hub.query(text, hub.key, {
        headers: { accept: "application/graphql-response+json" },
      });
      expect(status).toBe(400);
      expect(json.data).toBeUndefined();
    }
  });

  it("answers a variable that does not fit as a bad request in the new media type, and 200 in the old", async () => {
    const body = JSON.stringify({
      query: "query($n: Int) { team { devices(first: $n) { nodes { id } } } }",
      variables: { n: "x" },
    });
    expect(
      (await hub.query("", hub.key, { body, headers: { accept: "application/graphql-response+json" } })).status,
    ).toBe(400);
    expect((await hub.query("", hub.key, { body })).status).toBe(200);
  });

  it("asks the database for the key and for the list, and parses a known query never again", async () => {
    await hub.query(LIST);
    const { parsed } = hub.running.app.endpoint.documents;
    const queries = await hub.queriesOf(async () => {
      for (let i = 0; i < 20; i++) await hub.query(LIST);
    });
    expect(queries).toBe(40);
    expect(hub.running.app.endpoint.documents.parsed).toBe(parsed);
  });

  it("sees at once what another process added, renamed or revoked", async () => {
    const { team, key, keyId } = await hub.makeTeam("Same", ["a"]);
    const elsewhere = hub.storage.again();
    const names = async (): Promise<unknown> =>
      (await hub.query(LIST, key)).json.data?.team.devices.nodes.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(["a"]);
    const [device] = await addDevices(elsewhere, Date.now(), team.id, 5000, [{ name: "b" }]);
    expect(await names()).toEqual(["a", "b"]);
    await renameDevice(elsewhere, { now: Date.now(), actor: "test", teamId: team.id }, device!.id, "c");
    expect(await names()).toEqual(["a", "c"]);
    await revokeKey(elsewhere, { now: Date.now(), actor: "operator", teamId: team.id }, keyId);
    expect((await hub.query(LIST, key)).status).toBe(401);
  });

  it("sees a new team name at once", async () => {
    const { team, key } = await hub.makeTeam("Before", []);
    await renameTeam(hub.storage.db, { now: Date.now(), actor: "operator", teamId: team.id }, "After");
    expect((await hub.query("{ team { name } }", key)).json.data.team.name).toBe("After");
  });

  it("writes last use only when it is flushed", async () => {
    const { key, keyId } = await hub.makeTeam("Used", []);
    const when = async (): Promise<unknown> =>
      (
        await hub.storage.db.all<{ last_used_at: number | null }>("SELECT last_used_at FROM api_keys WHERE id = ?", [
          keyId,
        ])
      )[0]?.last_used_at;
    await hub.query(LIST, key);
    expect(await when()).toBeNull();
    await hub.running.app.flush();
    expect(await when()).toBeGreaterThan(Date.now() - 60_000);
  });
});
