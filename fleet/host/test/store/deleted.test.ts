import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { detectionPacket } from "../support/frames.ts";
import { temporaryFolder, testHost } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";
import { Child } from "boxwright-service/testing/child";

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

test("a log that is deleted under load loses no acknowledged frame, and nothing more is acknowledged", async () => {
  const folder = temporaryFolder();
  const database = join(folder.path, "h.db");
  const host = await HostProcess.start({ database });
  const post = async (n: number): Promise<number> => {
    const body = detectionPacket(n) as Uint8Array<ArrayBuffer>;
    return (await fetch(`${host.url}/v1/packets`, { method: "POST", body })).status;
  };
  let acknowledged = 0;
  for (; acknowledged < 50; acknowledged++) expect(await post(acknowledged)).toBe(204);
  rmSync(`${database}-wal`);
  const after = await Promise.all(Array.from({ length: 40 }, (_, n) => post(100 + n)));
  acknowledged += after.filter((status) => status === 204).length;
  expect(new Set(after)).toEqual(new Set([503]));
  await host.says(/h\.db-wal/);
  await host.end("SIGKILL");
  const again = await HostProcess.start({ database });
  const text = await (await fetch(`${again.url}/v1/detections?limit=10000`)).text();
  expect(text.split("\n").filter(Boolean)).toHaveLength(acknowledged);
  expect(await again.end("SIGTERM")).toBe(0);
  await Child.killAll();
});
