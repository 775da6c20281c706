import { createHash } from "node:crypto";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { type NatsConnection, headers as natsHeaders } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { packetHeaders } from "boxwright";
import { Broker } from "boxwright-service/testing/broker";
import { type TestHost, testHost } from "../support/host.ts";
import { about, configBody, detectionPacket, hash, rawPacket } from "../support/frames.ts";
import { until } from "boxwright-service/testing/wait";

/** Publishes a packet as agents do. */
async function publish(connection: NatsConnection, bytes: Uint8Array, id: string, partition = 0): Promise<boolean> {
  const headers = natsHeaders();
  for (const [name, value] of Object.entries(packetHeaders(bytes))) headers.set(name, value);
  const msgID = createHash("sha256").update(`/devices/1\n${id}`).digest("hex");
  const ack = await jetstream(connection).publish(`boxwright.packets.${partition}.door`, bytes, { msgID, headers });
  return !ack.duplicate;
}

describe.skipIf(!inject("nats"))("packets over NATS JetStream", () => {
  let broker: Broker;
  let connection: NatsConnection;
  let host: TestHost;

  beforeAll(async () => {
    broker = await Broker.start();
    connection = await broker.connect();
    host = await testHost({ nats: broker.url, ackWait: 2, partitions: 2 });
    const manager = await jetstreamManager(connection);
    await until(
      async () => (await manager.consumers.info("BOXWRIGHT", "host-1").catch(() => null)) !== null,
      "consumer",
    );
  });
  afterAll(async () => {
    await host.end();
    await connection.close();
    await broker.remove();
  });

  const stored = async (): Promise<string[]> => (await host.lines()).map(({ id }) => id);
  const left = async (): Promise<number> =>
    (await (await jetstreamManager(connection)).streams.info("BOXWRIGHT")).state.messages;

  test("detection packets of all partitions are stored once and leave the stream", async () => {
    for (let n = 0; n < 20; n++) expect(await publish(connection, detectionPacket(n), `frame-${n}`, n % 2)).toBe(true);
    await until(async () => (await stored()).length === 20, "stored frames");
    expect(await stored()).toEqual(Array.from({ length: 20 }, (_, n) => `frame-${n}`));
    await until(async () => (await left()) === 0, "empty stream");
    // The broker knows the id within its window, and the database for good.
    expect(await publish(connection, detectionPacket(3), "frame-3")).toBe(false);
    await publish(connection, detectionPacket(3), "another id");
    await until(async () => (await host.metric('boxwright_host_duplicates_total{way="nats"}')) === 1, "duplicate");
    expect(await stored()).toHaveLength(20);
  });

  test("raw packets wait for their config, which the broker's store brings", async () => {
    for (let n = 20; n < 25; n++) await publish(connection, rawPacket(n), `frame-${n}`);
    await until(
      async () => (await host.metric('boxwright_host_refused_total{reason="unknown config",way="nats"}')) > 0,
    );
    const bucket = await new Kvm(connection).create("boxwright-configs");
    await bucket.put(hash, configBody);
    await until(async () => (await stored()).length === 25, "stored raw frames");
    await until(async () => (await left()) === 0, "empty stream");
  });

  test("a packet that can never be stored is recorded and taken out, and the next ones are stored", async () => {
    const broken = new TextEncoder().encode("not a packet");
    await jetstream(connection).publish("boxwright.packets.0.door", broken);
    await publish(connection, detectionPacket(30), "frame-30");
    await until(async () => (await stored()).includes("frame-30"), "frame behind the broken one");
    await until(async () => (await left()) === 0, "empty stream");
    expect(await host.db.all("SELECT way, place, bytes, reason FROM refused")).toMatchObject([
      { way: "nats", place: expect.stringContaining("boxwright.packets.0.door "), bytes: 12, reason: "foreign" },
    ]);
  });

  test("a preview over the broker is kept", async () => {
    const headers = natsHeaders();
    const { id, source, subject, time } = about(30);
    const given = { "ce-id": id, "ce-source": source, "ce-subject": subject, "ce-time": new Date(time).toISOString() };
    for (const [name, value] of Object.entries(given)) headers.set(name, value);
    const { readFileSync } = await import("node:fs");
    const photo = readFileSync(new URL("../../../../test/fixtures/photos/chelsea.png", import.meta.url));
    connection.publish("boxwright.previews.door", photo, { headers });
    connection.publish("boxwright.previews.door", new Uint8Array(3), { headers });
    await until(async () => (await host.metric("boxwright_host_previews_total")) === 1, "preview");
    await until(async () => (await host.metric('boxwright_host_refused_total{reason="picture",way="nats"}')) === 1);
  });

  test("a config that came over HTTP is in the broker's store, for the other hosts", async () => {
    const { createDecoderSync } = await import("boxwright");
    const config = { family: "yolov8", classes: 7, inputSize: [64, 64] } as const;
    const other = createDecoderSync(config).configHash!;
    expect((await host.putConfig(other, JSON.stringify({ config }))).status).toBe(204);
    const bucket = await new Kvm(connection).create("boxwright-configs");
    expect((await bucket.get(other))?.json()).toEqual({ config });
  });

  test("the broker is killed and comes back: what it acknowledged is stored", async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 30; n++) {
        const id = `kill-${round}-${n}`;
        await publish(connection, detectionPacket(1000 + round * 100 + n, { id }), id);
        acknowledged.push(id);
      }
      await broker.kill();
      expect((await fetch(`${host.url}/healthz`)).status).toBe(503);
      await broker.start();
      await until(async () => (await fetch(`${host.url}/healthz`)).status === 200, "health");
      const isBack = (): Promise<boolean> => connection.rtt().then(() => true, () => false); // prettier-ignore
      await until(isBack, "the test's own connection");
    }
    await until(async () => (await stored()).filter((id) => id.startsWith("kill-")).length === 90, "all frames");
    expect((await stored()).filter((id) => id.startsWith("kill-"))).toEqual(acknowledged);
  });
});

describe.skipIf(!inject("nats"))("a full stream", () => {
  test("refuses, and takes packets again once a host has emptied it", async () => {
    const broker = await Broker.start();
    const first = await testHost({ nats: broker.url, streamBytes: 2 ** 20, consume: [1], partitions: 2 });
    const connection = await broker.connect();
    const manager = await jetstreamManager(connection);
    await until(async () => (await manager.consumers.info("BOXWRIGHT", "host-1").catch(() => null)) !== null, "stream");
    // Nobody takes partition 0.
    const taken: string[] = [];
    let refusal = "";
    for (let n = 0; refusal === "" && n < 5000; n++)
      await publish(connection, rawPacket(n, { id: `f${n}` }), `f${n}`).then(
        () => taken.push(`f${n}`),
        (error: unknown) => (refusal = String(error)),
      );
    expect(refusal).toContain("maximum bytes exceeded");
    expect(taken.length).toBeGreaterThan(100);
    const second = await testHost({ nats: broker.url, consume: [0], partitions: 2 });
    await second.putConfig(hash, configBody);
    await until(async () => (await second.lines("limit=10000")).length === taken.length, "emptied stream");
    expect((await second.lines("limit=10000")).map(({ id }) => id)).toEqual(taken);
    expect(await publish(connection, rawPacket(9999, { id: "late" }), "late")).toBe(true);
    await connection.close();
    await Promise.all([first.end(), second.end()]);
    await broker.remove();
  });

  test("a broker with the default limit is told: raw packets of common networks do not pass", async () => {
    const broker = await Broker.start({ lines: "max_payload: 1MB" });
    const host = await testHost({ nats: broker.url });
    await until(() => host.logs().includes("max_payload: 8MB"), "warning");
    expect(host.logs()).toContain('"got":1048576');
    await host.end();
    await broker.remove();
  });

  test("a host that starts before its broker takes HTTP packets, and connects later", async () => {
    const broker = await Broker.start();
    await broker.kill();
    const host = await testHost({ nats: broker.url });
    expect((await host.post(detectionPacket(1))).status).toBe(204);
    expect((await fetch(`${host.url}/healthz`)).status).toBe(503);
    await broker.start();
    await until(async () => (await fetch(`${host.url}/healthz`)).status === 200, "connection");
    await host.end();
    await broker.remove();
  });
});
