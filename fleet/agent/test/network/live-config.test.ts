import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromPacket } from "boxwright";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { Camera, type Device } from "../../src/camera.ts";
import { configFiles } from "../../src/network/config-files.ts";
import { LiveConfig } from "../../src/network/live-config.ts";
import { Network } from "../../src/network/network.ts";
import { CONFIG, MODEL, pictureOf } from "../support/echo.ts";
import { temporaryFolder } from "../support/folder.ts";

const LOG = pino({ level: "silent" });
const about = (id: number) => ({ id: String(id), source: "/devices/1", subject: "c" });
const PICTURE = pictureOf([
  [0, 10, 250, 250, 230, 0],
  [5, 10, 50, 50, 150, 255],
]);

const SETTINGS = {
  model: MODEL,
  config: null,
  options: {},
  outputFormat: "raw",
  threads: 1,
  providers: null,
} as const;

async function openNetwork(): Promise<Network> {
  const network = await Network.open(SETTINGS);
  onTestFinished(() => network.close());
  return network;
}

/** Watches a config file beside a model. */
const liveConfig = (file: string, folder: string, network: Network, model = MODEL): LiveConfig =>
  new LiveConfig(configFiles({ ...SETTINGS, model, config: file }, network), folder, LOG);

const MOBILENET = JSON.stringify({
  nn_config: { output_format: "detection", NN_family: "mobilenet", input_size: "32x24", confidence_threshold: 0.5 },
  mappings: { labels: ["cat", "dog"] },
});

const withThreshold = (threshold: number, more: object = {}): string =>
  JSON.stringify({
    ...CONFIG,
    nn_config: {
      ...CONFIG.nn_config,
      NN_specific_metadata: { ...CONFIG.nn_config.NN_specific_metadata, confidence_threshold: threshold, ...more },
    },
  });

const found = async (network: Network, id: number): Promise<string[]> => {
  const { packet } = (await network.process(PICTURE, about(id)))!;
  return fromPacket(packet).detections!.map(({ label }) => label);
};

async function setUp(text: string): Promise<{ folder: string; file: string; network: Network; live: LiveConfig }> {
  const folder = temporaryFolder();
  const file = join(folder, "config.json");
  writeFileSync(file, text);
  const network = await openNetwork();
  return { folder, file, network, live: liveConfig(file, folder, network) };
}

describe("a config that changes", () => {
  it("is used from the next frame on, and no frame is lost over the change", async () => {
    const { file, network, live } = await setUp(withThreshold(0.8));
    await live.start();
    expect(await found(network, 0)).toEqual(["cat"]);
    writeFileSync(file, withThreshold(0.3));
    const frames = Array.from({ length: 20 }, (_, id) => found(network, id));
    const change = live.look();
    const later = Array.from({ length: 20 }, (_, id) => found(network, 20 + id));
    await change;
    expect(await Promise.all(frames)).toEqual(Array(20).fill(["cat"]));
    expect(await Promise.all(later)).toEqual(Array(20).fill(["cat", "dog"]));
    expect(live.state).toEqual({ state: "applied", error: null, applied: 1, failed: 0 });
  });

  it("stays the last good one if the new one is no JSON, wrong, or does not fit the outputs", async () => {
    const { file, network, live } = await setUp(withThreshold(0.8));
    await live.start();
    await found(network, 0);
    const broken = {
      "no JSON": ["{", /JSON/],
      "a wrong value": [withThreshold(7), /confidence_threshold/],
      "labels that do not fit": [withThreshold(0.5, { classes: 3 }), /got 2 labels, expected 3/],
      // A sound config: only real outputs show that it does not fit.
      "another network": [MOBILENET, /got output0 \[1,384,6\], expected for ssd/],
    } as const;
    let failed = 0;
    for (const [name, [text, message]] of Object.entries(broken)) {
      writeFileSync(file, text);
      await live.look();
      expect(live.state.state, name).toBe("failed");
      expect(live.state.error, name).toMatch(message);
      expect(live.state.failed).toBe(++failed);
      expect(await found(network, 1), name).toEqual(["cat"]);
    }
    writeFileSync(file, withThreshold(0.3));
    await live.look();
    expect(live.state).toMatchObject({ state: "applied", error: null });
    expect(await found(network, 2)).toEqual(["cat", "dog"]);
  });

  it("is not tried again before the file changes, and a file that is away for a moment is none", async () => {
    const { file, network, live } = await setUp(withThreshold(0.8));
    await live.start();
    writeFileSync(file, "{");
    for (let i = 0; i < 3; i++) await live.look();
    rmSync(file);
    await live.look();
    expect(live.state.failed).toBe(1);
    expect(await found(network, 0)).toEqual(["cat"]);
  });
});

describe("a start", () => {
  it("with a broken file uses the last good config, and says so", async () => {
    const { folder, file, network, live } = await setUp(withThreshold(0.8));
    await live.start();
    await found(network, 0);
    live.prove(network.plan!);
    writeFileSync(file, "{");
    const again = liveConfig(file, folder, network);
    await again.start();
    expect(again.state.state).toBe("failed");
    expect(await found(network, 1)).toEqual(["cat"]);
  });

  it("with a broken file and no good one fails with its problems", async () => {
    const { live } = await setUp(withThreshold(7));
    await expect(live.start()).rejects.toThrow(/confidence_threshold/);
  });

  it("leaves a config that ended the process three times before a frame, and uses the last good one", async () => {
    const { folder, file, network, live } = await setUp(withThreshold(0.8));
    await live.start();
    await found(network, 0);
    live.prove(network.plan!);
    writeFileSync(file, withThreshold(0.3));
    for (let start = 0; start < 3; start++) {
      const again = liveConfig(file, folder, network);
      await again.start();
      expect(again.state.state).toBe("applied");
    }
    const last = liveConfig(file, folder, network);
    await last.start();
    expect(last.state.error).toMatch(/ended 3 times/);
    expect(await found(network, 1)).toEqual(["cat"]);
    expect(readFileSync(join(folder, "config.good.json"), "utf8")).toBe(withThreshold(0.8));
  });
});

describe("the last good config", () => {
  it("is not a new one that only a frame of the old one followed", async () => {
    const { folder, file, network, live } = await setUp(withThreshold(0.8));
    await live.start();
    const good = (): string => readFileSync(join(folder, "config.good.json"), "utf8");
    let left = 3;
    const frame = { image: PICTURE, time: new Date(1), id: "1", done: () => undefined };
    const source = {
      ...{ camera: "c", stats: { dropped: 0, unreadable: 0, restarts: 0 }, problem: null, isRecorded: true },
      next: async () => (left-- > 0 ? frame : null),
      close: async () => undefined,
    };
    const proven: string[] = [];
    const spool = {
      // The config changes while the packet of the second frame is written.
      append: async () => {
        if (left < 2) proven.push(good());
        if (left === 1) writeFileSync(file, withThreshold(0.3));
        await live.look();
        return true;
      },
    };
    const device = {
      ...{ name: "/devices/1", network, config: live, previews: null, log: LOG, firstSequence: 0 },
      ...{ spool, configs: { store: () => undefined }, onProcessed: () => undefined },
    };
    await new Camera(source, device as unknown as Device).run(new AbortController().signal);
    expect(proven).toEqual([withThreshold(0.8), withThreshold(0.8)]);
    expect(good()).toBe(withThreshold(0.3));
  });
});

describe("a network", () => {
  it("whose config does not fit is refused at the start, before any frame", async () => {
    const { live, network } = await setUp(MOBILENET);
    await expect(live.start()).rejects.toThrow(/got output0 \[1,384,6\], expected for ssd/);
    expect(network.plan).toBeNull();
  });

  it("is replaced while it runs: a good file is used, and one that cannot be opened or does not fit is refused", async () => {
    const { folder, file, network } = await setUp(withThreshold(0.8));
    const model = join(folder, "model.onnx");
    copyFileSync(MODEL, model);
    const live = liveConfig(file, folder, network, model);
    await live.start();
    expect(await found(network, 0)).toEqual(["cat"]);
    const replace = async (bytes: Uint8Array): Promise<void> => {
      writeFileSync(`${model}.new`, bytes);
      renameSync(`${model}.new`, model);
      // The first look sees a file that may still be written.
      await live.look();
      await live.look();
    };
    await replace(readFileSync(MODEL).subarray(0, 100));
    expect(live.state).toMatchObject({ state: "failed", failed: 1, error: expect.stringMatching(/cannot be opened/) });
    expect(await found(network, 1)).toEqual(["cat"]);
    const { modelWithoutMetadata } = await import("../support/echo.ts");
    await replace(modelWithoutMetadata());
    expect(live.state).toMatchObject({ state: "applied", applied: 1, error: null });
    expect(await found(network, 2)).toEqual(["cat"]);
    // Config and model are tested together: the new config is one of another network.
    writeFileSync(file, MOBILENET);
    await live.look();
    expect(live.state.error).toMatch(/expected for ssd/);
    expect(await found(network, 3)).toEqual(["cat"]);
  });

  it("that fails on a frame goes on with the next one", async () => {
    const network = await openNetwork();
    await network.use(JSON.parse(withThreshold(0.8)));
    await expect(network.process({ ...PICTURE, data: new Uint8Array(3) }, about(0))).rejects.toThrow();
    expect(await found(network, 1)).toEqual(["cat"]);
  });

  it("asks for the preparation if nothing says how to decode", async () => {
    const folder = temporaryFolder();
    const { modelWithoutMetadata } = await import("../support/echo.ts");
    const model = join(folder, "model.onnx");
    writeFileSync(model, modelWithoutMetadata());
    const settings = { model, config: null, options: {}, threads: null, providers: null };
    const raw = await Network.open({ ...settings, outputFormat: "raw" });
    await expect(raw.use(undefined)).rejects.toThrow(/network.options.prepare is missing/);
    const detection = await Network.open({ ...settings, outputFormat: "detection" });
    await expect(detection.use(undefined)).rejects.toThrow(/nothing says how to decode/);
  });

  it("whose config says no more than raw prepares pictures as the model file says, and names no config", async () => {
    const network = await openNetwork();
    await network.use({ nn_config: { output_format: "raw" } });
    const { packet } = (await network.process(PICTURE, about(0)))!;
    const { kind, config, tensors } = fromPacket(packet);
    expect({ kind, config }).toEqual({ kind: "raw", config: null });
    // The rows of the picture, boxes in pixels of the input.
    expect(Array.from((tensors[0]!.data as Float32Array).subarray(6, 12), (v) => Math.round(v * 1000))).toEqual(
      [(5 / 255) * 32, (10 / 255) * 24, (50 / 255) * 32, (50 / 255) * 24, 150 / 255, 1].map((v) =>
        Math.round(v * 1000),
      ),
    );
  });

  it("decodes by the options if the model does not say how", async () => {
    const folder = temporaryFolder();
    const { modelWithoutMetadata } = await import("../support/echo.ts");
    const model = join(folder, "model.onnx");
    writeFileSync(model, modelWithoutMetadata());
    const options = { family: "yolov8", labels: ["cat", "dog"], reading: "end-to-end", coordinates: "pixels" };
    const network = await Network.open({
      model,
      config: null,
      options,
      outputFormat: "detection",
      threads: null,
      providers: null,
    });
    await network.use(undefined);
    expect(await found(network, 1)).toEqual(["cat", "dog"]);
  });
});
