/** The trace of a frame from the camera to its row, over each protocol. Agent and host are the built commands. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Broker } from "boxwright-service/testing/broker";
import { Child } from "boxwright-service/testing/child";
import { type CollectedSpan, Collector } from "boxwright-service/testing/collector";
import { Mosquitto } from "boxwright-service/testing/mosquitto";
import { afterEach, describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";
import { runAgent } from "./agent.ts";
import { configOf, onnx } from "./network.ts";
import { writePhotos } from "./photos.ts";

const isComplete = Boolean(inject("nats") && inject("mosquitto") && inject("agent"));
const PHOTOS = 3;
const DEVICE = "/devices/traced";

describe.skipIf(!isComplete)("traces of an agent and a host", () => {
  afterEach(() => Child.killAll());

  it("lead from the camera to the row by HTTP, NATS and MQTT", async () => {
    const folder = temporaryFolder();
    const collector = await new Collector().start();
    const [nats, mqtt] = await Promise.all([Broker.start(), Mosquitto.start()]);
    const brokers = { nats: nats.url, mqtt: mqtt.url };
    const database = join(folder.path, "host.db");
    const host = await HostProcess.start({ database, ...brokers, traces: collector.url });
    mkdirSync(join(folder.path, "photos"));
    writePhotos(join(folder.path, "photos"), PHOTOS);
    writeFileSync(join(folder.path, "network.onnx"), onnx());
    writeFileSync(join(folder.path, "raw.json"), JSON.stringify(configOf("raw")));
    const settings = {
      device: DEVICE,
      network: { model: join(folder.path, "network.onnx"), config: join(folder.path, "raw.json"), threads: 1 },
      sources: [{ kind: "folder", camera: "gate", path: join(folder.path, "photos") }],
      sinks: [
        { kind: "http", url: host.url },
        { kind: "nats", servers: [nats.url] },
        { kind: "mqtt", url: mqtt.url },
      ],
      traces: { url: collector.url, share: 1 },
    };
    await runAgent(join(folder.path, "agent"), settings);
    // A frame that its agent does not trace has no trace at the host.
    await runAgent(join(folder.path, "quiet"), { ...settings, device: "/devices/quiet", traces: null });
    expect(await host.end("SIGTERM")).toBe(0);
    await Promise.all([nats.remove(), mqtt.remove(), collector.stop()]);
    folder.remove();

    const { spans } = collector;
    const below = (parent: CollectedSpan): CollectedSpan[] =>
      spans.filter(({ parentSpanId, traceId }) => parentSpanId === parent.spanId && traceId === parent.traceId);
    const accepted = (list: readonly CollectedSpan[]): CollectedSpan[] =>
      list.filter(({ attributes }) => attributes["boxwright.refused"] !== "unknown config");
    const frames = spans.filter(({ name }) => name === "frame");
    expect(frames).toHaveLength(PHOTOS);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(PHOTOS);
    for (const frame of frames) {
      expect(frame).toMatchObject({ service: "boxwright-agent", parentSpanId: undefined, problem: undefined });
      expect(frame.attributes).toMatchObject({ "boxwright.camera": "gate", "boxwright.kind": "raw" });
      const names = below(frame).map(({ name }) => name);
      expect(names.sort()).toEqual(["pack", "prepare", "run", "send", "send", "send", "spool"]);
      const sends = below(frame).filter(({ name }) => name === "send");
      for (const send of sends) {
        expect(send.attributes).toMatchObject({ "boxwright.outcome": "stored" });
        expect(send.from >= frame.from).toBe(true);
        // The host refuses the first packet, asks for the config, and gets both.
        const [receive, ...more] = accepted(below(send));
        expect([receive?.name, receive?.service, more]).toEqual(["receive", "boxwright-host", []]);
        expect(receive!.attributes["boxwright.way"]).toBe(String(send.attributes["boxwright.sink"]).split(" ")[0]);
        expect(below(receive!).map(({ name }) => name)).toEqual(["decode", "store"]);
      }
      const receives = accepted(sends.flatMap(below));
      expect(receives.filter(({ attributes }) => attributes["boxwright.duplicate"] === false)).toHaveLength(1);
    }
    expect(spans.filter(({ problem }) => problem?.includes("config") !== true)).toHaveLength(PHOTOS * (1 + 4 + 3 * 4));
  });
});
