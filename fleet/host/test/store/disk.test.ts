/** A full disk: nothing is acknowledged, senders keep their packets, and all arrive once there is room. */
import { createHash } from "node:crypto";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { afterAll, expect, inject, test } from "vitest";
import { Broker } from "boxwright-service/testing/broker";
import { SmallDisk } from "boxwright-service/testing/disk";
import { detectionPacket } from "../support/frames.ts";
import { Child } from "boxwright-service/testing/child";
import { HostProcess, commandOf } from "../support/process.ts";
import { freePort } from "boxwright-service/testing/free-port";
import { sleep, until } from "boxwright-service/testing/wait";

afterAll(() => Child.killAll());

const post = (host: HostProcess, n: number): Promise<Response> =>
  fetch(`${host.url}/v1/packets`, { method: "POST", body: detectionPacket(n) as Uint8Array<ArrayBuffer> });

async function idsOf(host: HostProcess): Promise<string[]> {
  const text = await (await fetch(`${host.url}/v1/detections?limit=10000`)).text();
  const lines = text.split("\n").filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

const healthOf = async (host: HostProcess): Promise<unknown[]> => {
  const answer = await fetch(`${host.url}/healthz`);
  return [answer.status, ((await answer.json()) as { database: string }).database];
};

const textOfHealth = (host: HostProcess): Promise<string> =>
  fetch(`${host.url}/healthz`).then(
    async (answer) => `${answer.status} ${await answer.text()}`,
    () => "no answer",
  );

/** Posts frames until the disk is full. Returns the ids of those that were acknowledged, and the first refusal. */
async function fillByHttp(host: HostProcess, first: number): Promise<{ taken: string[]; refusal: Response }> {
  const taken: string[] = [];
  for (let n = first; n < first + 20_000; n++) {
    const answer = await post(host, n);
    if (answer.status !== 204) return { taken, refusal: answer };
    taken.push(`frame-${n}`);
  }
  throw new Error("the disk is never full");
}

test.skipIf(!inject("disk"))(
  "over HTTP: 503 and a time to come again; the host lives, says so, survives its kill, and goes on",
  async () => {
    const disk = await SmallDisk.mount("4m");
    const options = { database: `${disk.path}/host.db` };
    let host = await HostProcess.start(options, disk.prefix);
    expect((await post(host, 0)).status).toBe(204);
    disk.fill(400_000);
    const { taken, refusal } = await fillByHttp(host, 1);
    expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await refusal.text()).toMatch(/the disk of the database/);
    expect(taken.length).toBeGreaterThan(5);
    const acknowledged = ["frame-0", ...taken];
    expect(await healthOf(host)).toEqual([503, expect.stringMatching(/the disk of the database .*full/)]);
    await host.says(/the database takes no frames/);
    // Stored frames can be read all the while.
    expect(await idsOf(host)).toEqual(acknowledged);

    // However little room there is, the host answers as the one before, or waits for room. A start writes some pages,
    // also into the rest of its log, so the last starts, on a disk without a free byte, use that up until one waits.
    await host.end("SIGKILL");
    const leaves = [0, 0, 4096, 8192, 12_288, 16_384];
    for (const [i, leave] of [...leaves, ...Array.from({ length: 12 }, () => 0)].entries()) {
      disk.makeRoom();
      disk.fill(leave);
      const port = await freePort();
      host = new HostProcess(commandOf({ ...options, port }, disk.prefix));
      host.url = `http://127.0.0.1:${port}`;
      const [said] = await host.says(/"cannot start yet, trying again"|"listening"/);
      const isWaiting = said !== '"listening"';
      if (isWaiting && i >= leaves.length) break;
      if (!isWaiting) {
        expect(await idsOf(host)).toEqual(acknowledged);
        disk.fill();
        const more = await fillByHttp(host, acknowledged.length);
        expect(more.refusal.status).toBe(503);
        acknowledged.push(...more.taken);
      }
      await host.end("SIGKILL");
    }
    expect(host.output).toMatch(/is full .*; make room on this disk","msg":"cannot start yet, trying again"/);
    await until(async () => /^503 .*is full/.test(await textOfHealth(host)), "503 of the host that waits");
    disk.makeRoom();
    await host.says(/"listening"/);
    expect(await idsOf(host)).toEqual(acknowledged);
    const refused = acknowledged.length;
    for (let n = refused; n < refused + 20; n++) expect((await post(host, n)).status).toBe(204);
    expect(await idsOf(host)).toEqual(Array.from({ length: refused + 20 }, (_, n) => `frame-${n}`));
    expect(await healthOf(host)).toEqual([200, "ok"]);
    expect(await host.end("SIGTERM")).toBe(0);
    await disk.remove();
  },
);

test.skipIf(!inject("disk") || !inject("nats"))(
  "over NATS: packets stay in the stream, and are stored once there is room",
  async () => {
    const broker = await Broker.start();
    const disk = await SmallDisk.mount("4m");
    const database = `${disk.path}/host.db`;
    const host = await HostProcess.start({ database, nats: broker.url }, disk.prefix);
    const connection = await broker.connect();
    const manager = await jetstreamManager(connection);
    await until(() => manager.consumers.info("BOXWRIGHT", "host-0").catch(() => null), "consumer");
    disk.fill();
    const count = 300;
    for (let n = 0; n < count; n++) {
      const msgID = createHash("sha256").update(`/devices/1\nframe-${n}`).digest("hex");
      await jetstream(connection).publish("boxwright.packets.0.door", detectionPacket(n), { msgID });
    }
    await until(async () => String((await healthOf(host))[1]).includes("full"), "the full disk");
    expect((await healthOf(host))[0]).toBe(503);
    await sleep(3000);
    // None is taken out of the stream that is not stored, also not as "refused for good". Look there first.
    const { state } = await manager.streams.info("BOXWRIGHT");
    const stored = (await idsOf(host)).length;
    expect(stored).toBeLessThan(count);
    expect(state.messages).toBeGreaterThanOrEqual(count - stored);
    disk.makeRoom();
    // The broker delivers a packet that was refused n times after n seconds again.
    await until(async () => (await manager.streams.info("BOXWRIGHT")).state.messages === 0, "empty stream", 180);
    expect(await idsOf(host)).toEqual(Array.from({ length: count }, (_, n) => `frame-${n}`));
    expect(await healthOf(host), host.output.slice(-1500)).toEqual([200, "ok"]);
    await connection.close();
    expect(await host.end("SIGTERM")).toBe(0);
    await Promise.all([disk.remove(), broker.remove()]);
  },
);
