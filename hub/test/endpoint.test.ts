/** POST /graphql over real HTTP, on both databases. Numbers in brackets: the checks of the threat model. */
import { request as rawRequest } from "node:http";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { getIntrospectionQuery } from "graphql";
import { auditServer } from "graphql-http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UnavailableError } from "../src/core/errors.ts";
import { mintKey } from "../src/core/key.ts";
import { revokeKey } from "../src/nouns/apikey.ts";
import { addDevices, renameDevice } from "../src/nouns/device.ts";
import { renameTeam } from "../src/nouns/team.ts";
import { kinds, LIST, openTestDatabase, Person, startHub, type TestHub } from "./support/hub.ts";

const DEVICES = ["north", "south", "east"];

/** Headers as they are, twice the same among them, which fetch does not allow. */
function raw(
  hub: TestHub,
  options: { method?: string; path?: string; headers: string[]; body?: string },
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const request = rawRequest(
      `${hub.url}${options.path ?? "/graphql"}`,
      { method: options.method ?? "POST", headers: ["Host", new URL(hub.url).host, ...options.headers] as never },
      (response) => {
        let text = "";
        response
          .setEncoding("utf8")
          .on("data", (chunk: string) => (text += chunk))
          .on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

const JSON_TYPE = ["Content-Type", "application/json"];
const BODY = JSON.stringify({ query: LIST });

for (const { kind, skip } of kinds) {
  describe.skipIf(skip)(`endpoint on ${kind}`, () => {
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
        extensions: { code: "BAD_USER_INPUT" },
      });
      expect((await page('after: "?"')).json.errors[0].message).toMatch(/after: got "\?", expected an endCursor/);
      for (const forged of ["\0", "a\0b", "' OR 1=1", "\u{1f980}", "x".repeat(65)]) {
        const { status, json } = await page(`after: "${Buffer.from(forged).toString("base64url")}"`);
        expect([forged, status, json.errors[0].extensions.code]).toEqual([forged, 200, "BAD_USER_INPUT"]);
      }
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

    it("tells a client at another address where it should ask, in JSON", async () => {
      for (const path of ["/graphql/", "/GraphQL", "/api/graphql", "/graphql/graphql", "/"]) {
        const { status, text } = await raw(hub, {
          path,
          headers: ["Authorization", `Bearer ${hub.key}`, ...JSON_TYPE],
          body: BODY,
        });
        expect([path, status]).toEqual([path, 404]);
        expect(JSON.parse(text).errors).toEqual([
          { message: "got a path that the hub does not serve, expected /graphql", extensions: { code: "not_found" } },
        ]);
      }
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

    it("says so where the Accept header allows no answer", async () => {
      for (const accept of ["text/html", "image/*", "application/xml"]) {
        const { status, json } = await hub.query(LIST, hub.key, { headers: { accept } });
        expect([accept, status, json.errors[0].extensions.code]).toEqual([accept, 406, "not_acceptable"]);
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
      // Those left are about GET, which the hub does not offer.
      expect(failed.every((name) => /GET/.test(name))).toBe(true);
      expect(failed.length).toBeLessThanOrEqual(3);
    });

    it("answers the standard introspection query", async () => {
      const { json } = await hub.query(getIntrospectionQuery());
      expect(json.errors).toBeUndefined();
      expect(json.data.__schema.queryType.name).toBe("Query");
      expect(json.data.__schema.mutationType).toBeNull();
    });

    it("has no mutations and no subscriptions", async () => {
      for (const text of ["mutation { team { id } }", "subscription { team { id } }"]) {
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

    it("judges the Authorization header as the table says (5)", async () => {
      const bearer = `Bearer ${hub.key}`;
      const cases: [string, string[], number, string | undefined][] = [
        ["missing", [], 401, 'Bearer realm="hub"'],
        ["empty", ["Authorization", ""], 400, 'Bearer realm="hub", error="invalid_request"'],
        ["basic", ["Authorization", "Basic dTpw"], 400, 'Bearer realm="hub", error="invalid_request"'],
        ["two tokens", ["Authorization", `${bearer} ${hub.key}`], 400, 'Bearer realm="hub", error="invalid_request"'],
        [
          "two headers",
          ["Authorization", bearer, "Authorization", bearer],
          400,
          'Bearer realm="hub", error="invalid_request"',
        ],
        [
          "two headers, the first wrong",
          ["Authorization", "Bearer x", "Authorization", bearer],
          400,
          'Bearer realm="hub", error="invalid_request"',
        ],
        ["no key of ours", ["Authorization", "Bearer sk_live_1"], 401, 'Bearer realm="hub", error="invalid_token"'],
        ["lower case", ["authorization", `bearer ${hub.key}`], 200, undefined],
        ["as documented", ["Authorization", bearer], 200, undefined],
      ];
      for (const [name, headers, status, challenge] of cases) {
        const answer = await raw(hub, { headers: [...headers, ...JSON_TYPE], body: BODY });
        expect([name, answer.status, answer.headers["www-authenticate"]]).toEqual([name, status, challenge]);
        if (status === 200) continue;
        const { message } = JSON.parse(answer.text).errors[0] as { message: string };
        expect(message).toMatch(/got .* expected |expected .* got /);
        expect(message).not.toContain(hub.key.slice(17));
      }
      for (const [sent, why] of [
        ["Bearer ", /without a token \(is the variable set/],
        ["Bearer $HUB_API_KEY", /characters that no key has/],
        [hub.key, /another scheme than Bearer/],
      ] as const) {
        const { text } = await raw(hub, { headers: ["Authorization", sent, ...JSON_TYPE], body: BODY });
        expect(text).toMatch(why);
      }
      expect(
        (await raw(hub, { headers: ["Authorization", bearer, "Authorization", bearer, ...JSON_TYPE], body: BODY }))
          .text,
      ).toContain("got 2 Authorization headers");
      const inUrl = await raw(hub, { path: `/graphql?access_token=${hub.key}`, headers: JSON_TYPE, body: BODY });
      expect(inUrl.status).toBe(401);
    });

    it("answers an invented, an unknown and a revoked key with the same bytes", async () => {
      const { key, keyId, team } = await hub.makeTeam("Gone", []);
      await revokeKey(hub.storage.db, Date.now(), "operator", team.id, keyId);
      const answers = await Promise.all(
        ["hub_bad", mintKey().key, key, key.slice(0, 20) + "A" + key.slice(21)].map((token) => hub.query(LIST, token)),
      );
      for (const answer of answers) {
        expect(answer.status).toBe(401);
        expect(answer.text).toBe(answers[0]!.text);
        expect(answer.headers.get("www-authenticate")).toBe(answers[0]!.headers.get("www-authenticate"));
      }
    });

    it("refuses a key with any one character changed, without asking the database (4)", async () => {
      const before = hub.db.queries;
      for (let at = 0; at < hub.key.length; at++) {
        const wrong = hub.key.slice(0, at) + (hub.key[at] === "Q" ? "R" : "Q") + hub.key.slice(at + 1);
        expect((await hub.query(LIST, wrong)).status).toBe(401);
      }
      expect(hub.db.queries).toBe(before);
      expect((await hub.query(LIST)).status).toBe(200);
      expect(hub.db.queries).toBeGreaterThan(before);
    });

    it("refuses a revoked key on the next request, over a connection that is open (2)", async () => {
      const { key, keyId, team } = await hub.makeTeam("Short", ["d"]);
      expect((await hub.query(LIST, key)).status).toBe(200);
      await revokeKey(hub.storage.again(), Date.now(), "operator", team.id, keyId);
      expect((await hub.query(LIST, key)).status).toBe(401);
    });

    it("never shows one team to another's key, whatever is asked (1)", async () => {
      const secrets = ["alpha-secret", "beta-secret", "gamma-secret"];
      const teams = await Promise.all(
        secrets.map((secret) => hub.makeTeam(`Team ${secret}`, [`${secret}-1`, `${secret}-2`])),
      );
      const cursors = await Promise.all(
        teams.map(
          async ({ key }) =>
            (await hub.query("{ team { devices(first: 1) { nodes { id } pageInfo { endCursor } } } }", key)).json.data
              .team.devices as {
              nodes: { id: string }[];
              pageInfo: { endCursor: string };
            },
        ),
      );
      const args = fc.oneof(
        fc.constant(""),
        fc.integer({ min: 1, max: 5 }).map((n) => `(first: ${n})`),
        fc.nat(2).map((i) => `(after: "${cursors[i]!.pageInfo.endCursor}")`),
        fc.nat(2).map((i) => `(first: 2, after: "${cursors[i]!.pageInfo.endCursor}")`),
      );
      const fields = fc.subarray(["id", "name", "other: name", "...N", "... on Device { id }", "__typename"], {
        minLength: 1,
      });
      const selection = fc
        .tuple(args, fields)
        .map(([a, f]) => `devices${a} { nodes { ${f.join(" ")} } pageInfo { endCursor } }`);
      const document = fc
        .array(selection, { minLength: 1, maxLength: 3 })
        .map(
          (list) =>
            `{ team { name ...T ${list.map((text, i) => `a${i}: ${text}`).join(" ")} } t2: team { ...T } } fragment N on Device { n2: name } fragment T on Team { devices { nodes { ...N } } }`,
        );
      let answered = 0;
      await fc.assert(
        fc.asyncProperty(fc.nat(2), document, async (who, text) => {
          const { status, text: answer } = await hub.query(text, teams[who]!.key);
          expect(status).toBe(200);
          if (answer.includes('"data"')) answered++;
          secrets.forEach((secret, i) => {
            if (i === who) return;
            expect(answer).not.toContain(secret);
            for (const node of cursors[i]!.nodes) expect(answer).not.toContain(node.id);
          });
        }),
        { numRuns: 150 },
      );
      expect(answered).toBeGreaterThan(50);
    });

    it("wants POST, JSON and no compression", async () => {
      for (const method of ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"]) {
        const answer = await fetch(`${hub.url}/graphql?query={team{id}}`, {
          method,
          headers: { authorization: `Bearer ${hub.key}` },
        });
        expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, "POST"]);
      }
      for (const type of [
        "text/plain",
        "application/graphql",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json; charset=utf-16",
      ]) {
        const { status, json } = await hub.query("", hub.key, { body: BODY, headers: { "content-type": type } });
        expect([type, status]).toEqual([type, 415]);
        expect(json.errors[0].message).toContain(`got ${JSON.stringify(type)}`);
      }
      for (const type of [
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        'application/json; charset="utf-8"',
      ]) {
        expect((await hub.query("", hub.key, { body: BODY, headers: { "content-type": type } })).status).toBe(200);
      }
      for (const encoding of ["gzip", "br", "deflate", "zstd"]) {
        expect(
          (await hub.query("", hub.key, { body: gzipSync(BODY), headers: { "content-encoding": encoding } })).status,
        ).toBe(415);
      }
    });

    it("refuses bodies that are no JSON object in UTF-8", async () => {
      for (const body of [
        "",
        "{",
        "null",
        "[]",
        "1",
        '"x"',
        JSON.stringify([{ query: LIST }, { query: LIST }]),
        "{}",
        '{"query":1}',
        '{"query":"{team{id}}","variables":[]}',
        '{"query":"{team{id}}","extensions":1}',
        '{"query":"{team{id}}","operationName":1}',
      ]) {
        const { status, text, json } = await hub.query("", hub.key, { body });
        expect([body, status, json.errors[0].extensions]).toEqual([body, 400, { code: "invalid_body" }]);
        expect(json.errors[0].message).toMatch(/got .*, expected /);
        expect(text).not.toMatch(/at .*\.js/);
      }
      const notUtf8 = Buffer.from(BODY.replace("team", "te\u00e4m"), "latin1");
      expect((await hub.query("", hub.key, { body: notUtf8 })).json.errors[0].extensions.code).toBe("invalid_encoding");
      expect((await hub.query("{ team { id } } # \ufffd")).status).toBe(200);
    });

    it("refuses a browser, and lets Node's own fetch pass", async () => {
      for (const headers of [
        { origin: "https://evil.example" },
        { origin: hub.url },
        { origin: "null" },
        { "sec-fetch-site": "same-origin" },
      ]) {
        const { status, json } = await hub.query(LIST, hub.key, { headers: headers as Record<string, string> });
        expect(status).toBe(403);
        expect(json.errors[0].extensions.code).toBe("browser_request");
      }
    });

    it("sends no Access-Control header, whatever is asked (6)", async () => {
      for (const [method, path] of [
        ["OPTIONS", "/graphql"],
        ["POST", "/graphql"],
        ["GET", "/sign-in"],
        ["OPTIONS", "/sign-in"],
        ["GET", "/app.js"],
        ["GET", "/healthz"],
        ["GET", "/readyz"],
        ["GET", "/metrics"],
        ["GET", "/nothing"],
      ] as const) {
        const answer = await fetch(hub.url + path, {
          method,
          redirect: "manual",
          headers: {
            origin: "https://evil.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization",
          },
        });
        expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    });

    it("takes no session cookie for a key, and no key for a session (7)", async () => {
      const person = new Person(hub.url);
      expect(await person.signIn(hub.admin.email)).toBe(303);
      const withCookie = await raw(hub, { headers: ["Cookie", person.cookie!, ...JSON_TYPE], body: BODY });
      expect(withCookie.status).toBe(401);
      const withBoth = await raw(hub, {
        headers: ["Cookie", person.cookie!, "Authorization", `Bearer ${mintKey().key}`, ...JSON_TYPE],
        body: BODY,
      });
      expect(withBoth.status).toBe(401);
      for (const path of ["/", `/teams/${hub.team.id}/devices`, `/teams/${hub.team.id}/settings`]) {
        const page = await fetch(hub.url + path, {
          redirect: "manual",
          headers: { authorization: `Bearer ${hub.key}`, cookie: `__Host-hub_session=${hub.key}` },
        });
        expect(page.headers.get("location")).toBe("/sign-in");
      }
    });

    it("shows an error of its own as a request id and nothing else (11)", async () => {
      const cause = new Error('column "secret_column" of relation "devices" does not exist at /srv/hub/store.js');
      hub.db.failure = cause;
      hub.db.failing = /FROM devices/;
      try {
        const inResolver = await hub.query(LIST);
        expect(inResolver.status).toBe(500);
        expect(inResolver.json.errors[0].extensions).toEqual({
          code: "internal",
          requestId: inResolver.headers.get("x-request-id"),
        });
        expect(inResolver.text).not.toMatch(/secret_column|devices" does|store\.js|stack/);
        hub.db.failing = /FROM api_keys/;
        const inCheck = await hub.query(LIST);
        expect(inCheck.status).toBe(500);
        expect(inCheck.text).not.toMatch(/secret_column|store\.js|stack/);
        const person = new Person(hub.url);
        hub.db.failing = /FROM users/;
        const page = await person.post("/sign-in", { email: "a@example.org", password: "x" });
        expect(page.status).toBe(500);
        expect(page.html).toContain(page.headers.get("x-request-id")!);
        expect(page.html).not.toMatch(/secret_column|store\.js/);
        expect(hub.logs()).toContain(inResolver.headers.get("x-request-id")!);
        expect(hub.logs()).toContain("secret_column");
        hub.db.failure = new UnavailableError("away");
        hub.db.failing = /./;
        const away = await hub.query(LIST);
        expect([away.status, away.headers.get("retry-after"), away.json.errors[0].extensions.code]).toEqual([
          503,
          "1",
          "unavailable",
        ]);
        hub.db.failing = /FROM devices/;
        const awayInside = await hub.query(LIST);
        expect([awayInside.status, awayInside.headers.get("retry-after")]).toEqual([503, "1"]);
      } finally {
        hub.db.failure = undefined;
      }
      expect((await hub.query(LIST)).status).toBe(200);
    });

    it("asks the database for the key and for the list, and parses a known query never again", async () => {
      await hub.query(LIST);
      const [queries, parsed] = [hub.db.queries, hub.running.app.endpoint.documents.parsed];
      for (let i = 0; i < 20; i++) await hub.query(LIST);
      expect(hub.db.queries - queries).toBe(40);
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
      await renameDevice(elsewhere, team.id, device!.id, "c");
      expect(await names()).toEqual(["a", "c"]);
      await revokeKey(elsewhere, Date.now(), "operator", team.id, keyId);
      expect((await hub.query(LIST, key)).status).toBe(401);
    });

    it("sees a new team name at once", async () => {
      const { team, key } = await hub.makeTeam("Before", []);
      await renameTeam(hub.storage.db, Date.now(), "operator", undefined, team.id, "After");
      expect((await hub.query("{ team { name } }", key)).json.data.team.name).toBe("After");
    });

    it("counts in /metrics, and writes no key into the log (3)", async () => {
      await hub.query(LIST);
      const metrics = await (await fetch(`${hub.url}/metrics`)).text();
      expect(metrics).toMatch(/hub_requests_total\{route="\/graphql",status="200"\} \d+/);
      expect(metrics).toMatch(/hub_key_checks_total\{result="ok"\} \d+/);
      await raw(hub, { path: `/graphql?access_token=${hub.key}`, headers: JSON_TYPE, body: BODY });
      await fetch(`${hub.url}/${hub.key}`, { redirect: "manual" });
      await raw(hub, {
        headers: ["Authorization", `Bearer ${hub.key}`, "X-Copy", hub.key, ...JSON_TYPE],
        body: JSON.stringify({ query: `{ team { ${hub.key} } }` }),
      });
      expect(hub.logs()).toContain(hub.keyId);
      expect(hub.logs()).not.toContain(hub.key.slice(17));
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
}

describe("limits of requests (12)", () => {
  it("are per key, with Retry-After, and other keys go on", async () => {
    const hub = await startHub({ env: { HUB_KEY_RATE: "1", HUB_KEY_BURST: "5" } });
    const other = await hub.makeTeam("Other", []);
    const statuses: number[] = [];
    let last = await hub.query(LIST);
    statuses.push(last.status);
    for (let i = 0; i < 7; i++) statuses.push((last = await hub.query(LIST)).status);
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    expect(statuses.at(-1)).toBe(429);
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(last.json.errors[0].extensions.code).toBe("too_many_requests");
    expect((await hub.query(LIST, other.key)).status).toBe(200);
    hub.clock.offset += 5000;
    expect((await hub.query(LIST)).status).toBe(200);
    await hub.stop();
  });

  it("make refused queries dearer than good ones", async () => {
    const hub = await startHub({ env: { HUB_KEY_RATE: "0.1", HUB_KEY_BURST: "20" } });
    let answered = 0;
    while ((await hub.query(`{ nothing${answered} }`)).status === 200) answered++;
    expect(answered).toBe(4);
    await hub.stop();
  });

  it("make new queries dearer the more they ask, and known ones not", async () => {
    const hub = await startHub({ env: { HUB_KEY_RATE: "0.1", HUB_KEY_BURST: "20" } });
    const wide = (i: number): string => `{ team { ${"id ".repeat(99)} } } # ${i}`;
    expect((await hub.query(wide(0))).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await hub.query(wide(0))).status).toBe(200);
    // 1 + 10 for the first, 5 for the repetitions: 4 are left.
    expect((await hub.query(wide(1))).status).toBe(200);
    expect((await hub.query(wide(0))).status).toBe(429);
    await hub.stop();
  });

  it("make long answers dearer, those that come to nothing too", async () => {
    const hub = await startHub({ env: { HUB_KEY_RATE: "0.1", HUB_KEY_BURST: "20" } });
    const names = Array.from({ length: 2000 }, (_, i) => `device ${i}`);
    const { key } = await hub.makeTeam("Long", names);
    // 2000 devices and 4 fields: 8 requests more. Twice that leaves 2 of 20.
    const statuses = [];
    for (const query of [
      ...new Array<string>(2).fill("{ team { devices { nodes { id } } } }"),
      ...new Array<string>(3).fill("{ team { id } }"),
    ])
      statuses.push((await hub.query(query, key)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    hub.clock.offset += 3600_000;
    const tooLong = `{ team { ${Array.from({ length: 20 }, (_, i) => `a${i}: devices { nodes { id name } }`).join(" ")} } }`;
    expect((await hub.query(tooLong, key)).json.errors[0].extensions.code).toBe("ANSWER_TOO_LARGE");
    expect((await hub.query("{ team { id } }", key)).status).toBe(429);
    await hub.stop();
  });

  it("are per address, failed keys cost more, and the address is what the declared proxy says", async () => {
    const hub = await startHub({
      env: {
        HUB_ADDRESS_RATE: "0.1",
        HUB_ADDRESS_BURST: "12",
        HUB_PROXY_HOPS: "1",
        HUB_BASE_URL: "https://hub.example.org",
      },
    });
    const url = `http://127.0.0.1:${hub.running.port}/graphql`;
    const send = async (forwarded: string, key = mintKey().key) =>
      (
        await fetch(url, {
          method: "POST",
          body: BODY,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-forwarded-for": forwarded },
        })
      ).status;
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push(await send("198.51.100.1"));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    // What a client writes itself stands further left and does not count.
    expect(await send("203.0.113.9, 198.51.100.1")).toBe(429);
    expect(await send("198.51.100.1, 203.0.113.9")).toBe(401);
    expect(await send("198.51.100.2", hub.key)).toBe(200);
    await hub.stop();
  });

  it("ignore X-Forwarded-For where no proxy is declared", async () => {
    const hub = await startHub({ env: { HUB_ADDRESS_RATE: "0.1", HUB_ADDRESS_BURST: "3" } });
    const statuses = [];
    for (let i = 0; i < 4; i++)
      statuses.push((await hub.query(LIST, hub.key, { headers: { "x-forwarded-for": `198.51.100.${i}` } })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(hub.running.app.addresses.size).toBe(1);
    await hub.stop();
  });
});

describe("readiness", () => {
  it("is asked anew after a second, and also when the clock goes back", async () => {
    const hub = await startHub();
    const ready = async () => (await fetch(`${hub.url}/readyz`)).status;
    expect(await ready()).toBe(200);
    hub.db.failure = new UnavailableError("away");
    hub.clock.offset = -3600_000;
    expect(await ready()).toBe(503);
    hub.db.failure = undefined;
    hub.clock.offset += 1000;
    expect(await ready()).toBe(200);
    await hub.stop();
  });
});

describe("metrics", () => {
  it("want the token where one is set, and do not exist for those without", async () => {
    const hub = await startHub({ env: { HUB_METRICS_TOKEN: "a-token-of-20-letters" } });
    expect((await fetch(`${hub.url}/metrics`)).status).toBe(404);
    expect(
      (await fetch(`${hub.url}/metrics`, { headers: { authorization: "Bearer a-token-of-20-letterz" } })).status,
    ).toBe(404);
    expect(
      (await fetch(`${hub.url}/metrics`, { headers: { authorization: "Bearer a-token-of-20-letters" } })).status,
    ).toBe(200);
    await hub.stop();
    const behind = await startHub({ env: { HUB_PROXY_HOPS: "1", HUB_BASE_URL: "https://hub.example.org" } });
    expect((await fetch(`http://127.0.0.1:${behind.running.port}/metrics`)).status).toBe(404);
    await behind.stop();
  });
});

describe("several hubs on one SQLite file (18)", () => {
  it("are safe: what one writes the other sees at once, and no write is lost", async () => {
    const one = await startHub();
    const two = await startHub({
      storage: { ...(await openTestDatabase("sqlite")), db: one.storage.again(), remove: () => Promise.resolve() },
    });
    expect((await two.query(LIST, one.key)).json.data.team.devices.nodes).toHaveLength(2);
    const people = [new Person(one.url), new Person(two.url)];
    for (const person of people) expect(await person.signIn(one.admin.email)).toBe(303);
    const path = `/teams/${one.team.id}/devices`;
    const forms = await Promise.all(people.map((person) => person.formOf(path, path)));
    const statuses = await Promise.all(
      Array.from(
        { length: 40 },
        async (_, i) => (await people[i % 2]!.post(path, { ...forms[i % 2]!, name: `new ${i}` })).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([303]));
    for (const hub of [one, two])
      expect((await hub.query(LIST, one.key)).json.data.team.devices.nodes).toHaveLength(42);
    await revokeKey(one.storage.db, Date.now(), "operator", one.team.id, one.keyId);
    expect((await two.query(LIST, one.key)).status).toBe(401);
    await two.running.stop();
    await one.stop();
  });
});
