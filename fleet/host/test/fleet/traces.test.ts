/** The trace of a frame from the camera to its row, over each protocol. Agent and host are the built commands. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Broker } from "boxwright-service/testing/broker";
import { Child } from "boxwright-service/testing/child";
import { type CollectedSpan, Collector } from "boxwright-service/testing/collector";
import { Mosquitto } from "boxwright-service/testing/mosquitto";
import { until } from "boxwright-service/testing/wait";
import { afterEach, describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";
import { runAgent } from "./agent.ts";
import { configOf, onnx } from "./network.ts";
import { writePhotos } from "./photos.ts";

const isComplete = Boolean(inject("nats") && inject("mosquitto") && inject("agent"));
const PHOTOS = 3;
const DEVICE = "/devices/traced";

/** Runs an agent and a host. Returns their spans, or null if one of them dropped spans: the collector was too slow. */
async function trace(): Promise<CollectedSpan[] | null> {
  const folder = temporaryFolder();
  const collector = await new Collector().start();
  const [nats, mqtt] = await Promise.all([Broker.start(), Mosquitto.start()]);
  const brokers = { nats: nats.url, mqtt: mqtt.url };
  const database = join(folder.path, "host.db");
  const host = await HostProcess.start({ database, ...brokers, traces: collector.url });
  // The host connects in the background. It is healthy once it takes packets of both brokers.
  await until(async () => (await fetch(`${host.url}/healthz`)).ok, "both brokers");
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
  const log = await runAgent(join(folder.path, "agent"), settings);
  // A frame that its agent does not trace has no trace at the host.
  await runAgent(join(folder.path, "quiet"), { ...settings, device: "/devices/quiet", traces: null });
  // NATS has acknowledged packets that the host may not have taken yet.
  await until(async () => (await rowsAt(host)) >= 2 * PHOTOS * settings.sinks.length, "all packets at the host");
  expect(await host.end("SIGTERM")).toBe(0);
  await Promise.all([nats.remove(), mqtt.remove(), collector.stop()]);
  folder.remove();
  return [log, host.output].some((text) => text.includes("traces are dropped")) ? null : collector.spans;
}

/** Returns the number of packets that a host has stored, or had stored already. */
async function rowsAt(host: HostProcess): Promise<number> {
  const text = await (await fetch(`${host.url}/metrics`)).text();
  const counts = text.matchAll(/^boxwright_host_(?:stored|duplicates)_total\S* (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.skipIf(!isComplete)("traces of an agent and a host", () => {
  afterEach(() => Child.killAll());

  it("lead from the camera to the row by HTTP, NATS and MQTT", async () => {
    let spans: CollectedSpan[] | null = null;
    // Spans are dropped if the collector does not answer in time, as on a machine that stood still.
    for (let tries = 0; spans === null && tries < 3; tries++) spans = await trace();
    checkSpans(spans!);
  });
});

function checkSpans(spans: readonly CollectedSpan[]): void {
  const below = (parent: CollectedSpan): CollectedSpan[] =>
    spans.filter(({ parentSpanId, traceId }) => parentSpanId === parent.spanId && traceId === parent.traceId);
  /** The host refuses a packet with an unknown config, asks for the config, and gets both. */
  const accepted = (list: readonly CollectedSpan[]): CollectedSpan[] =>
    list.filter(({ attributes }) => attributes["boxwright.refused"] === undefined);
  const frames = spans.filter(({ name }) => name === "frame");
  expect(frames).toHaveLength(PHOTOS);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(PHOTOS);
  for (const frame of frames) {
    expect(frame).toMatchObject({ service: "boxwright-agent", parentSpanId: undefined, problem: undefined });
    expect(frame.attributes).toMatchObject({ "boxwright.camera": "gate", "boxwright.kind": "raw" });
    // An attempt that a busy host or broker did not answer in time is repeated.
    const sends = below(frame).filter(({ attributes }) => attributes["boxwright.outcome"] === "stored");
    const steps = below(frame).filter(({ name }) => name !== "send");
    expect(steps.map(({ name }) => name).sort()).toEqual(["pack", "prepare", "run", "spool"]);
    expect(sends.map(({ attributes }) => attributes["boxwright.sink"]).sort()).toEqual(["http", "mqtt", "nats"]);
    for (const send of sends) {
      expect(send.from >= frame.from).toBe(true);
      const receives = accepted(below(send));
      expect(receives.length).toBeGreaterThan(0);
      for (const receive of receives) {
        expect([receive.name, receive.service]).toEqual(["receive", "boxwright-host"]);
        expect(receive.attributes["boxwright.way"]).toBe(send.attributes["boxwright.sink"]);
        expect(below(receive).map(({ name }) => name)).toEqual(["decode", "store"]);
      }
    }
    const receives = accepted(spans.filter(({ name, traceId }) => name === "receive" && traceId === frame.traceId));
    expect(receives.filter(({ attributes }) => attributes["boxwright.duplicate"] === false)).toHaveLength(1);
  }
}
