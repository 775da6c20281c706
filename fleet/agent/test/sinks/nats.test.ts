import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { Kvm } from "@nats-io/kv";
import { jetstreamManager } from "@nats-io/jetstream";
import { createDecoderSync, fromPacket } from "boxwright";
import { describe, expect, it, onTestFinished } from "vitest";
import { levelOf } from "boxwright-service/level";
import { messageId } from "../../src/core/ids.ts";
import { addressOf } from "../../src/sinks/nats.ts";
import { CONFIG } from "../support/echo.ts";
import { photoFolder } from "../support/folder.ts";
import { Broker, natsServer } from "boxwright-service/testing/broker";
import { SmallDisk } from "boxwright-service/testing/disk";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { canMount } from "boxwright-service/testing/mount";
import { readerOf } from "../support/health.ts";
import { startProcess, writeSettings } from "../support/process.ts";
import { sleep, until } from "boxwright-service/testing/wait";

interface Setup {
  readonly folder: string;
  readonly broker: Broker;
  readonly settings: Record<string, unknown>;
}

async function setUp(count: number, sink: object = {}, limits?: string): Promise<Setup> {
  const broker = await Broker.create(limits === undefined ? {} : { lines: limits });
  onTestFinished(() => broker.remove());
  const to = { kind: "nats", servers: [`127.0.0.1:${broker.port}`], ...sink };
  return { broker, ...(await photoFolder(count, to)) };
}

it("reads addresses of brokers", () => {
  const servers = ["broker", "tls://token@[::1]:4333"];
  expect(addressOf({ servers, token: null })).toEqual({
    servers: ["broker:4222", "[::1]:4333"],
    token: "token",
    tls: {},
  });
  expect(addressOf({ servers: ["nats://a:b@broker:1"], token: null })).toEqual({
    servers: ["broker:1"],
    user: "a",
    pass: "b",
  });
  expect(addressOf({ servers: ["nats://a:b@broker:1"], token: "t" })).toEqual({ servers: ["broker:1"], token: "t" });
});

// CI installs the broker (debian.sh) and counts a skipped test as a failure.
describe.skipIf(natsServer === undefined)("a stream of NATS JetStream", () => {
  it("gets each packet once, with its id and partition, and its config beside", async () => {
    const { folder, broker, settings } = await setUp(20, { partitions: 4 });
    await broker.start();
    await broker.makeStream({}, 4);
    const path = writeSettings(folder, settings);
    expect((await startProcess([path]).ended).code).toBe(0);
    // A second run has the same ids: the broker drops them.
    expect((await startProcess([path]).ended).code).toBe(0);
    const messages = await broker.messages();
    expect(messages).toHaveLength(20);
    const partition = crc32("/devices/7\nfront door") % 4;
    const packets = messages.map(({ data }) => fromPacket(Uint8Array.from(data)));
    messages.forEach(({ subject, id, type }, i) => {
      expect(subject).toBe(`boxwright.packets.${partition}.${levelOf("front door")}`);
      expect(id).toBe(messageId("/devices/7", packets[i]!.id!));
      expect(type).toBe("application/cloudevents+json");
    });
    const connection = await broker.connect();
    const configs = await new Kvm(connection).open("boxwright-configs");
    const entry = (await configs.get(packets[0]!.config!))!;
    const { config, options } = entry.json<{ config: object; options: object }>();
    expect(createDecoderSync(config, options).configHash).toBe(packets[0]!.config);
    await connection.close();
  });

  it("says how many partitions there are: a setting that differs is an error, and nothing is stranded", async () => {
    const { folder, broker, settings } = await setUp(5, { partitions: 8 });
    await broker.start();
    await broker.makeStream();
    const path = writeSettings(folder, { ...settings, log: "info", health: { port: 0 } });
    const agent = startProcess([path]);
    const { health } = await readerOf(agent);
    const text = "got partitions 8, but stream BOXWRIGHT has 1";
    await until(async () => (await health()).problems.join().includes(text), "the mistake in the health report");
    await until(async () => (await health()).spool.packets === 5, "all photos in the spool");
    expect((await health()).code).toBe(503);
    agent.kill("SIGTERM");
    expect((await agent.ended).text).toContain("0 frames sent, 0 failed, 0 lost, 5 wait for the next start");
    expect(await broker.messages()).toHaveLength(0);
    writeSettings(folder, { ...settings, sinks: [{ kind: "nats", servers: [`127.0.0.1:${broker.port}`] }] });
    expect((await startProcess([path]).ended).text).toContain("5 frames sent, 0 failed, 0 lost");
    expect(await broker.messages()).toHaveLength(5);
  });

  it("takes user and password from the address", async () => {
    const { folder, settings } = await setUp(2);
    const login = { user: "agent", pass: "p@ss:1" };
    const broker = await Broker.start({ login });
    onTestFinished(() => broker.remove());
    await broker.makeStream();
    const servers = [`nats://${login.user}:${encodeURIComponent(login.pass)}@127.0.0.1:${broker.port}`];
    const path = writeSettings(folder, { ...settings, sinks: [{ kind: "nats", servers }] });
    expect((await startProcess([path]).ended).code).toBe(0);
    expect(await broker.messages()).toHaveLength(2);
  });

  it("that is full refuses, and the packets wait in the spool", async () => {
    const { folder, broker, settings } = await setUp(30);
    await broker.start();
    await broker.makeStream({ max_msgs: 10 });
    const agent = startProcess([writeSettings(folder, settings)]);
    await agent.says(/the stream is full/);
    expect(await broker.messages()).toHaveLength(10);
    const connection = await broker.connect();
    await (await jetstreamManager(connection, { timeout: 30_000 })).streams.update("BOXWRIGHT", { max_msgs: -1 });
    await connection.close();
    expect((await agent.ended).code).toBe(0);
    expect(await broker.messages()).toHaveLength(30);
  });

  it.skipIf(!canMount)(
    "whose disk is full: log and health say what to look at, and every packet arrives once",
    async () => {
      const disk = await SmallDisk.mount("16m");
      const broker = await Broker.start({ disk });
      onTestFinished(async () => (await broker.remove(), disk.remove()));
      await broker.makeStream();
      const { folder, settings } = await setUp(30);
      const sinks = [{ kind: "nats", servers: [`127.0.0.1:${broker.port}`] }];
      // Leave too little room for the first packet.
      disk.fill(4096);
      const agent = startProcess([writeSettings(folder, { ...settings, sinks, log: "info", health: { port: 0 } })]);
      const { health } = await readerOf(agent);
      await until(async () => {
        const { code, problems } = await health();
        return code === 503 && problems.join().includes("store_dir");
      }, "the full disk in the report");
      await agent.says(/packets wait: the .*store_dir/);
      await broker.kill();
      disk.makeRoom();
      await broker.start();
      const { code, text } = await agent.ended;
      expect(text).toContain("30 frames sent, 0 failed, 0 lost");
      expect(code).toBe(0);
      const ids = (await broker.messages()).map(({ id }) => id);
      expect([ids.length, new Set(ids).size]).toEqual([30, 30]);
    },
  );

  it("with a payload limit below a packet refuses it for good, with got and expected", async () => {
    const { folder, broker, settings } = await setUp(2, {}, "max_payload: 4096");
    writeFileSync(
      join(folder, "config.json"),
      JSON.stringify({ ...CONFIG, nn_config: { ...CONFIG.nn_config, output_format: "raw" } }),
    );
    await broker.start();
    await broker.makeStream();
    const { code, text } = await startProcess([writeSettings(folder, settings)]).ended;
    expect(code).toBe(1);
    expect(text).toMatch(/got \d+ bytes, expected at most 4096, the broker's max_payload/);
    expect(text).toContain("0 frames sent, 0 failed, 2 lost");
    expect(await broker.messages()).toHaveLength(0);
    expect(readdirSync(join(folder, "state", "refused")).filter((name) => name.endsWith(".packet"))).toHaveLength(2);
  });

  it(
    `killed ${2 * KILLS} times in the middle has each packet once in the end`,
    { timeout: KILLS_TIMEOUT },
    async () => {
      const [kills, count] = [2 * KILLS, KILLS * 300];
      const { folder, broker, settings } = await setUp(count);
      await broker.start();
      await broker.makeStream({ duplicate_window: 3600e9 });
      // A watched folder: a fast agent does not end before the last kill.
      const sources = [{ kind: "folder", camera: "front door", path: "photos", watch: true }];
      const path = writeSettings(folder, { ...settings, sources, log: "info", health: { port: 0 } });
      const agent = startProcess([path]);
      const { health } = await readerOf(agent);
      for (let kill = 0; kill < kills; kill++) {
        await sleep(30);
        await broker.kill();
        await broker.start();
      }
      const isSent = async (): Promise<boolean> => {
        const { spool, cameras } = await health();
        return cameras[0].spooled === count && spool.packets === 0;
      };
      // After many kills the agent may pause for half a minute.
      await until(isSent, "an empty spool", 240);
      agent.kill("SIGTERM");
      const { code, text } = await agent.ended;
      expect(text).toContain(`${count} frames sent, 0 failed, 0 lost`);
      expect(code).toBe(0);
      const ids = (await broker.messages()).map(({ id }) => id);
      console.log(`${kills} kills of the broker, ${ids.length} messages, ${new Set(ids).size} ids`);
      expect(new Set(ids).size).toBe(count);
      expect(ids).toHaveLength(count);
    },
  );

  it("that is missing is waited for", async () => {
    const { folder, broker, settings } = await setUp(3);
    await broker.start();
    const agent = startProcess([writeSettings(folder, settings)]);
    await agent.says(/packets wait/);
    await broker.makeStream();
    expect((await agent.ended).code).toBe(0);
    expect(await broker.messages()).toHaveLength(3);
  });
});
