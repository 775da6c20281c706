/** The agent as a process, and a host that fails, waits, dies. */
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDecoderSync } from "boxwright";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONFIG, modelWithoutMetadata } from "../support/echo.ts";
import { photoFolder } from "../support/folder.ts";
import { readerOf } from "../support/health.ts";
import { FakeHost } from "../support/host.ts";
import { startProcess, writeSettings } from "../support/process.ts";
import { until } from "boxwright-service/testing/wait";

interface Setup {
  readonly folder: string;
  readonly photos: string;
  readonly host: FakeHost;
  readonly settings: Record<string, unknown>;
}

async function setUp(count: number, config: object | null = CONFIG): Promise<Setup> {
  const host = await new FakeHost().start();
  onTestFinished(() => host.stop());
  return { host, ...(await photoFolder(count, { kind: "http", url: host.url }, config)) };
}

const leftEdges = (host: FakeHost): number[] =>
  [...host.stored.values()].map((packet) => Math.round(packet.detections![0]!.x_min * 255)).sort((a, b) => a - b);

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe("a folder of photos over HTTP", () => {
  it("sends detections, each photo once", async () => {
    const { folder, host, settings } = await setUp(40);
    const { code, text } = await startProcess([writeSettings(folder, settings)]).ended;
    expect(text).toContain("40 frames sent, 0 failed, 0 lost");
    expect(code).toBe(0);
    expect(leftEdges(host)).toEqual(range(40));
    const [packet] = host.stored.values();
    expect(packet).toMatchObject({ kind: "detection", source: "/devices/7", subject: "front door" });
    expect(packet!.detections![0]).toMatchObject({ label: "cat", class_id: 0 });
    expect(packet!.detections![0]!.confidence).toBeCloseTo(230 / 255, 6);
  });

  it("sends tensors, uploads the config that the host asks for, and both ways give the same detections", async () => {
    const raw = { ...CONFIG, nn_config: { ...CONFIG.nn_config, output_format: "raw" } };
    const { folder, host, settings } = await setUp(5, raw);
    host.needsConfigs = true;
    expect((await startProcess([writeSettings(folder, settings)]).ended).code).toBe(0);
    expect(host.stored.size).toBe(5);
    const [[hash, json] = ["", ""]] = host.configs;
    const { config, options } = JSON.parse(json) as { config: object; options: object };
    const decoder = createDecoderSync(config, options);
    expect(decoder.configHash).toBe(hash);
    const decoded = new Map(
      [...host.stored].map(([key, packet]) => {
        expect(packet).toMatchObject({ kind: "raw", config: hash });
        return [key, decoder.receive(packet).toArray()];
      }),
    );
    writeFileSync(join(folder, "config.json"), JSON.stringify(CONFIG));
    host.stored.clear();
    expect((await startProcess([writeSettings(folder, settings)]).ended).code).toBe(0);
    const found = new Map([...host.stored].map(([key, packet]) => [key, packet.detections]));
    expect(found).toEqual(decoded);
    expect(found.size).toBe(5);
  });

  it("sends tensors without a hash if nothing says how to decode", async () => {
    const { folder, host, settings } = await setUp(3, null);
    writeFileSync(join(folder, "model.onnx"), modelWithoutMetadata());
    const network = { model: "model.onnx", options: { prepare: { resize: "stretch", std: 255 } } };
    const { code, text } = await startProcess([writeSettings(folder, { ...settings, network })]).ended;
    expect(text).toContain("3 frames sent");
    expect(code).toBe(0);
    for (const packet of host.stored.values()) {
      expect(packet).toMatchObject({ kind: "raw", config: null });
      expect(packet.tensors[0]!.dims).toEqual([1, 384, 6]);
    }
  });

  it("keeps packets while the host answers 503, 429 and 500, dies, and comes back", async () => {
    const { folder, host, settings } = await setUp(60);
    host.answer = (_, count) => {
      if (count === 3) return { status: 503, headers: { "retry-after": "0" } };
      if (count === 6) return { status: 429, headers: { "retry-after": "1" } };
      if (count === 9) return { status: 500 };
      if (count === 12) return { status: 401 };
      return null;
    };
    const agent = startProcess([writeSettings(folder, settings)]);
    await until(() => host.stored.size >= 20, "20 packets");
    await host.stop();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await host.start();
    expect((await agent.ended).code).toBe(0);
    expect(leftEdges(host)).toEqual(range(60));
  });

  it("moves packets that are refused for good into a folder, and goes on", async () => {
    const { folder, host, settings } = await setUp(10);
    host.answer = (_, count) =>
      count === 2 ? { status: 400, body: '{"error":"foreign"}' } : count === 5 ? { status: 413 } : null;
    const { code, text } = await startProcess([writeSettings(folder, settings)]).ended;
    expect(text).toContain("8 frames sent, 0 failed, 2 lost");
    expect(code).toBe(1);
    expect(host.stored.size).toBe(8);
    const refused = readdirSync(join(folder, "state", "refused"));
    expect(refused.filter((name) => name.endsWith(".packet"))).toHaveLength(2);
    const reasons = refused
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(folder, "state", "refused", name), "utf8")).reason);
    expect(reasons.sort()).toEqual(['400 {"error":"foreign"}', "413"]);
  });

  it("leaves out photos that are none, and says so", async () => {
    const { folder, photos, host, settings } = await setUp(3);
    writeFileSync(join(photos, "a.jpg"), "no picture");
    writeFileSync(join(photos, "b.svg"), '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>');
    copyFileSync(join(photos, "b.svg"), join(photos, "c.png"));
    const { code, text } = await startProcess([writeSettings(folder, settings)]).ended;
    expect(text).toContain("3 frames sent, 2 failed");
    expect(text).toContain("got bytes that are none of them, expected JPEG, PNG or WebP");
    expect(code).toBe(1);
    expect(host.stored.size).toBe(3);
  });

  it("sends pictures for the live page", async () => {
    const { folder, host, settings } = await setUp(2);
    const preview = { every: 0.1, width: 16 };
    expect((await startProcess([writeSettings(folder, { ...settings, preview })]).ended).code).toBe(0);
    const { headers, jpeg } = host.previews[0]!;
    expect(headers).toMatchObject({ "content-type": "image/jpeg", "ce-subject": "front%20door" });
    expect([...jpeg.subarray(0, 2)]).toEqual([0xff, 0xd8]);
  });

  it("logs what the decoder notices", async () => {
    const { folder, host, settings } = await setUp(1);
    writeFileSync(join(folder, "model.onnx"), modelWithoutMetadata());
    const options = { family: "yolo26", classes: 80, reading: "end-to-end", prepare: { resize: "stretch" } };
    const network = { model: "model.onnx", options };
    const { text } = await startProcess([writeSettings(folder, { ...settings, network })]).ended;
    expect(text).toContain('network: the network has class ids and no names: labels: \\"coco80\\" names them');
    expect(host.stored.size).toBe(1);
  });

  it("says how many packets the receiver had already", async () => {
    const { folder, host, settings } = await setUp(3);
    expect((await startProcess([writeSettings(folder, settings)]).ended).code).toBe(0);
    // Another state folder: the agent knows nothing of its first run.
    const again = await startProcess([writeSettings(folder, { ...settings, state: "other" })]).ended;
    expect(again.text).toContain("3 frames sent (3 of them duplicates, which the receiver had already), 0 failed");
    expect(again.code).toBe(0);
    expect(host.stored.size).toBe(3);
  });

  it("sends the pictures of the last eight photos, though they came too soon", async () => {
    const { folder, host, settings } = await setUp(12);
    const preview = { every: 0.2, width: 16 };
    expect((await startProcess([writeSettings(folder, { ...settings, preview })]).ended).code).toBe(0);
    // Packets overtake each other on their way.
    const packets = [...host.stored.values()].sort((a, b) => a.sequence! - b.sequence!);
    const ids = host.previews.map(({ headers }) => headers["ce-id"]);
    expect(ids.slice(-8)).toEqual(packets.slice(-8).map(({ id }) => id));
    expect(host.previews.every(({ headers }) => headers["ce-recorded"] === "true")).toBe(true);
  });

  it("sends the pictures of all photos of a folder that it watches, though the folder never ends", async () => {
    const { folder, host, settings } = await setUp(3);
    const sources = [{ kind: "folder", path: "photos", watch: true }];
    const preview = { every: 0.2, width: 16 };
    const watching = startProcess([writeSettings(folder, { ...settings, sources, preview })]);
    const previews = (): Set<unknown> => new Set(host.previews.map(({ headers }) => headers["ce-id"]));
    await until(() => previews().size === 3 && host.stored.size === 3, "three photos and their pictures");
    expect(previews()).toEqual(new Set([...host.stored.values()].map(({ id }) => id)));
    watching.kill("SIGTERM");
    expect((await watching.ended).code).toBe(0);
  });

  it("takes twenty cameras without a warning of Node", async () => {
    const { folder, host, settings } = await setUp(1);
    const camera = (index: number): object => ({ kind: "folder", camera: `c${index}`, path: "photos", watch: true });
    const sources = Array.from({ length: 20 }, (_, index) => camera(index));
    const watching = startProcess([writeSettings(folder, { ...settings, sources })]);
    await until(() => host.stored.size === 20, "a packet of each camera");
    watching.kill("SIGTERM");
    const { code, text } = await watching.ended;
    expect(code).toBe(0);
    expect(text).not.toContain("Warning");
  });

  it("gives its token, and reads it from a file", async () => {
    const { folder, host, settings } = await setUp(1);
    const seen: (string | undefined)[] = [];
    host.answer = ({ headers }) => (seen.push(headers.authorization), null);
    writeFileSync(join(folder, "token"), "secret\n");
    const sinks = [{ kind: "http", url: host.url, tokenFile: "token" }];
    expect((await startProcess([writeSettings(folder, { ...settings, sinks })]).ended).code).toBe(0);
    expect(seen).toEqual(["Bearer secret"]);
  });

  it("a second agent on the same folder of state is refused", async () => {
    const { folder, host, settings } = await setUp(1);
    const sources = [{ kind: "folder", path: "photos", watch: true }];
    const path = writeSettings(folder, { ...settings, sources });
    const first = startProcess([path]);
    await until(() => host.stored.size === 1, "a packet");
    const { code, text } = await startProcess([path]).ended;
    expect(text).toContain("is used by process");
    expect(code).toBe(2);
    first.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
  });
});

describe("a host that is away for long", () => {
  it("a thousand frames: all packets wait on disk, and come in order", async () => {
    const count = 1000;
    const { folder, host, settings } = await setUp(count);
    await host.stop();
    const sinks = [{ kind: "http", url: host.url, inFlight: 1 }];
    const agent = startProcess([writeSettings(folder, { ...settings, sinks, health: { port: 0 }, log: "info" })]);
    const { health, metric } = await readerOf(agent);
    await until(async () => (await health()).spool.packets === count, "all packets in the spool", 200);
    const state = await health();
    expect(state.status).toBe("ok");
    expect(state.sinks[0].waitsFor).toMatch(/ECONNREFUSED/);
    expect(await metric("boxwright_agent_spool_packets")).toBe(count);
    expect(await metric('boxwright_agent_frames_total{camera="front door",outcome="spooled"}')).toBe(count);
    // The cap is far: nothing was dropped, and nothing had to wait for room.
    expect(state.spool.bytes).toBeLessThan(2 ** 30 / 8);
    expect(state.spool.dropped).toEqual({ cap: 0, disk: 0, "too large": 0 });
    await host.start();
    expect((await agent.ended).code).toBe(0);
    const packets = [...host.stored.values()];
    expect(packets).toHaveLength(count);
    expect(host.duplicates).toBe(0);
    // In the order of the photos, none left out: the left edge of photo n is at n modulo 200.
    const first = packets[0]!.sequence!;
    expect(packets.map(({ sequence }) => sequence! - first)).toEqual(range(count));
    expect(packets.map(({ detections }) => Math.round(detections![0]!.x_min * 255))).toEqual(
      range(count).map((n) => n % 200),
    );
  });
});
