/** Packets that the host refused for good can be read. */
import { expect, test } from "vitest";
import { recordRefused } from "../../src/store/refused.ts";
import { testHost } from "../support/host.ts";

test("refused packets are listed, the last one first, for readers alone", async () => {
  const pageToken = "page-token-0123456789";
  const host = await testHost({ agentToken: "agent-token-0123456789", pageToken, address: "127.0.0.1" });
  for (const n of [1, 2])
    await recordRefused(
      host.db,
      {
        ...{ way: "nats", place: `frames.0 ${n}`, bytes: new Uint8Array(n) },
        ...{ source: "/devices/1", id: `frame-${n}`, reason: "foreign", message: "no packet" },
      },
      Date.UTC(2026, 0, n),
    );
  expect((await fetch(`${host.url}/v1/refused`)).status).toBe(401);
  const headers = { authorization: `Bearer ${pageToken}` };
  const ask = async (query = ""): Promise<any> => (await fetch(`${host.url}/v1/refused${query}`, { headers })).json();
  const [last, first] = (await ask()).refused;
  expect(last).toEqual({
    ...{ at: "2026-01-02T00:00:00.000Z", way: "nats", place: "frames.0 2", bytes: 2 },
    ...{ source: "/devices/1", id: "frame-2", reason: "foreign", message: "no packet" },
  });
  expect(first.id).toBe("frame-1");
  expect((await ask("?limit=1")).refused).toHaveLength(1);
  await host.end();
});
