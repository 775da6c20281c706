/** /readyz and /metrics. */
import { describe, expect, it } from "vitest";
import { UnavailableError } from "boxwright-service/errors";
import { startHub } from "../support/hub.ts";

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
