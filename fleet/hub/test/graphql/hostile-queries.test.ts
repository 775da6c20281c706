/**
 * Hostile queries, with a good client beside them. Tests assert the bound behind each refusal (documents validated,
 * queries sent) and not its time.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/core/config.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { LIST, startHub, type TestHub } from "../support/hub.ts";
import { beside } from "../support/beside.ts";

let hub: TestHub;
beforeAll(async () => void (hub = await startHub()));
afterAll(() => hub.stop());

describe("queries (9)", () => {
  const deep = (n: number): string => "{ team ".repeat(n) + "{ id }" + " }".repeat(n);
  const typeChain = (n: number): string =>
    `{ __schema { types { ${"fields { type { ".repeat(n)} name ${"} }".repeat(n)} } } }`;

  const attacks: [string, string, RegExp][] = [
    [
      "21 aliases",
      `{ ${Array.from({ length: 21 }, (_, i) => `a${i}: team { id }`).join(" ")} }`,
      /aliases: got 21, expected at most 20/,
    ],
    [
      "10,000 aliases",
      `{ ${Array.from({ length: 10_000 }, (_, i) => `a${i}:team{id}`).join(" ")} }`.slice(0, 64_000),
      /1000 tokens/,
    ],
    [
      "300 fields twice by fragment",
      `{ team { ...F ...F } } fragment F on Team { ${"id ".repeat(300)} }`,
      /fields: got 601, expected at most 500/,
    ],
    ["depth 16", `{ ${"a { ".repeat(15)} a ${"}".repeat(15)} }`, /depth: got 16, expected at most 15/],
    ["depth 200", deep(200), /depth: got 201/],
    ["2,000 open braces", "{a".repeat(2000), /1000 tokens/],
    ["introspection in circles", typeChain(5), /Maximum introspection depth exceeded/],
    [
      "100 directives",
      `{ team { id ${"@include(if: true) ".repeat(100)} } }`,
      /directives: got 100, expected at most 20/,
    ],
    ["unknown directives", `{ team { id ${"@x ".repeat(400)} } }`, /directives: got 400/],
    [
      "a fragment of itself",
      "{ team { ...A } } fragment A on Team { ...B } fragment B on Team { ...A }",
      /spreads itself/,
    ],
    [
      "fragments that double",
      `{ team { ...F0 } } ${Array.from({ length: 40 }, (_, i) => `fragment F${i} on Team { ${i === 39 ? "id" : `...F${i + 1} ...F${i + 1}`} }`).join(" ")}`,
      /fields: got/,
    ],
    [
      "600 fields in fragments that nobody spreads",
      `{ team { id } } ${`fragment U on Team { ${"id ".repeat(300)} } `.repeat(2)}`,
      /fields: got 602, expected at most 500/,
    ],
    ["many operations", Array.from({ length: 150 }, (_, i) => `query Q${i} { team { id } }`).join(" "), /tokens/],
    ["overlapping fields", `{ team { ${"devices { nodes { id name } } ".repeat(140)} } }`, /1000 tokens/],
    ["a long name", `{ ${"x".repeat(60_000)} }`, /Cannot query field/],
    [
      "many variables",
      `query(${Array.from({ length: 240 }, (_, i) => `$v${i}: Int`).join(",")}) { team { id } }`,
      /is never used/,
    ],
    ["long strings", `{ team { devices(after: "${"a".repeat(60_000)}") { nodes { id } } } }`, /after: got/],
  ];

  it.each(attacks)("%s", async (_name, query, expected) => {
    const { documents } = hub.running.app.endpoint;
    const validated = documents.validated;
    const attack = await hub.makeTeam("Attack", []);
    const { status, json, text } = await hub.query(query, attack.key);
    const { queries } = hub.requests.at(-1)!;
    expect(status).toBe(200);
    expect(text).toMatch(expected);
    expect(text.length).toBeLessThan(200_000);
    expect(json.data ?? null).toBeNull();
    // At most two queries: the key, and one list if the query is well-formed. At least one, or nothing was counted.
    expect([1, 2]).toContain(queries);
    expect(documents.validated - validated).toBeLessThanOrEqual(1);
  });

  it("leave a good client answered while they all run at once", async () => {
    const { documents } = hub.running.app.endpoint;
    await beside(hub, () => {
      const all = [0, 1, 2].flatMap((round) => attacks.map(([, query]) => `${query} # ${round}`));
      return Promise.all(all.map((query) => hub.query(query)));
    });
    expect(documents.size).toBeLessThanOrEqual(500);
    expect(documents.characters).toBeLessThanOrEqual(2 ** 21);
  });

  it("stop parsing at 1000 tokens, and validate nothing of it", async () => {
    const { documents } = hub.running.app.endpoint;
    const { parsed, validated } = documents;
    const { json } = await hub.query("{ team { id } } ".repeat(300));
    expect(json.errors[0].message).toMatch(/1000 tokens\. Parsing aborted/);
    expect([documents.parsed - parsed, documents.validated - validated]).toEqual([1, 0]);
  });

  it("validate no fragment beyond the limit of fields, spread or not", async () => {
    const { documents } = hub.running.app.endpoint;
    const before = documents.validated;
    const { text } = await hub.query(`{ team { id } } fragment U on Team { ${"id ".repeat(499)} }`);
    expect(text).toMatch(/fields: got 501, expected at most 500/);
    expect(documents.validated).toBe(before);
  });

  it("parse a refused query once, however often it comes", async () => {
    const { documents } = hub.running.app.endpoint;
    const query = "{ nothing_like_it }";
    await hub.query(query);
    const before = documents.parsed;
    for (let i = 0; i < 30; i++) await hub.query(query);
    expect(documents.parsed).toBe(before);
  });

  it("hold a bounded number of documents, the ones in use among them", () => {
    const { documents } = hub.running.app.endpoint;
    for (let i = 0; i < 1200; i++) {
      documents.get(`{ team { id } } # ${i}`);
      documents.get(LIST);
    }
    const before = documents.parsed;
    documents.get(LIST);
    expect(documents.parsed).toBe(before);
    expect(documents.size).toBeLessThanOrEqual(500);
    for (let i = 0; i < 100; i++) documents.get(`{ team { id } } #${i} ${"x".repeat(60_000)}`);
    expect(documents.characters).toBeLessThanOrEqual(2 ** 21);
  });

  it("multiply no long list: the same list is read once, and an answer has a largest size", async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `device ${i}`);
    const { key } = await hub.makeTeam("Long", names);
    await beside(hub, async () => {
      expect((await hub.query(LIST, key)).json.data.team.devices.nodes).toHaveLength(5000);
      const apollo =
        "{ team { __typename devices { __typename nodes { __typename id name } pageInfo { __typename hasNextPage endCursor } } } }";
      expect((await hub.query(apollo, key)).json.errors).toBeUndefined();
    });
    const { json, text } = await hub.query(
      `{ team { ${Array.from({ length: 20 }, (_, i) => `a${i}: devices { nodes { id } }`).join(" ")} } }`,
      key,
    );
    expect(json.errors[0].message).toMatch(/Answer too large: got \d+ values .*, expected at most 100000/);
    expect(json.errors[0].extensions.code).toBe("answer_too_large");
    expect(text.length).toBeLessThan(20_000);
    expect(hub.requests.at(-1)).toEqual({ queries: 2 });
    // Twenty pages of which no two are alike: the first is too large already, and no other is read.
    const pages = Array.from({ length: 20 }, (_, i) => `a${i}: devices(first: ${4980 + i}) { nodes { id } }`).join(" ");
    expect((await hub.query(`{ team { ${pages} } }`, key)).json.errors[0].extensions.code).toBe("answer_too_large");
    expect(hub.requests.at(-1)).toEqual({ queries: 2 });
    // A small page between them is read once. The first page that is too large is still the last one read.
    const mixed = Array.from(
      { length: 20 },
      (_, i) => `a${i}: devices(first: ${i % 2 === 0 ? 1 : 4980 + i}) { nodes { id } }`,
    ).join(" ");
    expect((await hub.query(`{ team { ${mixed} } }`, key)).json.errors[0].extensions.code).toBe("answer_too_large");
    expect(hub.requests.at(-1)).toEqual({ queries: 3 });
  });

  it("leave room for the documented query, for as many devices as a team may ever have", async () => {
    // The largest number that the configuration accepts.
    const max = 20_000;
    expect(() => readConfig({ HUB_MAX_DEVICES: String(max + 1) })).toThrow("expected a whole number from 1 to 20000");
    expect(readConfig({ HUB_MAX_DEVICES: String(max) }).maxDevices).toBe(max);
    const { team, key } = await hub.makeTeam("Largest", []);
    const add = (count: number) =>
      addDevices(
        hub.storage.db,
        Date.now(),
        team.id,
        100_000,
        Array.from({ length: count }, () => ({ name: "d" })),
      );
    await add(max);
    expect((await hub.query(LIST, key)).json.data.team.devices.nodes).toHaveLength(max);
    await add(1);
    expect((await hub.query(LIST, key)).json.errors[0].extensions.code).toBe("answer_too_large");
  });

  it("are taken one at a time", async () => {
    const { parsed } = hub.running.app.endpoint.documents;
    expect(
      (
        await hub.query("", hub.key, {
          body: JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ query: `{ team { id } } # b${i}` }))),
        })
      ).status,
    ).toBe(400);
    expect(hub.running.app.endpoint.documents.parsed).toBe(parsed);
  });
});
