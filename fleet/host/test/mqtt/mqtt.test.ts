/** Packets over Debian's mosquitto. A client of the library stands for the agents. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MqttClient } from "mqtt";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { Mosquitto } from "boxwright-service/testing/mosquitto";
import { makeCertificates } from "boxwright-service/testing/tls";
import { until } from "boxwright-service/testing/wait";
import { about, configBody, detectionPacket, hash, rawPacket } from "../support/frames.ts";
import { type TestHost, temporaryFolder, testHost } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";

const TOPIC = "boxwright/packets/device/door";

const publish = async (client: MqttClient, bytes: Uint8Array, topic = TOPIC): Promise<void> =>
  void (await client.publishAsync(topic, Buffer.from(bytes), { qos: 1 }));

const takesOver = (host: TestHost): Promise<void> =>
  until(async () => (await (await fetch(`${host.url}/healthz`)).json()).mqtt === "ok", "packets over MQTT");

const idsOf = async (host: TestHost): Promise<string[]> => (await host.lines("limit=10000")).map(({ id }) => id);

describe.skipIf(!inject("mosquitto"))("packets over MQTT", () => {
  let broker: Mosquitto;
  let agent: MqttClient;
  let host: TestHost;

  beforeAll(async () => {
    broker = await Mosquitto.start();
    agent = await broker.connect();
    host = await testHost({ mqtt: broker.url });
    await takesOver(host);
  });
  afterAll(async () => {
    await host.end();
    await agent.endAsync(true);
    await broker.remove();
  });

  test("are stored once, however often they come", async () => {
    for (let n = 0; n < 20; n++) await publish(agent, detectionPacket(n));
    await until(async () => (await idsOf(host)).length === 20, "stored frames");
    await publish(agent, detectionPacket(3));
    await until(async () => (await host.metric('boxwright_host_duplicates_total{way="mqtt"}')) === 1, "duplicate");
    expect(await idsOf(host)).toEqual(Array.from({ length: 20 }, (_, n) => `frame-${n}`));
  });

  test("raw ones wait for their config, which comes over MQTT behind them", async () => {
    await publish(agent, rawPacket(20));
    await publish(agent, detectionPacket(21));
    await until(
      async () => (await host.metric('boxwright_host_refused_total{reason="unknown config",way="mqtt"}')) > 0,
      "a try without the config",
    );
    // A config of another hash is none.
    await agent.publishAsync(`boxwright/configs/${"0".repeat(16)}`, configBody, { qos: 1, retain: true });
    await agent.publishAsync(`boxwright/configs/${hash}`, configBody, { qos: 1, retain: true });
    await until(async () => (await idsOf(host)).length === 22, "stored frames");
  });

  test("one that can never be stored is recorded with topic and reason, and the next ones are stored", async () => {
    await agent.publishAsync(TOPIC, "not a packet", {
      qos: 1,
      properties: { userProperties: { source: "/devices/9", id: "broken" } },
    });
    await publish(agent, rawPacket(1, { id: "x".repeat(600) }));
    await publish(agent, detectionPacket(30));
    await until(async () => (await idsOf(host)).includes("frame-30"), "the frame behind");
    const { refused } = (await (await fetch(`${host.url}/v1/refused`)).json()) as { refused: any[] };
    expect(refused).toMatchObject([
      { way: "mqtt", place: TOPIC, reason: "no name" },
      { way: "mqtt", place: TOPIC, bytes: 12, reason: "foreign", source: "/devices/9", id: "broken" },
    ]);
  });

  test("one larger than maxPacketBytes is recorded as refused", async () => {
    const small = await testHost({ mqtt: broker.url, mqttClient: "small", mqttTopic: "a/b", maxPacketBytes: 1024 });
    onTestFinished(() => small.end());
    await takesOver(small);
    await publish(agent, new Uint8Array(5000), "a/b/packets/x/y");
    const reason = 'boxwright_host_refused_total{reason="too large",way="mqtt"}';
    await until(async () => (await small.metric(reason)) === 1, "refusal");
  });

  test("are answered where the agent asks for it: stored, or refused and why", async () => {
    const answers: [string, string, string][] = [];
    const listener = await broker.connect();
    onTestFinished(() => listener.endAsync(true));
    await listener.subscribeAsync("#", { qos: 1 });
    listener.on("message", (topic, payload, { properties }) => {
      if (properties?.correlationData) answers.push([topic, String(payload), String(properties.correlationData)]);
    });
    const ask = (bytes: Uint8Array | string, responseTopic: string, key: string): Promise<unknown> =>
      agent.publishAsync(TOPIC, Buffer.from(bytes), {
        qos: 1,
        properties: { responseTopic, correlationData: Buffer.from(key) },
      });
    await ask(detectionPacket(40), "boxwright/answers/a", "1");
    await ask(detectionPacket(40), "boxwright/answers/a", "2");
    // Nobody makes a host write elsewhere.
    await ask(detectionPacket(40), "boxwright/configs/a", "3");
    await ask("not a packet", "boxwright/answers/b", "4");
    const given = (): typeof answers => answers.filter(([topic]) => !topic.includes("/packets/"));
    await until(() => given().length === 3, "answers");
    expect(given()).toEqual([
      ["boxwright/answers/a", "{}", "1"],
      ["boxwright/answers/a", "{}", "2"],
      ["boxwright/answers/b", expect.stringMatching(/^\{"refused":".+"\}$/), "4"],
    ]);
  });

  test("previews come too", async () => {
    const { id, source, subject, time } = about(30);
    const userProperties = { id, source, subject: `${subject} 50 %`, time: new Date(time).toISOString() };
    const photo = readFileSync(new URL("../../../../test/fixtures/photos/chelsea.png", import.meta.url));
    await agent.publishAsync("boxwright/previews/a/b", photo, { properties: { userProperties } });
    await agent.publishAsync("boxwright/previews/a/b", "no picture", { properties: { userProperties } });
    await until(async () => (await host.metric("boxwright_host_previews_total")) === 1, "preview");
    await until(async () => (await host.metric('boxwright_host_refused_total{reason="picture",way="mqtt"}')) === 1);
  });

  test("wait in the session while the host is away", async () => {
    const options = { mqtt: broker.url, mqttClient: "sleeper" };
    const first = await testHost(options);
    await takesOver(first);
    await first.end();
    for (let n = 0; n < 50; n++) await publish(agent, detectionPacket(n, { source: "/devices/sleeper" }));
    const second = await testHost(options);
    onTestFinished(() => second.end());
    await until(async () => (await second.lines("source=/devices/sleeper")).length === 50, "what waited");
  });
});

describe.skipIf(!inject("mosquitto"))("a broker of MQTT", () => {
  const start = async (...given: Parameters<typeof Mosquitto.start>): Promise<Mosquitto> => {
    const broker = await Mosquitto.start(...given);
    onTestFinished(() => broker.remove());
    return broker;
  };

  test("that ends and comes back is found again, and keeps what waits", async () => {
    const broker = await start();
    const host = await testHost({ mqtt: broker.url });
    onTestFinished(() => host.end());
    await takesOver(host);
    for (let round = 0; round < 3; round++) {
      const agent = await broker.connect();
      await Promise.all(
        Array.from({ length: 10 }, (_, n) => publish(agent, detectionPacket(round * 10 + n, { id: `r${round}-${n}` }))),
      );
      await broker.kill("SIGTERM");
      await until(async () => (await fetch(`${host.url}/healthz`)).status === 503, "red health");
      await broker.start();
      await until(async () => (await fetch(`${host.url}/healthz`)).status === 200, "green health");
    }
    await until(async () => (await idsOf(host)).length === 30, "all frames");
  });

  test("has no packet twice or lost after a host was killed between message and store", async () => {
    const broker = await start();
    const folder = temporaryFolder();
    const options = { mqtt: broker.url, database: join(folder.path, "host.db") };
    let host = await HostProcess.start(options);
    const lines = async (): Promise<string[]> => {
      const text = await (await fetch(`${host.url}/v1/detections?limit=10000`)).text();
      return text.split("\n").filter(Boolean);
    };
    await host.says(/taking packets over MQTT/);
    const agent = await broker.connect();
    let sent = 0;
    for (let kill = 0; kill < 5; kill++) {
      const before = (await lines()).length;
      await Promise.all(Array.from({ length: 60 }, () => publish(agent, detectionPacket(sent, { id: `f${sent++}` }))));
      // Some are stored, the others are on their way.
      await until(async () => (await lines()).length > before, "the first frames");
      await host.end("SIGKILL");
      host = await HostProcess.start(options);
    }
    await until(async () => (await lines()).length === sent, "all frames");
    const ids = (await lines()).map((line) => (JSON.parse(line) as { id: string }).id);
    expect(new Set(ids).size).toBe(300);
    await host.end("SIGTERM");
    await agent.endAsync(true);
  });

  test("that refuses user or password is told in one line, without the password", async () => {
    const broker = await start({ login: { user: "host", pass: "right" } });
    const host = await testHost({ mqtt: broker.url.replace("//", "//host:very-wrong@") });
    onTestFinished(() => host.end());
    const text = 'Connection refused: Not authorized (user \\"host\\"): check user and password';
    await until(() => host.logs().includes(text), "the reason in the log");
    const { mqtt } = (await (await fetch(`${host.url}/healthz`)).json()) as { mqtt: string };
    expect(mqtt).toContain("check user and password");
    // The host tries again, and does not repeat itself.
    await until(() => broker.output.split("not authorised").length > 3, "three attempts");
    expect(host.logs().split("check user and password")).toHaveLength(2);
    expect(host.logs() + mqtt).not.toContain("very-wrong");
  });

  test("ends one of two hosts under one client id, which says what to look for", async () => {
    const broker = await start();
    const hosts = await Promise.all([1, 2].map(() => testHost({ mqtt: broker.url })));
    onTestFinished(async () => void (await Promise.all(hosts.map((host) => host.end()))));
    const said = (): string => hosts.map((host) => host.logs()).join("");
    await until(() => said().includes("under the same client id"), "the reason");
  });

  test("starts by the shipped configuration", async () => {
    const text = readFileSync(new URL("../../deploy/mosquitto.conf", import.meta.url), "utf8");
    // The tests have a port, a folder and users of their own.
    const own = /^(#|listener|allow_anonymous|persistence)/;
    const lines = text.split("\n").filter((line) => line !== "" && !own.test(line));
    expect(lines).toHaveLength(5);
    const broker = await start({ lines: lines.join("\n") });
    expect(broker.output).not.toMatch(/error|unknown|deprecated/i);
  });

  test("with TLS is trusted once its authority is named", async () => {
    const folder = temporaryFolder();
    const tls = makeCertificates(folder.path);
    const broker = await start({ tls });
    const options = { mqtt: broker.url, database: join(folder.path, "host.db") };
    const stranger = await HostProcess.start(options);
    await stranger.says(/unable to verify .*NODE_EXTRA_CA_CERTS/);
    await stranger.end("SIGTERM");
    const host = await HostProcess.start(options, [], { NODE_EXTRA_CA_CERTS: tls.ca });
    await host.says(/taking packets over MQTT/);
    await host.end("SIGTERM");
  });
});
