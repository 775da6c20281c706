/** Disks that are full, configs that do not fit, and what health and metrics say of them. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONFIG, MODEL, photoOf } from "../support/echo.ts";
import { photoFolder } from "../support/folder.ts";
import { readerOf } from "../support/health.ts";
import { FakeHost } from "../support/host.ts";
import { startProcess, writeSettings } from "../support/process.ts";
import type { Child } from "boxwright-service/testing/child";
import { until } from "boxwright-service/testing/wait";

async function setUp(count: number): Promise<{ folder: string; host: FakeHost; settings: Record<string, unknown> }> {
  const host = await new FakeHost().start();
  onTestFinished(() => host.stop());
  const { folder, settings } = await photoFolder(count, { kind: "http", url: host.url }, null);
  const network = { model: MODEL, output_format: "detection" };
  return { folder, host, settings: { ...settings, network, health: { port: 0 }, log: "info" } };
}

/** Runs the agent with a disk of its own for its state: `size` bytes, in a mount namespace that ends with it. */
function startOnSmallDisk(path: string, state: string, size: string): Child {
  const isRoot = process.getuid?.() === 0;
  const script = `mount -t tmpfs -o size=${size} none "$1" && shift && exec "$@"`;
  return startProcess([path], {}, ["unshare", isRoot ? "-m" : "-rm", "sh", "-c", script, "sh", state]);
}

describe("a disk that is full", () => {
  it("by the policy block: frames wait, health says so, and none is lost", async () => {
    const { folder, host, settings } = await setUp(400);
    mkdirSync(join(folder, "state"));
    await host.stop();
    const spool = { policy: "block", maxBytes: 2 ** 30 };
    const path = writeSettings(folder, { ...settings, spool });
    const agent = startOnSmallDisk(path, join(folder, "state"), "180k");
    const { health } = await readerOf(agent);
    await until(async () => (await health()).spool.disk !== null, "the full disk");
    const state = await health();
    expect(state.code).toBe(503);
    expect(state.problems.join()).toContain("ENOSPC");
    expect(state.spool.dropped).toEqual({ cap: 0, disk: 0, "too large": 0 });
    await host.start();
    const { code, text } = await agent.ended;
    expect(text).toContain("400 frames sent, 0 failed, 0 lost");
    expect(code).toBe(0);
    expect(host.stored.size).toBe(400);
  });

  it("by the policy drop-oldest: the oldest go, each is counted, and the newest arrive", async () => {
    const { folder, host, settings } = await setUp(400);
    mkdirSync(join(folder, "state"));
    await host.stop();
    const sources = [{ kind: "folder", camera: "door", path: "photos", watch: true }];
    const spool = { policy: "drop-oldest", maxBytes: 2 ** 18 };
    const path = writeSettings(folder, { ...settings, sources, spool });
    const agent = startOnSmallDisk(path, join(folder, "state"), "180k");
    const { health } = await readerOf(agent);
    const isOver = async (): Promise<boolean> => {
      const { spooled, lost } = (await health()).cameras[0];
      return spooled + lost === 400;
    };
    await until(isOver, "all photos");
    const state = await health();
    expect(state.code).toBe(503);
    const dropped = state.spool.dropped.disk + state.spool.dropped.cap;
    expect(state.spool.dropped.disk).toBeGreaterThan(0);
    await host.start();
    await until(() => host.stored.size + dropped === 400, "what is left");
    agent.kill("SIGTERM");
    await agent.ended;
    // Packets overtake each other on their way.
    const [last] = [...host.stored.values()].sort((a, b) => b.sequence! - a.sequence!);
    expect(Math.round(last!.detections![0]!.x_min * 255)).toBe(199);
  });
});

describe("the cap of the spool", () => {
  it("drop-oldest: what was dropped and what arrived is all there was", async () => {
    const { folder, host, settings } = await setUp(300);
    await host.stop();
    const sources = [{ kind: "folder", camera: "door", path: "photos", watch: true }];
    const spool = { policy: "drop-oldest", maxBytes: 2 ** 16 };
    const agent = startProcess([writeSettings(folder, { ...settings, sources, spool })]);
    const { health } = await readerOf(agent);
    await until(async () => (await health()).cameras[0].spooled === 300, "all photos");
    const state = await health();
    expect(state.problems.join()).toMatch(/packets dropped so far/);
    expect(state.spool.bytes).toBeLessThanOrEqual(2 ** 16);
    await host.start();
    const { cap } = state.spool.dropped;
    await until(() => host.stored.size + cap === 300, "what is left");
    await until(async () => (await health()).spool.packets === 0, "the last acknowledgement");
    agent.kill("SIGTERM");
    const { code, text } = await agent.ended;
    expect(code).toBe(0);
    expect(text).toContain(`${300 - cap} frames sent, 0 failed, ${cap} lost`);
    expect(text).toContain("the spool is full: dropped its oldest packets");
  });

  it("drop-oldest: a run over recorded photos that loses some says so and exits with 1", async () => {
    const { folder, host, settings } = await setUp(300);
    await host.stop();
    const spool = { policy: "drop-oldest", maxBytes: 2 ** 16 };
    const agent = startProcess([writeSettings(folder, { ...settings, spool })]);
    const { health } = await readerOf(agent);
    await until(async () => (await health()).cameras[0].spooled === 300, "all photos");
    const { cap } = (await health()).spool.dropped;
    await host.start();
    const { code, text } = await agent.ended;
    expect(code).toBe(1);
    expect(cap).toBeGreaterThan(0);
    expect(text).toContain(`${300 - cap} frames sent, 0 failed, ${cap} lost`);
  });
});

describe("a config", () => {
  it("that does not fit the network is told at the start, and refused while the agent runs", async () => {
    const { folder, host, settings } = await setUp(1);
    const config = join(folder, "config.json");
    const mobilenet = { output_format: "detection", NN_family: "mobilenet", input_size: "32x24" };
    const unfit = JSON.stringify({ nn_config: mobilenet, mappings: { labels: ["a", "b"] } });
    writeFileSync(config, unfit);
    const file = writeSettings(folder, {
      ...settings,
      network: { model: MODEL, config: "config.json" },
      sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
    });
    const refused = await startProcess([file]).ended;
    expect(refused.text).toMatch(/got output0 \[1,384,6\], expected for ssd/);
    expect(refused.code).toBe(2);
    writeFileSync(config, JSON.stringify(CONFIG));
    const agent = startProcess([file]);
    const { health } = await readerOf(agent);
    writeFileSync(`${config}.new`, unfit);
    renameSync(`${config}.new`, config);
    await until(async () => (await health()).config.state === "failed", "the refusal");
    expect((await health()).problems[0]).toMatch(/config: got output0/);
    writeFileSync(`${config}.new`, JSON.stringify(CONFIG));
    renameSync(`${config}.new`, config);
    await until(async () => (await health()).config.state === "applied", "the good config");
    writeFileSync(join(folder, "photos", "later.png"), await photoOf(50));
    await until(() => host.stored.size >= 1, "a packet");
    const good = await health();
    expect(good.code).toBe(200);
    writeFileSync(config, '{"nn_config": {');
    await until(async () => (await health()).config.state === "failed", "the refusal");
    expect((await health()).code).toBe(503);
    writeFileSync(join(folder, "photos", "last.png"), await photoOf(51));
    await until(
      () => [...host.stored.values()].some(({ detections }) => detections![0]!.x_min > 50.5 / 255),
      "a packet",
    );
    agent.kill("SIGTERM");
    const { code, text } = await agent.ended;
    expect(code).toBe(0);
    expect(text).toContain("config refused, the last good one stays");
  });

  it("of another input size than the model's is refused at the start, by --check and while the agent runs", async () => {
    const { folder, settings } = await setUp(1);
    const config = join(folder, "config.json");
    const write = (size: string): void => {
      writeFileSync(
        `${config}.new`,
        JSON.stringify({ ...CONFIG, nn_config: { ...CONFIG.nn_config, input_size: size } }),
      );
      renameSync(`${config}.new`, config);
    };
    const path = writeSettings(folder, {
      ...settings,
      network: { model: MODEL, config: "config.json" },
      sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
    });
    const refusal = /inputSize: got 64x48, but the network's input images \[1,3,24,32\] takes 32x24/;
    write("64x48");
    for (const more of [[], ["--check"]]) {
      const { code, text } = await startProcess([path, ...more]).ended;
      expect(text).toMatch(refusal);
      expect(code).toBe(2);
    }
    write("32x24");
    const agent = startProcess([path]);
    const { health } = await readerOf(agent);
    write("64x48");
    await until(async () => (await health()).config.state === "failed", "the refusal");
    expect((await health()).problems[0]).toMatch(refusal);
    agent.kill("SIGTERM");
    await agent.ended;
  });

  it("that changes while frames run loses none", async () => {
    const { folder, host, settings } = await setUp(400);
    const config = join(folder, "config.json");
    const write = (threshold: number): void => {
      const metadata = { ...CONFIG.nn_config.NN_specific_metadata, confidence_threshold: threshold };
      const text = JSON.stringify({ ...CONFIG, nn_config: { ...CONFIG.nn_config, NN_specific_metadata: metadata } });
      writeFileSync(`${config}.new`, text);
      renameSync(`${config}.new`, config);
    };
    write(0.5);
    // The spool holds about a hundred packets: the agent stops at this one until it has applied another config.
    host.answer = async (_, count) => {
      if (count >= 100) await until(() => agent.output.includes("applied"), "another config");
      return null;
    };
    const agent = startProcess([
      writeSettings(folder, {
        ...settings,
        log: "info",
        network: { model: MODEL, config: "config.json" },
        spool: { maxBytes: 2 ** 16 },
      }),
    ]);
    let isOver = false;
    void agent.ended.then(() => (isOver = true));
    for (let n = 0; !isOver; n++) {
      write(0.3 + (n % 5) / 10);
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    const { code } = await agent.ended;
    expect(code).toBe(0);
    expect(host.stored.size).toBe(400);
    expect(new Set([...host.stored.values()].map((packet) => packet.config)).size).toBeGreaterThan(1);
  });
});

describe("an NDJSON file", () => {
  it("of an agent that is killed has every photo, and whole lines only", async () => {
    const { folder, settings } = await setUp(600);
    const sinks = [{ kind: "ndjson", path: "out.ndjson" }];
    const path = writeSettings(folder, { ...settings, sinks });
    const count = (): number => {
      try {
        return readFileSync(join(folder, "out.ndjson"), "utf8").split("\n").length - 1;
      } catch {
        return 0;
      }
    };
    for (const target of [100, 250, 400]) {
      const agent = startProcess([path]);
      await until(() => count() >= target, `${target} lines`);
      agent.kill("SIGKILL");
      await agent.ended;
    }
    expect((await startProcess([path]).ended).code).toBe(0);
    const lines = readFileSync(join(folder, "out.ndjson"), "utf8").trimEnd().split("\n");
    const ids = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
    expect(ids.size).toBe(600);
  });
});
