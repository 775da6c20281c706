/** The sink "mqtt" and Debian's mosquitto. The subscriber of each test stands for a host with a session. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Packet, createDecoderSync, fromPacket } from "boxwright";
import type { IPublishPacket, MqttClient } from "mqtt";
import { describe, expect, it, onTestFinished } from "vitest";
import { levelOf } from "boxwright-service/level";
import { CONFIG } from "../support/echo.ts";
import { photoFolder } from "../support/folder.ts";
import { readerOf } from "../support/health.ts";
import { startProcess, writeSettings } from "../support/process.ts";
import { Mosquitto, type MosquittoOptions, mosquitto } from "boxwright-service/testing/mosquitto";
import { makeCertificates } from "boxwright-service/testing/tls";
import { until } from "boxwright-service/testing/wait";

interface Setup {
  readonly folder: string;
  readonly broker: Mosquitto;
  readonly settings: Record<string, unknown>;
}

async function setUp(count: number, sink: object = {}, options: MosquittoOptions = {}): Promise<Setup> {
  const broker = await Mosquitto.create(options);
  onTestFinished(() => broker.remove());
  const to = { kind: "mqtt", url: broker.url, confirmSeconds: 0, ...sink };
  return { broker, ...(await photoFolder(count, to)) };
}

/** Messages that a subscriber with a session got. */
interface Subscriber {
  readonly packets: Packet[];
  readonly messages: IPublishPacket[];
  readonly ids: () => Set<string>;
}

/** @param answer what the host answers to a packet that asks for it; null: nothing */
async function subscribe(broker: Mosquitto, topic = "boxwright", answer: string | null = "{}"): Promise<Subscriber> {
  const packets: Packet[] = [];
  const messages: IPublishPacket[] = [];
  const session = { clientId: "host", clean: false, properties: { sessionExpiryInterval: 3600 } };
  // Packets of a session that is taken up again may come before `connecting` has resolved.
  const connecting: Promise<MqttClient> = broker.connect(session, (_, payload, message) => {
    messages.push(message);
    if (message.topic.includes("/packets/")) packets.push(fromPacket(Uint8Array.from(payload)));
    const { responseTopic, correlationData } = message.properties ?? {};
    if (responseTopic === undefined || answer === null) return;
    void connecting.then((client) =>
      client.publish(responseTopic, answer, { properties: { correlationData: correlationData! } }),
    );
  });
  const client = await connecting;
  onTestFinished(() => client.endAsync(true));
  await client.subscribeAsync(`${topic}/#`, { qos: 1 });
  return { packets, messages, ids: () => new Set(packets.map(({ id }) => id!)) };
}

const RAW = { ...CONFIG, nn_config: { ...CONFIG.nn_config, output_format: "raw" } };

// CI installs the broker (debian.sh) and counts a skipped test as a failure.
describe.skipIf(mosquitto === undefined)("a broker of MQTT", () => {
  it("gets each packet, its attributes as properties, and its config beside, for later hosts too", async () => {
    const { folder, broker, settings } = await setUp(20);
    await broker.start();
    const host = await subscribe(broker);
    expect((await startProcess([writeSettings(folder, settings)]).ended).code).toBe(0);
    await until(() => host.packets.length === 20, "20 packets");
    expect(host.ids().size).toBe(20);
    const [packet] = host.messages.filter(({ topic }) => topic.includes("/packets/"));
    expect(packet!.topic).toBe(`boxwright/packets/${levelOf("/devices/7")}/${levelOf("front door")}`);
    expect(packet!.qos).toBe(1);
    expect(packet!.properties!.contentType).toBe("application/cloudevents+json");
    // The broker keeps the config.
    const later = await subscribe(broker);
    await until(() => later.messages.length > 0, "the kept config");
    const { topic, payload } = later.messages[0]!;
    const { config, options } = JSON.parse(String(payload)) as { config: object; options: object };
    const hash = createDecoderSync(config, options).configHash;
    expect(topic).toBe(`boxwright/configs/${hash}`);
    expect(hash).toBe(host.packets[0]!.config);
  });

  it("gets raw packets and previews with the attributes of CloudEvents, unescaped", async () => {
    const { folder, broker, settings } = await setUp(2, { topic: "shop/boxwright" });
    writeFileSync(join(folder, "config.json"), JSON.stringify(RAW));
    await broker.start();
    const host = await subscribe(broker, "shop/boxwright");
    const path = writeSettings(folder, { ...settings, preview: { every: 0.1 } });
    expect((await startProcess([path]).ended).code).toBe(0);
    const last = (kind: string): IPublishPacket | undefined =>
      host.messages.findLast(({ topic }) => topic.startsWith(`shop/boxwright/${kind}/`));
    await until(() => host.packets.length === 2 && last("previews"), "packets and a preview");
    expect(last("packets")!.properties!.userProperties).toMatchObject({
      ...{ specversion: "1.0", source: "/devices/7", subject: "front door", id: host.packets[1]!.id },
    });
    expect(last("packets")!.properties!.contentType).toBe("application/octet-stream");
    expect(last("previews")!.properties!.userProperties).toMatchObject({ subject: "front door" });
    expect(last("previews")!.qos).toBe(0);
  });

  it("to which nobody listens gets nothing for good: the packets wait for the first host", async () => {
    const { folder, broker, settings } = await setUp(5);
    await broker.start();
    const agent = startProcess([writeSettings(folder, settings)]);
    await agent.says(/nobody has subscribed to boxwright\/packets\/#/);
    const host = await subscribe(broker);
    expect((await agent.ended).text).toContain("5 frames sent, 0 failed, 0 lost");
    await until(() => host.ids().size === 5, "5 packets");
  });

  it("ended in the middle and started again, five times, passes on every packet", async () => {
    const COUNT = 400;
    const { folder, broker, settings } = await setUp(COUNT);
    await broker.start();
    // A host of before may be connected again first, and take packets until the next one comes.
    const hosts = [await subscribe(broker)];
    const seen = (): Set<string> => new Set(hosts.flatMap((host) => [...host.ids()]));
    const agent = startProcess([writeSettings(folder, settings)]);
    for (let end = 1; end <= 5; end++) {
      await until(() => seen().size >= (end * COUNT) / 8, "packets before an end");
      // SIGKILL would cost what mosquitto has acknowledged and not passed on yet.
      await broker.kill("SIGTERM");
      await broker.start();
      hosts.push(await subscribe(broker));
    }
    const { text } = await agent.ended;
    expect(text).toContain(`${COUNT} frames sent, 0 failed, 0 lost`);
    await until(() => seen().size === COUNT, "all packets");
  });

  it("killed in the middle, with hosts that answer, costs no packet", async () => {
    const COUNT = 300;
    const { folder, broker, settings } = await setUp(COUNT, { confirmSeconds: 30 });
    await broker.start();
    // A host of before may be connected again first, and take packets until the next one comes.
    const hosts = [await subscribe(broker)];
    const seen = (): Set<string> => new Set(hosts.flatMap((host) => [...host.ids()]));
    const agent = startProcess([writeSettings(folder, settings)]);
    for (let kill = 1; kill <= 4; kill++) {
      await until(() => seen().size >= (kill * COUNT) / 6, "packets before a kill");
      await broker.kill("SIGKILL");
      await broker.start();
      hosts.push(await subscribe(broker));
    }
    expect((await agent.ended).text).toContain(`${COUNT} frames sent, 0 failed, 0 lost`);
    expect(seen().size).toBe(COUNT);
  });

  it("passes on a host's refusal, and the packet is kept with the reason", async () => {
    const { folder, broker, settings } = await setUp(2, { confirmSeconds: 30 });
    await broker.start();
    await subscribe(broker, "boxwright", '{"refused":"the host says no"}');
    const path = writeSettings(folder, settings);
    const { code, text } = await startProcess([path]).ended;
    expect(code).toBe(1);
    expect(text).toContain("packet refused for good: the host says no");
    expect((await startProcess(["refused", "list", path]).ended).text.split("the host says no")).toHaveLength(3);
  });

  it("with a host that does not answer has the packets sent again, and the spool keeps them", async () => {
    const { folder, broker, settings } = await setUp(2, { confirmSeconds: 1 });
    await broker.start();
    const silent = await subscribe(broker, "boxwright", null);
    const agent = startProcess([writeSettings(folder, settings)]);
    await agent.says(/packets wait: no host has stored the packet within 1 s/);
    await until(() => silent.packets.length > 2, "a packet again");
    // Another one takes over, and answers.
    await subscribe(broker);
    expect((await agent.ended).text).toContain("2 frames sent, 0 failed, 0 lost");
  });

  it("gets every packet of an agent that is killed again and again", async () => {
    const COUNT = 120;
    const { folder, broker, settings } = await setUp(COUNT);
    await broker.start();
    const host = await subscribe(broker);
    const path = writeSettings(folder, settings);
    for (let kill = 1; kill <= 3; kill++) {
      const agent = startProcess([path]);
      await until(() => host.ids().size >= (kill * COUNT) / 5, "packets before a kill");
      agent.kill("SIGKILL");
      await agent.ended;
    }
    const { code, text } = await startProcess([path]).ended;
    expect(text).toContain("0 failed, 0 lost");
    expect(code).toBe(0);
    await until(() => host.ids().size === COUNT, "all packets");
  });

  it("that asks for a password tells a wrong one in one line, without the password", async () => {
    const login = { user: "cam", pass: "p@ss:1" };
    const { folder, broker, settings } = await setUp(3, {}, { login });
    await broker.start();
    const host = await subscribe(broker);
    const sink = { kind: "mqtt", url: broker.url, user: "cam", passwordFile: "password" };
    writeFileSync(join(folder, "password"), "secret-but-wrong\n");
    const path = writeSettings(folder, { ...settings, sinks: [sink], log: "info", health: { port: 0 } });
    const agent = startProcess([path]);
    const { health } = await readerOf(agent);
    const text = 'Connection refused: Not authorized (user "cam"): check user and password';
    await until(async () => (await health()).problems.join().includes(text), "the mistake in the health report");
    await until(async () => (await health()).sinks[0].later > 2, "further attempts");
    agent.kill("SIGTERM");
    const { text: said } = await agent.ended;
    expect(said.split("\n").filter((line) => line.includes("check user and password"))).toHaveLength(1);
    expect(said).not.toContain("secret-but-wrong");
    writeFileSync(join(folder, "password"), `${login.pass}\n`);
    const right = await startProcess([path]).ended;
    expect(right.text).toContain("3 frames sent, 0 failed, 0 lost");
    await until(() => host.ids().size === 3, "3 packets");
    // The address may hold both, too.
    const url = broker.url.replace("//", `//cam:${encodeURIComponent(login.pass)}@`);
    writeSettings(folder, { ...settings, state: "other", sinks: [{ kind: "mqtt", url }] });
    expect((await startProcess([path]).ended).code).toBe(0);
  });

  it("that does not let the agent write says so, and the packets wait", async () => {
    const { folder, broker, settings } = await setUp(2);
    writeFileSync(join(folder, "acl"), "topic read boxwright/#\ntopic write boxwright/configs/#\n", { mode: 0o600 });
    const strict = await Mosquitto.start({ port: broker.port, lines: `acl_file ${join(folder, "acl")}` });
    onTestFinished(() => strict.remove());
    await subscribe(strict);
    const agent = startProcess([writeSettings(folder, { ...settings, log: "info", health: { port: 0 } })]);
    await agent.says(/packets wait: Publish error: Not authorized/);
    // The first packet is refused while the second photo may still be read.
    const { health } = await readerOf(agent);
    await until(async () => (await health()).spool.packets === 2, "both packets in the spool");
    agent.kill("SIGTERM");
    expect((await agent.ended).text).toContain("0 frames sent, 0 failed, 0 lost, 2 wait for the next start");
  });

  it.each([
    ["the sink", { maxPacketBytes: 4096 }, "", 4096],
    ["the broker", {}, "max_packet_size 20480", 4096],
  ])("a packet above the limit of %s is refused for good, with got and expected", async (_, sink, lines, limit) => {
    const { folder, broker, settings } = await setUp(2, sink, { lines });
    writeFileSync(join(folder, "config.json"), JSON.stringify(RAW));
    await broker.start();
    await subscribe(broker);
    const { code, text } = await startProcess([writeSettings(folder, settings)]).ended;
    expect(code).toBe(1);
    expect(text).toMatch(new RegExp(`got \\d+ bytes, expected at most ${limit}: raise maxPacketBytes`));
    expect(text).toContain("0 frames sent, 0 failed, 2 lost");
    expect(readdirSync(join(folder, "state", "refused")).filter((name) => name.endsWith(".packet"))).toHaveLength(2);
  });

  it("that takes fewer packets at once than inFlight is told", async () => {
    const { folder, broker, settings } = await setUp(1, { inFlight: 21 });
    await broker.start();
    const agent = startProcess([writeSettings(folder, settings)]);
    await agent.says(/got inFlight 21, but the broker takes 20 packets at once: set inFlight to 20/);
  });

  it("with TLS gets packets once its authority is named; a plain one gets none over mqtts", async () => {
    const { folder, settings } = await setUp(2);
    const tls = makeCertificates(folder);
    const broker = await Mosquitto.start({ tls });
    onTestFinished(() => broker.remove());
    const host = await subscribe(broker);
    const path = writeSettings(folder, { ...settings, sinks: [{ kind: "mqtt", url: broker.url }] });
    const agent = startProcess([path]);
    await agent.says(/packets wait: unable to verify .*NODE_EXTRA_CA_CERTS/);
    agent.kill("SIGTERM");
    await agent.ended;
    expect(host.packets).toEqual([]);
    expect((await startProcess([path], { NODE_EXTRA_CA_CERTS: tls.ca }).ended).code).toBe(0);
    await until(() => host.packets.length === 2, "2 packets");

    const plain = await Mosquitto.start();
    onTestFinished(() => plain.remove());
    const behind = await subscribe(plain);
    const url = plain.url.replace("mqtt:", "mqtts:");
    writeSettings(folder, { ...settings, state: "other", sinks: [{ kind: "mqtt", url }] });
    const other = startProcess([path], { NODE_EXTRA_CA_CERTS: tls.ca });
    await other.says(/packets wait/);
    other.kill("SIGTERM");
    await other.ended;
    expect(behind.messages).toEqual([]);
  });
});
