/** Requests that /graphql refuses, on both databases. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { UnavailableError } from "boxwright-service/errors";
import { LIST, Person, startHub, type TestHub, onDatabases } from "../support/hub.ts";
import { BODY, JSON_TYPE, raw } from "../support/raw.ts";

const DEVICES = ["north", "south", "east"];

onDatabases("refusals", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind, devices: DEVICES })));
  afterAll(() => hub.stop());

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

  it("names the right header to a client that sends its key in another one", async () => {
    for (const name of ["X-Api-Key", "Api-Key", "X-Auth-Token"]) {
      const { status, text } = await raw(hub, { headers: [name, hub.key, ...JSON_TYPE], body: BODY });
      expect([name, status]).toEqual([name, 401]);
      const { message } = JSON.parse(text).errors[0];
      expect(message).toBe(
        `got no credentials, expected \`Authorization: Bearer <API_KEY>\`; the hub does not read ${name.toLowerCase()}`,
      );
      expect(text).not.toContain(hub.key.slice(4));
    }
  });

  it("explains /graphql to somebody who opened it, and to no program", async () => {
    const page = await fetch(`${hub.url}/graphql`, {
      headers: { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "sec-fetch-site": "none" },
    });
    expect([page.status, page.headers.get("allow")]).toEqual([405, "POST"]);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toMatch(/This address answers programs.*API key/s);
    const program = await fetch(`${hub.url}/graphql`);
    expect(program.headers.get("content-type")).toContain("application/json");
  });

  it("says so where the Accept header allows no answer", async () => {
    for (const accept of ["text/html", "image/*", "application/xml"]) {
      const { status, json } = await hub.query(LIST, hub.key, { headers: { accept } });
      expect([accept, status, json.errors[0].extensions.code]).toEqual([accept, 406, "not_acceptable"]);
    }
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
});
