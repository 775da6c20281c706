/** Hosts that share one subscription of MQTT 5, over Debian's mosquitto, with agents as their operators run them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, inject, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { Mosquitto } from "boxwright-service/testing/mosquitto";
import { until } from "boxwright-service/testing/wait";
import { AGENT } from "../fleet/agent.ts";
import { detectionPacket } from "../support/frames.ts";
import { emptyDatabase, kinds, temporaryFolder, testHost } from "../support/host.ts";
import { colourPng } from "../support/pixels.ts";
import { HostProcess } from "../support/process.ts";
import { readAll } from "../support/published.ts";

afterAll(() => Child.killAll());

const MODEL = fileURLToPath(new URL("../../../../test/fixtures/detect/network.onnx", import.meta.url));
const DEVICES = ["a", "b"];
/** Photos of a round. A host has at most 16 packets at once: the others are still on their way when it is killed. */
const PHOTOS = 100;

const isHere = inject("mosquitto") && inject("agent");

test.skipIf(!isHere).each(kinds.filter(({ skip }) => !skip))(
  `one of two hosts is killed ${KILLS} times, on $kind: no frame is lost or stored twice`,
  async ({ kind }) => {
    const broker = await Mosquitto.start();
    const folder = temporaryFolder().path;
    const photos = join(folder, "photos");
    mkdirSync(photos);
    const options = { mqtt: broker.url, "mqtt-group": "yard", database: await emptyDatabase(kind, folder) };
    const start = async (): Promise<HostProcess> => {
      const host = await HostProcess.start(options);
      await host.says(/taking packets over MQTT/);
      return host;
    };
    const hosts = [await start(), await start()];
    const agents = DEVICES.map((device) => {
      const file = join(folder, `${device}.json`);
      const settings = {
        ...{ device: `/devices/${device}`, state: device, log: "warn" },
        network: { model: MODEL, output_format: "detection", threads: 1 },
        sources: [{ kind: "folder", camera: "door", path: photos, watch: true }],
        sinks: [{ kind: "mqtt", url: broker.url, confirmSeconds: 2 }],
      };
      writeFileSync(file, JSON.stringify(settings));
      return new Child([process.execPath, AGENT, file]);
    });
    const storedBy = async (host: HostProcess): Promise<number> => {
      const text = await (await fetch(`${host.url}/metrics`)).text();
      return Number(/^boxwright_host_stored_total\{kind="detection"\} (\d+)/m.exec(text)?.[1] ?? 0);
    };
    let sent = 0;
    const sendMore = (): void => {
      for (let n = 0; n < PHOTOS; n++, sent += DEVICES.length)
        writeFileSync(join(photos, `${sent}.png`), colourPng(32, 24, new Uint8Array(32 * 24 * 3).fill(sent)));
    };
    const all = async (host: HostProcess): Promise<void> =>
      until(async () => (await readAll(host.url)).length === sent, "all frames");
    sendMore();
    await all(hosts[0]!);
    for (const host of hosts) expect(await storedBy(host), "the share of a host").toBeGreaterThan(PHOTOS / 2);
    for (let kill = 0; kill < KILLS; kill++) {
      const [killed, other] = kill % 2 === 0 ? [0, 1] : [1, 0];
      const before = await storedBy(hosts[killed]!);
      sendMore();
      await until(async () => (await storedBy(hosts[killed]!)) > before, "the first frames");
      await hosts[killed]!.end("SIGKILL");
      await all(hosts[other]!);
      hosts[killed] = await start();
    }
    const frames = await readAll(hosts[0]!.url);
    const names = new Set(frames.map(({ source, id }) => `${source} ${id}`));
    console.log(`one of two hosts of a group killed ${KILLS} times (${kind}): ${sent} sent, ${names.size} stored`);
    expect([names.size, frames.length]).toEqual([sent, sent]);
    for (const process of [...agents, ...hosts]) expect(await process.end("SIGTERM")).toBe(0);
    await broker.remove();
  },
  KILLS_TIMEOUT,
);

test.skipIf(!inject("mosquitto"))(
  "hosts of a group may have the same settings, and warn of who asks for no answer",
  async () => {
    const broker = await Mosquitto.start();
    const hosts = await Promise.all([1, 2].map(() => testHost({ mqtt: broker.url, mqttGroup: "yard" })));
    for (const host of hosts) await until(() => host.logs().includes("taking packets over MQTT"), "the subscription");
    const sender = await broker.connect();
    for (let n = 0; n < 10; n++)
      await sender.publishAsync("boxwright/packets/a/b", Buffer.from(detectionPacket(n)), { qos: 1 });
    const stored = async (): Promise<number[]> => Promise.all(hosts.map(async (host) => (await host.lines()).length));
    await until(async () => (await stored()).reduce((sum, count) => sum + count) === 10, "the frames");
    expect(await stored()).toEqual([5, 5]);
    for (const host of hosts) {
      expect(host.logs().split("a sender asks for no answer")).toHaveLength(2);
      expect(host.logs()).not.toContain("same client id");
      await host.end();
    }
    await sender.endAsync();
    await broker.remove();
  },
);
