/** Tests what the host announces over Debian's mosquitto: ONVIF scenes and Home Assistant's sensors. */
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import type { MqttClient } from "mqtt";
import { Mosquitto } from "boxwright-service/testing/mosquitto";
import { until } from "boxwright-service/testing/wait";
import { decoder, detectionPacket, outputsOf } from "../support/frames.ts";
import { HomeAssistant, type Message } from "../../src/announce/home-assistant.ts";
import { levelOf } from "boxwright-service/level";
import { sceneOf } from "../../src/announce/onvif.ts";
import { type TestHost, testHost } from "../support/host.ts";

const box = { x_min: 0.25, y_min: 0.1, x_max: 0.75, y_max: 0.5, confidence: 0.8125 };

test("a scene has ONVIF's coordinates: from the middle, -1 to 1, upwards", () => {
  const time = "2026-01-01T00:00:00.123456789Z";
  expect(
    sceneOf(time, [
      { ...box, label: "person", track_id: 15 },
      { ...box, label: "pallet" },
    ]),
  ).toEqual({
    Frame: [
      {
        "@UtcTime": "2026-01-01T00:00:00.123Z",
        "@Source": "boxwright",
        Object: [
          {
            "@ObjectId": 15,
            Appearance: {
              Shape: {
                BoundingBox: { "@left": -0.5, "@top": 0.8, "@right": 0.5, "@bottom": 0 },
                CenterOfGravity: { "@x": 0, "@y": 0.4 },
              },
              Class: {
                Type: [
                  { "@Likelihood": 0.8125, "#text": "Human" },
                  { "@Likelihood": 0.8125, "#text": "person" },
                ],
              },
            },
          },
          expect.objectContaining({
            "@ObjectId": 1,
            Appearance: expect.objectContaining({ Class: { Type: [{ "@Likelihood": 0.8125, "#text": "pallet" }] } }),
          }),
        ],
      },
    ],
  });
  expect(sceneOf(time, [])).toMatchObject({ Frame: [{ Object: [] }] });
});

test("a label counts for three seconds, is said again after twenty, and a silent camera says nothing", () => {
  const home = new HomeAssistant("boxwright", "homeassistant", () => undefined);
  const place = { source: "/devices/1", subject: "door" };
  const dog = { ...box, label: "dog" };
  const counts = (at: number): number[] => home.states(at).map(({ payload }) => JSON.parse(payload).count as number);
  expect(home.take(place, [dog, dog], 0)).toHaveLength(2);
  expect(home.take(place, [dog], 500)).toEqual([]);
  expect(counts(1000)).toEqual([2]);
  expect(counts(2000)).toEqual([]);
  expect(counts(3200)).toEqual([1]);
  home.take(place, [], 4000);
  expect(counts(4000)).toEqual([0]);
  expect(counts(23_000)).toEqual([]);
  home.take(place, [], 23_900);
  expect(counts(24_000)).toEqual([0]);
  expect(counts(60_000)).toEqual([]);
  // A new start of Home Assistant hears all again.
  expect(home.configs()).toHaveLength(2);
  home.take(place, [dog], 61_000);
  expect(counts(61_000)).toEqual([1]);
});

test("a camera is announced with its device, again once the hub's name of the device is known", () => {
  const names = new Map<string, string>();
  const home = new HomeAssistant("boxwright", "homeassistant", (source) => names.get(source));
  const nameOf = ({ payload }: Message): unknown => JSON.parse(payload).device?.name;
  const [dog] = [{ ...box, label: "dog" }];
  for (const [source, subject, name] of [
    ["/devices/hall-12ab", "photos", "photos (hall-12ab)"],
    ["device:77", "photos", "photos (77)"],
    ["device:78", "", "78"],
    ["device:", "photos", "photos (device:)"],
  ] as const)
    expect(home.take({ source, subject }, [dog], 0).map(nameOf)).toEqual([name, name]);
  home.states(0);
  names.set("device:77", "Gate");
  expect(home.states(1).map(nameOf)).toEqual(["photos (Gate)", "photos (Gate)"]);
  expect(home.states(2)).toEqual([]);
});

describe.skipIf(!inject("mosquitto"))("over mosquitto", () => {
  let broker: Mosquitto;
  let client: MqttClient;
  let host: TestHost | undefined;
  let messages: Map<string, { text: string; retain: boolean }[]>;
  const last = (topic: string): string | undefined => messages.get(topic)?.at(-1)?.text;

  beforeEach(async () => {
    broker = await Mosquitto.start();
    client = await broker.connect();
    messages = new Map();
    client.on("message", (topic, payload, { retain }) => {
      messages.set(topic, [...(messages.get(topic) ?? []), { text: String(payload), retain }]);
    });
    await client.subscribeAsync("#", { qos: 1 });
    host = await testHost({ announceMqtt: broker.url });
    await until(() => Promise.resolve(last("boxwright/status") === "online"), "the status");
  });
  afterEach(async () => {
    await host?.end();
    await client.endAsync(true);
    await broker.remove();
  });

  test("every frame is a scene, and each label a sensor that Home Assistant finds", async () => {
    const time = new Date();
    await host!.post(detectionPacket(0, { subject: "front door", time }));
    const scenes = `boxwright/${levelOf("/devices/1")}/onvif-mj/VideoAnalytics/${levelOf("front door")}/boxwright`;
    await until(() => Promise.resolve(last(scenes) !== undefined), "a scene");
    const labels = decoder
      .decode(outputsOf(0))
      .toArray()
      .map(({ label }) => label);
    const [frame] = JSON.parse(last(scenes)!).Frame;
    expect(frame["@UtcTime"]).toBe(time.toISOString());
    expect(frame.Object.map((one: any) => one.Appearance.Class.Type.at(-1)["#text"])).toEqual(labels);

    const configs = (): [string, any][] =>
      [...messages]
        .filter(([topic]) => topic.startsWith("homeassistant/"))
        .map(([topic, all]) => [topic, JSON.parse(all.at(-1)!.text)]);
    const kinds = new Set(labels);
    await until(() => Promise.resolve(configs().length === 2 * kinds.size), "the sensors");
    for (const [topic, config] of configs()) {
      expect(topic).toMatch(/^homeassistant\/(binary_sensor|sensor)\/boxwright\/[0-9a-f_]+(seen|count)\/config$/);
      expect(config).toMatchObject({
        availability_topic: "boxwright/status",
        device: { name: "front door (1)", model: "/devices/1" },
        expire_after: 60,
      });
      await until(() => Promise.resolve(last(config.state_topic) !== undefined), "a state");
      expect(JSON.parse(last(config.state_topic)!).count).toBeGreaterThan(0);
    }
    expect(new Set(configs().map(([, { unique_id }]) => unique_id)).size).toBe(2 * kinds.size);
    // Home Assistant that starts later finds the sensors: the broker keeps them, and the status.
    const later = await broker.connect();
    const kept = new Set<string>();
    later.on("message", (topic, _, { retain }) => void (retain && kept.add(topic)));
    await later.subscribeAsync("#", { qos: 1 });
    await until(() => Promise.resolve(kept.size === 2 * kinds.size + 1), "what the broker keeps");
    expect(kept).toContain("boxwright/status");
    await later.endAsync(true);
    expect((await (await fetch(`${host!.url}/healthz`)).json()).announcing).toBe("ok");
  });

  test("an old frame is a scene and no sensor, and a host that ends says so", async () => {
    await host!.post(detectionPacket(0));
    const scenes = `boxwright/${levelOf("/devices/1")}/onvif-mj/VideoAnalytics/door/boxwright`;
    await until(() => Promise.resolve(last(scenes) !== undefined), "a scene");
    expect([...messages.keys()].filter((topic) => topic.startsWith("homeassistant/"))).toEqual([]);
    await host!.end();
    host = undefined;
    await until(() => Promise.resolve(last("boxwright/status") === "offline"), "the last word");
  });

  test("frames are stored while the broker is away, and told again once it is back", async () => {
    await broker.kill();
    expect((await host!.post(detectionPacket(0, { time: new Date() }))).status).toBe(204);
    await until(async () => (await (await fetch(`${host!.url}/healthz`)).json()).announcing !== "ok", "the problem");
    expect(await host!.metric('boxwright_host_announced_total{outcome="dropped"}')).toBeGreaterThan(0);
  });
});
