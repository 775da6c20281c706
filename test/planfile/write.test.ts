import { readFile } from "node:fs/promises";
import { crc32 as zlibCrc32 } from "node:zlib";
import { expect, test } from "vitest";
import { crc32 } from "../../src/core/crc32.ts";
import { type DecoderOptions, type TensorData, createDecoderSync } from "../../src/entries/index.ts";
import { readTensors } from "../../src/node/files/read.ts";
import * as F from "../../src/planfile/format.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { fixture } from "../support/files.ts";
import { host } from "../support/plan-host.ts";
import { givenPriors, toHalf } from "../support/seeded-networks.ts";

const random = (n: number, seed: number) => {
  let state = seed;
  return Float32Array.from(
    { length: n },
    () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32,
  );
};

test.each(["astronaut", "chelsea", "coffee"])(
  "a host of the plan of yolo-fastest finds the detections of createDecoder: %s",
  async (photo) => {
    const config = await readFile(fixture("yolo-fastest-1.1/config.json"), "utf8");
    const list = await readTensors(fixture(`yolo-fastest-1.1/${photo}/meta.json`));
    const options: DecoderOptions = { scores: "logits", rules: "opencv" };
    const { bytes } = compilePlan(config, { ...options, outputs: list });
    const got = host(bytes, Object.fromEntries(list.map((t) => [t.name, t.data as Float32Array])));
    const decoder = createDecoderSync(config, options);
    const want = decoder.decode(Object.fromEntries(list.map((t) => [t.name, t])));
    const n = want.length;
    expect(n).toBeGreaterThan(0);
    expect(got.images).toEqual([
      {
        boxes: want.boxes.slice(0, 4 * n),
        scores: want.scores.slice(0, n),
        labels: want.classIds.slice(0, n),
        sources: want.sources.slice(0, n),
      },
    ]);
    expect(got.slots.map((s) => s.dims)).toEqual(list.map((t) => t.dims));
    expect(got.labels[want.classIds[0]]).toBe(want.toArray()[0].label);
  },
);

test("a batch has a plan block and columns for each image", () => {
  const config = { family: "yolov5", classes: 2, inputSize: [64, 64], labels: ["a", "\u{1f43c}"] };
  const data = random(2 * 60 * 7, 7).map((x, i) => (i % 7 < 4 ? x * 40 : x));
  const { bytes } = compilePlan(config, { outputs: { out: { dims: [2, 60, 7] } } });
  const got = host(bytes, { out: data });
  const want = createDecoderSync(config).decodeBatch({
    out: { data, dims: [2, 60, 7] },
  });
  expect(got.images.map((i) => i.boxes)).toEqual(want.map((d) => d.boxes.slice(0, 4 * d.length)));
  expect(want.map((d) => d.length).every((n) => n > 0)).toBe(true);
  expect(got.labels).toEqual(["a", "\u{1f43c}"]);
});

test("a file carries its CRC-32, and ends with a zero byte at a multiple of 4", () => {
  const crc = zlibCrc32 as ((data: Uint8Array) => number) | undefined;
  const bytes = Uint8Array.from({ length: 999 }, (_, i) => (i * 7) & 255);
  // the check value that every description of CRC-32 gives
  expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
  if (crc !== undefined) expect(crc32(bytes)).toBe(crc(bytes));
  const { bytes: file } = compilePlan(
    { family: "yolov8", classes: 1, inputSize: [64, 64] },
    { outputs: [{ dims: [1, 5, 84] }] },
  );
  expect(new DataView(file.buffer).getUint32(F.F_CHECK * 4, true)).toBe(
    crc32(file.subarray(F.F_FILE_BYTES * 4)),
  );
  expect(file.length % 4).toBe(0);
  expect(file[file.length - 1]).toBe(0);
});

test("priors may come as a tensor that is at hand", () => {
  const priors = random(4 * 30, 3).map((x, i) => (i % 4 < 2 ? x * 0.5 : 0.5 + x * 0.5));
  const outputs = {
    loc: { dims: [1, 120], data: random(120, 5) },
    conf: { dims: [1, 60], data: random(60, 6) },
    mbox_priorbox: { dims: [1, 1, 120], data: priors },
  };
  const config = {
    family: "ssd",
    classes: 2,
    inputSize: [300, 300],
    variances: [0.1, 0.1, 0.2, 0.2],
    scores: "probabilities",
    background: 0,
    roles: { boxes: "loc", scores: "conf", priors: "mbox_priorbox" },
  };
  const { bytes } = compilePlan(config, { outputs }, (name) => outputs[name as keyof typeof outputs].data);
  const want = createDecoderSync(config).decode(outputs);
  const got = host(bytes, { loc: outputs.loc.data, conf: outputs.conf.data, mbox_priorbox: priors });
  expect(want.length).toBeGreaterThan(0);
  expect(got.images[0].boxes).toEqual(want.boxes.slice(0, 4 * want.length));
});

test.each<[string, unknown, DecoderOptions, RegExp]>([
  ["no shapes", { family: "yolov8", classes: 1 }, {}, /outputs: got none, expected name, shape and type/],
  [
    "a zero in a name",
    { family: "yolov8", classes: 1, inputSize: [64, 64] },
    { outputs: [{ name: "a\0b", dims: [1, 5, 84] }] },
    /output name: got .*, expected text without a zero character/,
  ],
  [
    "half a pixel",
    { family: "yolov8", classes: 1, inputSize: [64.5, 64] },
    { outputs: [{ dims: [1, 5, 84] }] },
    /inputSize: got \[64\.5,64\], expected \[width, height\] in whole pixels/,
  ],
  [
    "a shape that fits nothing",
    { family: "yolov8", classes: 1, inputSize: [64, 64] },
    { outputs: [{ dims: [1, 7, 84] }] },
    /got output0 \[1,7,84\], expected/,
  ],
])("refused: %s", (_, config, options, message) => {
  expect(() => compilePlan(config, options)).toThrow(message);
});

test("priors that the network gives are numbers, whatever their type", () => {
  const priorsOf = (p: { data: TensorData; type?: "f16" | "u8"; scale?: number }): number[] => {
    const { plan } = compilePlan(
      givenPriors,
      {
        outputs: [
          { name: "b", dims: [1, 2, 4] },
          { name: "s", dims: [1, 2, 2], order: "rows" as const },
          { name: "p", dims: [1, 2, 4], type: p.type ?? "f32", ...(p.scale ? { scale: p.scale } : {}) },
        ],
      },
      (name) => (name === "p" ? p.data : null),
    );
    return [...(plan.heads[0].priors as Float32Array)].map((v) => Number(v.toFixed(4)));
  };
  const numbers = [0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125];
  expect(priorsOf({ data: Float32Array.from(numbers) })).toEqual(numbers);
  expect(priorsOf({ data: Uint16Array.from(numbers, toHalf), type: "f16" as const })).toEqual(numbers);
  expect(
    priorsOf({ data: Uint8Array.from(numbers, (v) => v * 80), type: "u8" as const, scale: 1 / 80 }),
  ).toEqual(numbers);
});

test("refuses thresholds per class that are fewer than the classes", () => {
  const boxes = {
    family: "boxes",
    boxFormat: "xyxy",
    coordinates: "normalised",
    confidenceThreshold: [0.9, 0.1],
  };
  const outputs = [
    { name: "b", dims: [1, 5, 4] },
    { name: "s", dims: [1, 5, 3], order: "rows" as const },
  ];
  expect(() => compilePlan(boxes, { outputs })).toThrow(
    "confidenceThreshold: got 2 values, expected 3, one per class",
  );
});
