/** API keys over HTTP, on both databases: who gets in, and whose devices they see. */
import { fc } from "boxwright-service/testing/random";
import { afterAll, beforeAll, expect, it } from "vitest";
import { mintKey } from "../../src/core/key.ts";
import { revokeKey } from "../../src/nouns/apikey.ts";
import { LIST, Person, startHub, type TestHub, onDatabases } from "../support/hub.ts";
import { BODY, JSON_TYPE, raw } from "../support/raw.ts";

const DEVICES = ["north", "south", "east"];

onDatabases("keys", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind, devices: DEVICES })));
  afterAll(() => hub.stop());

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
      (await raw(hub, { headers: ["Authorization", bearer, "Authorization", bearer, ...JSON_TYPE], body: BODY })).text,
    ).toContain("got 2 Authorization headers");
    const inUrl = await raw(hub, { path: `/graphql?access_token=${hub.key}`, headers: JSON_TYPE, body: BODY });
    expect(inUrl.status).toBe(401);
  });

  it("answers an invented, an unknown and a revoked key with the same bytes", async () => {
    const { key, keyId, team } = await hub.makeTeam("Gone", []);
    await revokeKey(hub.storage.db, { now: Date.now(), actor: "operator", teamId: team.id }, keyId);
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
    const queries = await hub.queriesOf(async () => {
      for (let at = 0; at < hub.key.length; at++) {
        const wrong = hub.key.slice(0, at) + (hub.key[at] === "Q" ? "R" : "Q") + hub.key.slice(at + 1);
        expect((await hub.query(LIST, wrong)).status).toBe(401);
      }
    });
    expect(queries).toBe(0);
    expect(await hub.queriesOf(() => hub.query(LIST))).toBe(2);
  });

  it("refuses a revoked key on the next request, over a connection that is open (2)", async () => {
    const { key, keyId, team } = await hub.makeTeam("Short", ["d"]);
    expect((await hub.query(LIST, key)).status).toBe(200);
    await revokeKey(hub.storage.again(), { now: Date.now(), actor: "operator", teamId: team.id }, keyId);
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
});
