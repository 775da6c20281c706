/** Oriented boxes by a plan file: the bytes that `createDecoder` gives, in every engine. Forged sections. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DecoderOptions, TypedOptions } from "../../src/config/types.ts";
import * as A from "../../src/core/abi.ts";
import { ConfigError, TensorError } from "../../src/core/errors.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detections } from "../../src/decode/detections.ts";
import type { Frame } from "../../src/decode/frame.ts";
import { fromPacket, toPacket } from "../../src/entries/index.ts";
import { compileFor, forge, loadPlanSync } from "../support/plans.ts";
import * as F from "../../src/planfile/format.ts";
import { engines } from "../support/engines.ts";
import { mulberry32, pick } from "../support/seeded-networks.ts";
import { type StoredOutput, fixtures, readJson, readTensors } from "../support/shared-data.ts";

type Tensors = Record<string, TensorInput>;

/** Returns the tensors of a golden case whose names fit, and its options. */
function golden(name: string, wanted: RegExp): readonly [TypedOptions, Tensors] {
  const folder = join(fixtures, "beyond", "heads", name);
  const { classes, input, outputs } = readJson(folder, "fixture.json") as {
    classes: number;
    input: { width: number; height: number };
    outputs: readonly StoredOutput[];
  };
  return [
    {
      family: name.includes("26") ? "yolo26" : "yolov8",
      task: "oriented",
      classes,
      inputSize: [input.width, input.height],
    },
    readTensors(
      folder,
      outputs.filter((o) => wanted.test(o.name)),
    ),
  ];
}

/** Returns the bytes of all columns as text, so that -0 is not 0. */
function bytesOf(found: Detections): unknown {
  const { boxes, scores, classIds, sources, angles, corners, length } = found.copy();
  const bytes = (column: Float32Array | Int32Array | Uint32Array | undefined): string =>
    column === undefined ? "none" : Buffer.from(new Uint8Array(column.slice().buffer)).toString("base64");
  return {
    length,
    columns: [boxes, scores, classIds, sources, angles, corners].map(bytes),
    first: found.at(0),
  };
}

const FRAMES: readonly (Frame | undefined)[] = [
  undefined,
  { width: 1280, height: 720, resize: "letterbox" },
  { width: 333, height: 500, resize: "stretch" },
];

const RULE = { confidenceThreshold: 0.26, iouThreshold: 0.45 };
const V8 = golden("obb_v8", /^output0$/);
const MAPS = golden("obb_v8", /^(box|cls|angle)\d$/);
const E26 = golden("obb_26", /./);

const quantised = ({ data, dims }: TensorInput): TensorInput => ({
  ...{ dims, type: "i8", scale: 0.05, zeroPoint: 4 },
  data: Int8Array.from(data as Float32Array, (x) => Math.max(-128, Math.min(127, Math.round(x / 0.05) + 4))),
});

const CASES: readonly (readonly [string, TypedOptions, Tensors, DecoderOptions, number])[] = [
  ["planes, as Ultralytics", ...V8, {}, 8],
  ["planes, as OpenCV", ...V8, { orientedSuppression: "opencv" }, 18],
  ["maps, greedy ProbIoU, raw angles", ...MAPS, { orientedSuppression: "probiou", angleRange: "raw" }, 9],
  ["maps, across classes", ...MAPS, { orientedSuppression: "opencv", rules: { suppress: "all" } }, 17],
  ["maps, at most 5", ...MAPS, { maxDetections: 5 }, 5],
  ["a list", ...E26, {}, 63],
  ["a list that is suppressed", ...E26, { rules: { suppress: "class", iouGate: ">" } }, 11],
  [
    "maps with angles of i8",
    MAPS[0],
    Object.fromEntries(
      Object.entries(MAPS[1]).map(([name, t]) => [name, name.startsWith("angle") ? quantised(t) : t]),
    ),
    {},
    8,
  ],
];

describe.each(engines)("%s", (engine) => {
  test.each(CASES)("%s", (_, typed, tensors, options, count) => {
    const all = { ...RULE, ...options };
    const decoder = createDecoderSync(typed, { ...all, engine });
    const loaded = loadPlanSync(compileFor(typed, all, tensors), { engine });
    for (const frame of FRAMES) {
      const wanted = decoder.decode(tensors, frame);
      const got = loaded.decode(tensors, frame);
      expect(bytesOf(got)).toEqual(bytesOf(wanted));
      expect(got.length).toBe(count);
    }
    for (const d of [decoder, loaded]) d.update({ iouThreshold: 0.1, maxDetections: 4 });
    expect(bytesOf(loaded.decode(tensors))).toEqual(bytesOf(decoder.decode(tensors)));
  });
});

const SMALL: TypedOptions = { family: "yolov8", task: "oriented", classes: 2, inputSize: [64, 32] };

test("the threshold is that of the config, which no f32 need have, until update gives another", () => {
  // The second box is half of the first. The nearest f32 to the threshold is 1/2.
  const data = Float32Array.of(...[32, 16, 32, 16, 0.9, 0, 0], ...[32, 12, 32, 8, 0.8, 0, 0]);
  const list: Tensors = { output0: { data, dims: [1, 2, 7] } };
  const typed = { ...SMALL, family: "yolo26", reading: "end-to-end", orientedSuppression: "opencv" } as const;
  const options = { iouThreshold: 0.5 - 1e-9, rules: { suppress: "class" } } as const;
  const loaded = loadPlanSync(compileFor(typed, options, list));
  expect(loaded.decode(list).length).toBe(1);
  loaded.update({ iouThreshold: 0.6 });
  expect(loaded.decode(list).length).toBe(2);
});

/** Two images of 42 cells; one box each, with an angle. */
function twoImages(angle: number): Tensors {
  const data = new Float32Array(2 * 7 * 42);
  for (let image = 0; image < 2; image++)
    [30 + image, 15, 20, 8, 0.9, 0.1, angle + 0.25 * image].forEach(
      (value, channel) => (data[(image * 7 + channel) * 42 + 3] = value),
    );
  return { output0: { data, dims: [2, 7, 42] } };
}

test("each image of a batch has its own angles, and fresh results keep theirs", () => {
  const loaded = loadPlanSync(compileFor(SMALL, RULE, twoImages(0)), { fresh: true });
  const first = loaded.decodeBatch(twoImages(0.5));
  loaded.decodeBatch(twoImages(0.125));
  expect(first.map((found) => [found.length, found.at(0)?.angle])).toEqual([
    [1, 0.5],
    [1, 0.75],
  ]);
});

test("notes and refusals of createDecoder are those of a plan too", () => {
  const notes: string[] = [];
  const loaded = loadPlanSync(compileFor(SMALL, RULE, twoImages(0)), { onNote: (note) => notes.push(note) });
  loaded.decodeBatch(twoImages(45));
  loaded.decodeBatch(twoImages(NaN));
  expect(notes).toHaveLength(2);
  expect(notes[0]).toContain("an angle in radians lies outside [-pi/4, 3pi/4), the range of its family: 45");
  expect(notes[1]).toContain("1 boxes have an angle that is NaN or infinite");
  const sigmoid = { ...SMALL, angleForm: "fractions" } as const;
  const strict = loadPlanSync(compileFor(sigmoid, RULE, twoImages(0)));
  expect(() => strict.decodeBatch(twoImages(1.5))).toThrow(TensorError);
  expect(() => strict.decodeBatch(twoImages(1.5))).toThrow("where an angle is the sigmoid of a value");
});

test("packets of detections keep angles and corners", () => {
  const [typed, tensors] = V8;
  const sender = createDecoderSync(typed, RULE);
  const packet = toPacket(sender, sender.decode(tensors), null, { id: "1", source: "a", time: new Date(0) });
  const received = loadPlanSync(compileFor(typed, RULE, tensors)).receive(fromPacket(packet));
  expect(received.angles?.length).toBe(received.length);
  expect(received.at(0)?.corners).toHaveLength(4);
});

test("without the task, loading is refused with the line to write", () => {
  const file = compileFor(SMALL, RULE, twoImages(0));
  expect(() => loadPlanSync(file, { tasks: [] })).toThrow(
    'options.tasks: got none for "oriented", expected import { oriented } from "boxwright/plan", and loadPlan(bytes, { tasks: [oriented] })',
  );
});

const bits = (x: number): number => new Uint32Array(Float32Array.of(x).buffer)[0];

test("a section that contradicts the file is refused in words", () => {
  const file = compileFor(MAPS[0], RULE, MAPS[1]);
  const words = new Uint32Array(file.buffer);
  const task = words[F.F_IMAGE_BYTES] / 4;
  const head = words[task + F.T_HEAD_TABLE] / 4;
  const block = words[words[F.F_IMAGE_TABLE] / 4 + F.I_PLAN] / 4;
  const flags = words[block + A.P_FLAGS];
  const cases: readonly (readonly [number, number, string])[] = [
    [task + F.T_FLAGS, 256, "got flags 256, expected some of 240"],
    [task + F.T_FLAGS, 1, "got flags 1, expected some of 240"],
    [task + F.T_ANGLE, 3, "got angle 3, expected one of 0,1,2"],
    [task + F.T_SUPPRESSION, 4, "got suppression 4, expected one of 0,1,2,3"],
    [head + F.E_TURNS, 2, "got 2 for a place or a count, expected 0..1"],
    [head + F.E_SOURCE, 1, "got a head at source 1, expected 0"],
    [block + A.P_FLAGS, flags | A.FLAG_NMS_CLASS, "got suppression by the kernel"],
    [block + A.P_FLAGS, flags | A.FLAG_NMS_ALL, "got suppression by the kernel"],
    [block + A.P_IOU, bits(1.5), "got an IoU threshold of 1.5, expected 0..1"],
    [block + A.P_IOU, bits(-0.5), "got an IoU threshold of -0.5, expected 0..1"],
    [task + F.T_IOU + 1, bits(2.5), "got an IoU threshold of 8."],
    [block + A.P_IOU, bits(NaN), "got an IoU threshold of NaN, expected 0..1"],
    [F.F_INPUT_WIDTH, 0, "got no input size, expected"],
  ];
  for (const [index, value, message] of cases) {
    expect(() => loadPlanSync(forge(file, index, value)), message).toThrow(message);
    expect(() => loadPlanSync(forge(file, index, value)), message).toThrow(ConfigError);
  }
});

test("400 words of plans with oriented boxes are forged: each file is refused or decodes", () => {
  const random = mulberry32(42);
  const files = [MAPS, V8, E26].map(
    ([typed, tensors]) => [compileFor(typed, RULE, tensors), tensors] as const,
  );
  const counts = { refused: 0, decoded: 0 };
  for (let i = 0; i < 400; i++) {
    const [file, tensors] = pick(random, files);
    const words = new Uint32Array(file.buffer);
    const first = random() < 0.8 ? words[F.F_IMAGE_BYTES] / 4 : 4;
    const index = first + Math.floor(random() * (words.length - first));
    const value = pick(random, [0, 1, 0xffffffff, words[index] + 1, words[index] - 1, bits(random())]) >>> 0;
    let decoder;
    try {
      decoder = loadPlanSync(forge(file, index, value), { engine: "ts" });
    } catch (e) {
      if (!(e instanceof ConfigError)) throw e;
      counts.refused++;
      continue;
    }
    try {
      expect(decoder.decode(tensors).length).toBeLessThanOrEqual(300);
    } catch (e) {
      if (!(e instanceof TensorError)) throw e;
    }
    counts.decoded++;
  }
  expect(counts.refused).toBeGreaterThan(100);
  expect(counts.decoded).toBeGreaterThan(40);
});
