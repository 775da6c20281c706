/** Limits on the requests of keys and addresses. */
import { describe, expect, it } from "vitest";
import { mintKey } from "../../src/core/key.ts";
import { LIST, startHub } from "../support/hub.ts";

const BODY = JSON.stringify({ query: LIST });

describe("limits of requests (12)", () => {
  it("are per key, with Retry-After, and other keys go on", async () => {
    const hub = await startHub({ isClockStopped: true, env: { HUB_KEY_RATE: "1", HUB_KEY_BURST: "5" } });
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
    const hub = await startHub({ isClockStopped: true, env: { HUB_KEY_RATE: "0.1", HUB_KEY_BURST: "20" } });
    let answered = 0;
    while ((await hub.query(`{ nothing${answered} }`)).status === 200) answered++;
    expect(answered).toBe(4);
    await hub.stop();
  });

  it("make new queries dearer the more they ask, and known ones not", async () => {
    const hub = await startHub({ isClockStopped: true, env: { HUB_KEY_RATE: "0.1", HUB_KEY_BURST: "20" } });
    const wide = (i: number): string => `{ team { ${"id ".repeat(99)} } } # ${i}`;
    expect((await hub.query(wide(0))).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await hub.query(wide(0))).status).toBe(200);
    // 1 + 10 for the first, 5 for the repetitions: 4 are left.
    expect((await hub.query(wide(1))).status).toBe(200);
    expect((await hub.query(wide(0))).status).toBe(429);
    await hub.stop();
  });

  it("make long answers dearer, those that come to nothing too", async () => {
    const hub = await startHub({ isClockStopped: true, env: { HUB_KEY_RATE: "0.1", HUB_KEY_BURST: "20" } });
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
    expect((await hub.query(tooLong, key)).json.errors[0].extensions.code).toBe("answer_too_large");
    const refused = await hub.query("{ team { id } }", key);
    expect(refused.status).toBe(429);
    expect(refused.json.errors[0].message).toContain("a long answer counts as several requests");
    await hub.stop();
  });

  it("are per address, failed keys cost more, and the address is what the declared proxy says", async () => {
    const hub = await startHub({
      isClockStopped: true,
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
    // A client can write entries further left. They do not count.
    expect(await send("203.0.113.9, 198.51.100.1")).toBe(429);
    expect(await send("198.51.100.1, 203.0.113.9")).toBe(401);
    expect(await send("198.51.100.2", hub.key)).toBe(200);
    // Credentials of devices cost as much: somebody may guess them too.
    const credentials = [];
    for (let i = 0; i < 5; i++) credentials.push(await send("198.51.100.3", mintKey("bwd").key));
    expect(credentials).toEqual([403, 403, 403, 429, 429]);
    await hub.stop();
  });

  it("ignore X-Forwarded-For where no proxy is declared", async () => {
    const hub = await startHub({ isClockStopped: true, env: { HUB_ADDRESS_RATE: "0.1", HUB_ADDRESS_BURST: "3" } });
    const statuses = [];
    for (let i = 0; i < 4; i++)
      statuses.push((await hub.query(LIST, hub.key, { headers: { "x-forwarded-for": `198.51.100.${i}` } })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(hub.running.app.addresses.size).toBe(1);
    await hub.stop();
  });
});
