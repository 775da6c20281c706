/** A device that decodes a version in shadow of the one that it runs. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import type { DesiredShadow, ShadowReport } from "boxwright-service/schema/shadow";
import { readShadowReport } from "boxwright-service/schema/shadow";
import { until } from "boxwright-service/testing/wait";
import { Agent } from "../../src/agent.ts";
import { readSettings } from "../../src/settings/read.ts";
import { Runner } from "../../src/shadow/runner.ts";
import type { SeenFrame } from "../../src/network/network.ts";
import { CONFIG, MODEL, modelWithoutMetadata } from "../support/echo.ts";
import { temporaryFolder, writePhotos } from "../support/folder.ts";
import { FakeHost } from "../support/host.ts";
import { ADOPT_KEY, FakeHub, hashOf } from "../support/hub.ts";

const BYTES = readFileSync(MODEL);
/** The same network as another file: a version with it needs its own run. */
const OTHER = Buffer.from(modelWithoutMetadata());
const withThreshold = (confidence_threshold: number): Record<string, unknown> => ({
  ...CONFIG,
  nn_config: {
    ...CONFIG.nn_config,
    NN_specific_metadata: { ...CONFIG.nn_config.NN_specific_metadata, confidence_threshold },
  },
});

function desiredOf(config: Record<string, unknown>, more: Partial<DesiredShadow> = {}, model = BYTES): DesiredShadow {
  return {
    ...{ rollout: "r1", etag: "doors@2", against: "doors@1", every: 2, snaps: false },
    version: {
      application: { identifier: "doors", name: "Doors", version: 2, hash: "0123456789abcdef" },
      ...{ config, options: {}, snaps: [] },
      model: { sha256: hashOf(model), size: model.length, name: "network.onnx" },
    },
    ...more,
  };
}

async function setUp(hub: FakeHub) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "photos"));
  const host = await new FakeHost().start();
  onTestFinished(() => Promise.all([hub.stop(), host.stop()]).then(() => undefined));
  hub.interval = 1;
  hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
  let photos = 0;
  const start = async (): Promise<Agent> => {
    const settings = {
      state: "state",
      hub: { url: hub.url, adoptKey: ADOPT_KEY, name: "Front door" },
      sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
      sinks: [{ kind: "http", url: host.url }],
    };
    const agent = await Agent.start(readSettings(settings, folder), pino({ level: "silent" }));
    let isClosed = false;
    const close = agent.close.bind(agent);
    agent.close = () => (isClosed ? Promise.resolve() : ((isClosed = true), close()));
    onTestFinished(() => agent.close());
    void agent.run();
    return agent;
  };
  const last = (): ShadowReport | null => {
    const given = hub.beats.at(-1)?.shadow;
    return given === undefined ? null : readShadowReport(given);
  };
  /** Sends photos, one at a time, until the last report is as wanted. */
  const sendUntil = async (what: string, wanted: (report: ShadowReport) => boolean): Promise<ShadowReport> => {
    await until(async () => {
      const before = host.stored.size;
      await writePhotos(join(folder, "photos"), 1, photos++);
      await until(() => host.stored.size === before + 1, "a packet");
      const report = last();
      return report !== null && wanted(report);
    }, what);
    return last()!;
  };
  return { folder, host, start, last, sendUntil };
}

describe("a version in shadow", () => {
  it("that only decodes otherwise is compared over the same tensors, each Nth frame, over a restart", async () => {
    const hub = await new FakeHub().start();
    const { host, start, sendUntil, last } = await setUp(hub);
    // The cat of each photo has a confidence of 230 / 255.
    hub.shadow = desiredOf(withThreshold(0.95), { snaps: true });
    const agent = await start();
    const report = await sendUntil("eight compared frames", ({ frames }) => frames >= 8);
    expect(report).toMatchObject({ rollout: "r1", version: "doors@2", against: "doors@1", state: "comparing" });
    expect(report).toMatchObject({ empty: 0, matched: 0, changed: 0, only_old: report.frames, only_new: 0 });
    expect(report.confidence.old).toBeCloseTo(230 / 255, 2);
    expect(report.confidence.new).toBeNull();
    for (const pair of [report.decode_ms, report.frame_ms, report.memory])
      for (const value of [pair.old, pair.new]) expect(value).toBeGreaterThan(0);
    // The agent still sends packets of the version in use.
    expect([...host.stored.values()].every(({ detections }) => detections!.length === 1)).toBe(true);
    expect(hub.beats.at(-1)!.frames).toBeGreaterThanOrEqual(2 * report.frames);
    expect(hub.ranges).toHaveLength(1);
    // One snap: no later frame disagrees more.
    await until(() => hub.files.size > 0, "the snap");
    const [snap, ...others] = [...hub.snaps.values()];
    expect(others).toEqual([]);
    expect(snap).toMatchObject({ name: "disagreement", extras: { rollout: "r1", boxes: "1" } });
    expect((snap!.event as { data: { detections: object[] } }).data.detections).toMatchObject([{ label: "old: cat" }]);

    await agent.close();
    await start();
    const later = await sendUntil("more frames than before the restart", ({ frames }) => frames > report.frames);
    expect(later.only_old).toBe(later.frames);
    hub.shadow = null;
    await until(() => last() === null, "a heartbeat without a shadow");
  });

  it("with another model runs it beside the one in use", async () => {
    const hub = await new FakeHub().start();
    hub.shadowModel = OTHER;
    const { start, sendUntil } = await setUp(hub);
    hub.shadow = desiredOf(withThreshold(0.5), { every: 1 }, OTHER);
    await start();
    const report = await sendUntil("three compared frames", ({ frames }) => frames >= 3);
    expect(report).toMatchObject({ state: "comparing", matched: report.frames, only_old: 0, only_new: 0, empty: 0 });
    expect(report.confidence.new).toBeCloseTo(report.confidence.old!, 5);
  });

  it("that cannot decode the tensors has failed, and the version in use goes on", async () => {
    const hub = await new FakeHub().start();
    const { start, sendUntil, host } = await setUp(hub);
    hub.shadow = desiredOf({ family: "ssd", classes: 3, input_size: "32x24" }, { every: 1 });
    await start();
    const { error } = await sendUntil("the failure", ({ state }) => state === "failed");
    expect(error).toMatchObject({ code: "version" });
    expect([...host.stored.values()].every(({ detections }) => detections!.length === 1)).toBe(true);
  });
});

describe("the process of a shadow", () => {
  const seen = { times: { prepare: 1, run: 5, pack: 1 }, outputs: {}, frame: {}, image: {} } as unknown as SeenFrame;
  const READY = `process.send({ kind: "ready", needs: "outputs" });`;

  /** Runs a file in place of the process, and gives it frames until it fails. Only a test of a hang waits little. */
  async function failureOf(text: string, frameMs = 60_000): Promise<string> {
    const file = join(temporaryFolder(), "child.mjs");
    writeFileSync(file, text);
    let failure = "";
    const runner = new Runner({
      ...{ file, every: 1, frameMs, start: {} as never, onCompared: () => undefined },
      onFailed: ({ code, message }) => (failure += `${code}: ${message}`),
    });
    onTestFinished(() => runner.close());
    await until(() => (runner.offer(seen), failure !== ""), "the failure");
    runner.offer(seen);
    return failure;
  }

  it("fails once if it crashes, hangs, or ends, and takes no frame afterwards", async () => {
    expect(await failureOf(`${READY} process.on("message", ({ kind }) => kind === "frame" && process.abort());`)).toBe(
      "crashed: the process of the shadow ended with SIGABRT",
    );
    const hang = `${READY} process.on("message", ({ kind }) => { while (kind === "frame"); });`;
    expect(await failureOf(hang, 300)).toBe("hung: the version did not decode a frame within 0.3 s");
    expect(await failureOf("process.exit(3)")).toBe("crashed: the process of the shadow ended with exit code 3");
    expect(await failureOf(`process.send({ kind: "failed", message: "no" }); setInterval(() => {}, 99);`)).toBe(
      "version: no",
    );
  });

  it("takes no more time than the frames that it compares", async () => {
    // Each answer took 60 ms, and each frame pays 7 ms: after the first five, the shadow gets one of nine.
    const file = join(temporaryFolder(), "child.mjs");
    const answer = `process.send({ kind: "compared", frame: {}, difference: { count: 0 }, took: 60 })`;
    writeFileSync(file, `${READY} process.on("message", ({ kind }) => kind === "frame" && ${answer});`);
    let compared = 0;
    let offered = 0;
    const runner = new Runner({
      ...{ file, every: 1, start: {} as never, onFailed: () => undefined },
      onCompared: () => compared++,
    });
    onTestFinished(() => runner.close());
    await until(() => compared === 6 || (runner.offer(seen), false), "six frames");
    const credit = 7 - 60;
    for (offered = 0; credit + 7 * offered <= 0; offered++) runner.offer(seen);
    expect([compared, offered]).toEqual([6, 8]);
    await until(() => compared === 7, "the frame that is paid");
  });
});
