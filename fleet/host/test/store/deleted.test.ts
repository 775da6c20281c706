import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { detectionPacket } from "../support/frames.ts";
import { temporaryFolder, testHost } from "../support/host.ts";

test("a packet is not acknowledged into a database file that was deleted, and health says so", async () => {
  const folder = temporaryFolder();
  const host = await testHost({ database: join(folder.path, "h.db") });
  expect((await host.post(detectionPacket(0))).status).toBe(204);
  for (const name of readdirSync(folder.path)) rmSync(join(folder.path, name));
  const refusal = await host.post(detectionPacket(1));
  expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await refusal.text()).toContain("deleted or replaced under the running host; restart the host");
  const health = await fetch(`${host.url}/healthz`);
  expect([health.status, await health.text()]).toEqual([503, expect.stringContaining("was deleted or replaced")]);
  expect(host.logs()).toContain("was deleted or replaced");
  await host.end();
});
