/** Blocks that begin with the outputs of a network, a file or a packet. */
import * as fs from "node:fs/promises";
import { expect } from "vitest";
import * as boxwright from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { createPool } from "../../src/entries/pool.ts";
import { run as runCommand } from "../../src/node/cli/run.ts";
import { readFixture } from "../support/files.ts";
import {
  decoderOf80,
  fastestDet,
  files,
  frame,
  oneCell,
  onePerson,
  packet,
  picture,
  readPage,
  runtimeOf,
} from "./given.ts";
import { type Row, decoderIn, expectLabels } from "./row.ts";

/** Boxes of four numbers each: the second one overlaps the first. */
const overlapping = () => ({
  boxes: [0, 0, 10, 10, 0, 0, 10, 9, 50, 50, 60, 60],
  scores: [0.9, 0.8, 0.7],
  classIds: [0, 0, 0],
});

const OPTIONS = { family: "yolov8", labels: "coco80", inputSize: [640, 640] };
const POSE = { family: "yolov8", task: "pose", classes: 1, keypoints: [17, 3], inputSize: [640, 640] };

/** 17 points of a person in the middle. */
const onePose = () => {
  const points = Array.from({ length: 17 }, () => [320, 240, 0.5]).flat();
  return { output0: oneCell(56, 8400, [320, 320, 64, 128, 0.75, ...points]) };
};

/** Runs the command that docs/deployment.md shows before its block. */
async function compile(config: object, folder: (name: string) => string): Promise<Uint8Array> {
  const command = /^npx boxwright (compile .*)$/m.exec(readPage("docs/deployment.md"))?.[1] ?? "";
  await fs.writeFile(folder("config.json"), JSON.stringify(config));
  const words = command.replace(/\b(config\.json|plan\.bin)\b/g, folder).split(" ");
  const said: string[] = [];
  const keep = (text: unknown): void => void said.push(String(text));
  expect(await runCommand(words, { out: keep, err: keep }), said.join("")).toBe(0);
  return fs.readFile(folder("plan.bin"));
}

/** Threads are built files: `npm test` builds first. */
const worker = new URL("../../dist/pool-worker.mjs", import.meta.url);

export const OUTPUT_ROWS: readonly Row[] = [
  {
    page: "README.md",
    has: "// cat",
    check: (_, printed) => {
      const [, confidence, box] = /^\/\/ cat ([\d.]+) (\{.*\})$/m.exec(readPage("README.md")) ?? [];
      const words = [...box.matchAll(/(\w+): (?:'(\w+)'|([\d.]*\d))/g)];
      const promised = Object.fromEntries(
        words.map(([, name, text, number]) => [name, text ?? (expect.closeTo(+number, 2) as number)]),
      );
      expect(Object.keys(promised)).toContain("x_min");
      expect(printed).toEqual([["cat", confidence, promised]]);
    },
  },
  {
    page: "docs/nn-config.md",
    has: "nn_config: {",
    check: (made) =>
      expect(decoderIn(made).config).toMatchObject({
        family: "yolov3",
        inputSize: [416, 416],
        labels: ["person", "cat"],
      }),
  },
  {
    page: "docs/api.md",
    has: "session.run(feeds",
    given: () => {
      const run = async (_: unknown, { output0 }: { output0: { data: Float32Array } }): Promise<void> =>
        Promise.resolve(output0.data.set(onePerson().output0.data));
      return { ...boxwright, options: OPTIONS, ort: runtimeOf({}), session: { run }, feeds: {} };
    },
    check: (made) => {
      expect(decoderIn(made).stats.frames).toBe(1);
      expectLabels(decoderIn(made).decode(), "person");
    },
  },
  {
    page: "docs/api.md",
    has: "COCO80",
    check: (made) => expectLabels(decoderIn(made).decode(onePerson()), "person"),
  },
  {
    page: "docs/crops.md",
    has: "cropOf(pose",
    given: () => ({
      detections: decoderOf80().decode(onePerson(), frame),
      image: picture(),
      run: async () =>
        Promise.resolve({
          simcc_x: { data: new Float32Array(17 * 384).fill(0.5), dims: [1, 17, 384] },
          simcc_y: { data: new Float32Array(17 * 512).fill(0.5), dims: [1, 17, 512] },
        }),
    }),
    check: (_, printed) => {
      // The largest of equal values is the first: the left upper corner of the crop, 1.25 times the box.
      expect(printed).toHaveLength(17);
      const [[x, y, confidence]] = printed as number[][];
      expect([x, y]).toEqual([expect.closeTo(0.5 - 60 / 640, 4), expect.closeTo(0.5 - 80 / 480, 4)]);
      expect(confidence).toBe(0.5);
    },
  },
  {
    page: "docs/core.md",
    has: "tasks: [pose], checks, explain",
    given: () => ({ config: POSE }),
    check: (made) => expect(decoderIn(made).describe().text).toContain("family: yolov8"),
  },
  {
    page: "docs/deployment.md",
    has: "tasks: [pose, suppression]",
    given: () => ({ config: { ...POSE, suppression: "soft-linear" } }),
    check: (made) => expect(decoderIn(made).decode(onePose())).toHaveLength(1),
  },
  {
    page: "docs/deployment.md",
    has: 'readFile("plan.bin")',
    given: async (folder) => {
      files["plan.bin"] = await compile({ ...OPTIONS, labels: [...boxwright.COCO80] }, folder);
      return { data: onePerson().output0.data };
    },
    check: (_, printed) => expect(printed).toEqual([["person", 0.75]]),
  },
  {
    page: "docs/deployment.md",
    has: 'readFile("pose.bin")',
    given: () => {
      files["pose.bin"] = compilePlan(POSE, { outputs: [{ name: "output0", dims: [1, 56, 8400] }] });
      return { outputs: onePose(), frame };
    },
    check: (_, [[points]]) => expect(points).toHaveLength(17),
  },
  {
    page: "docs/keypoints.md",
    has: "keypoints: [17, 3]",
    given: () => ({ outputs: onePose(), frame }),
    check: (_, printed) => {
      expect(printed).toHaveLength(17);
      // Pixel 320, 240 of the letterboxed input: 80 of its rows are padding.
      expect(printed[0]).toEqual([0.5, expect.closeTo(160 / 480, 4), 0.5]);
    },
  },
  {
    page: "docs/masks.md",
    has: "labelMap(found)",
    given: () => ({
      outputs: {
        output0: oneCell(116, 8400, [320, 320, 64, 128, 0.75, ...Array<number>(79).fill(0), 1]),
        output1: { data: new Float32Array(32 * 160 * 160).fill(4), dims: [1, 32, 160, 160] },
      },
      frame,
    }),
    check: (made) => {
      const { width, height, data } = made["mask"] as boxwright.Mask;
      expect([width, height]).toEqual([64, 128]);
      expect(data.every((value) => value === 1)).toBe(true);
      const map = made["map"] as { data: Int16Array };
      expect(map.data.filter((value) => value === 0)).toHaveLength(64 * 128);
    },
  },
  {
    page: "docs/migration.md",
    has: 'boxFormat: "yxyx", iouGate',
    given: overlapping,
    check: (made) => expect([...(made["kept"] as Iterable<number>)]).toEqual([0, 2]),
  },
  {
    page: "docs/migration.md",
    has: "classes: 90",
    check: (made) => expect(decoderIn(made).config).toMatchObject({ family: "boxes", classes: 90 }),
  },
  {
    page: "docs/migration.md",
    has: 'boxFormat: "xywh"',
    given: overlapping,
    check: (made) => expect([...(made["kept"] as Iterable<number>)]).toEqual([0, 2]),
  },
  {
    page: "docs/model-files.md",
    has: "model.missing",
    given: () => ({ ...boxwright, bytes: fastestDet() }),
    check: (made, printed) => {
      expect(printed).toEqual([[["family"]]]);
      expect(decoderIn(made).config.family).toBe("fastestdet");
    },
  },
  {
    page: "docs/model-files.md",
    has: "xz-decompress",
    given: () => ({ ...boxwright, bytes: readFixture("files/nnarchive.tar.xz") }),
    modules: { "xz-decompress": await import("xz-decompress") },
    check: (made) => expect(made["model"]).toMatchObject({ format: "nn-archive" }),
  },
  {
    page: "docs/networks.md",
    has: "mapOptions(archive)",
    given: () => ({
      archive: {
        config_version: "1.0",
        model: {
          inputs: [{ name: "image", input_type: "image", shape: [1, 3, 2, 4] }],
          outputs: [{ name: "road", shape: [1, 1, 2, 4] }],
          heads: [{ parser: "SegmentationParser", outputs: ["road"], metadata: { classes: ["road"] } }],
        },
      },
      image: picture(4, 2),
      run: async () => Promise.resolve({ road: { data: [-1, -1, 2, 3, -1, 4, 5, 6], dims: [1, 1, 2, 4] } }),
    }),
    check: (made) => expect([...(made["data"] as Uint8Array)]).toEqual([255, 255, 0, 0, 255, 0, 0, 0]),
  },
  {
    page: "docs/oriented.md",
    has: 'task: "oriented"',
    given: () => ({
      outputs: { output0: oneCell(20, 21504, [512, 512, 100, 50, 0.75, ...Array<number>(14).fill(0), 0.5]) },
      frame: { width: 1024, height: 1024, resize: "stretch" },
    }),
    check: (_, [[, cx, cy, width, height, angle, corners]]) => {
      expect([cx, cy, width, height].map((n) => Math.round(n as number))).toEqual([512, 512, 100, 50]);
      expect(angle).toBeCloseTo(0.5, 5);
      expect(corners).toHaveLength(4);
    },
  },
  {
    page: "docs/packets.md",
    has: "on the host",
    given: () => {
      const { bytes, ...network } = packet();
      const sent = {};
      const fetch = async (_: string, init: object): Promise<unknown> =>
        Promise.resolve(Object.assign(sent, init));
      return { ...network, host: "http://host", fetch, body: bytes, sent };
    },
    check: (_, printed, { sent }) => {
      expect(printed).toEqual([["front door", "0", expect.closeTo(0.9, 5)]]);
      expect(boxwright.fromPacket((sent as { body: Uint8Array }).body)).toMatchObject({ id: "frame-17" });
    },
  },
  {
    page: "docs/pool.md",
    has: "createPool({",
    given: packet,
    modules: {
      "boxwright/pool": { createPool: (options: object) => createPool({ worker, ...options } as never) },
    },
    check: (_, printed) => expect(printed).toEqual([[1, expect.any(Number)]]),
  },
  {
    page: "docs/suppression.md",
    has: "{ suppression:",
    given: () => ({ config: OPTIONS }),
    check: (made) => {
      expectLabels(decoderIn(made).decode(onePerson()), "person");
      expect(decoderIn(made).describe().text).toContain("soft-gaussian");
    },
  },
  {
    page: "docs/suppression.md",
    has: "suppress(boxes, scores",
    given: overlapping,
    check: (_, [[indices, scores]]) => {
      expect([...(indices as Iterable<number>)]).toEqual([0, 2, 1]);
      expect((scores as Float32Array)[2]).toBeLessThan(0.2);
    },
  },
  {
    page: "docs/suppression.md",
    has: 'method: "weighted"',
    given: () => ({ ...boxwright, options: OPTIONS, outputs: onePerson(), frame }),
    check: (made) => expectLabels(made["found"], "person"),
  },
  {
    page: "docs/tiles.md",
    has: "createTileMerger([3840, 2160])",
    given: () => ({
      picture: picture(3840, 2160),
      decoder: decoderOf80(),
      prepare: async () => Promise.resolve(null),
      run: async () => Promise.resolve(onePerson()),
    }),
    check: (made) => {
      // A person in the middle of each tile of 640, which share 128.
      const all = boxwright.tiles([3840, 2160], { tile: 640 });
      expectLabels(made["found"], ...[...all].map(() => "person"));
    },
  },
  {
    page: "docs/tracking.md",
    has: "tracker.update(found, seconds)",
    given: () => {
      const drawn: unknown[] = [];
      const members: Record<string, unknown> = {
        canvas: { width: 640, height: 480 },
        fillText: (text: string): unknown => drawn.push(text),
      };
      const context = new Proxy(members, { get: (all, name) => all[String(name)] ?? (() => undefined) });
      return { options: OPTIONS, outputs: onePerson(), frame, seconds: 0, context, drawn };
    },
    check: (_, __, { drawn }) => expect(drawn).toEqual(["person 1"]),
  },
  {
    page: "docs/troubleshooting.md",
    has: "decoder.describe().text",
    given: () => {
      const decoder = decoderOf80();
      decoder.decode(onePerson());
      return { decoder };
    },
    check: (_, [[text]]) => expect(text).toContain("output0"),
  },
];
