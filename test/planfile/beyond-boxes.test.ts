/** Keypoints and masks by a plan file: the bytes that `createDecoder` gives, in every engine. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DecoderOptions, TypedOptions } from "../../src/config/types.ts";
import { ConfigError, TensorError } from "../../src/core/errors.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detections } from "../../src/decode/detections.ts";
import type { MaskOptions } from "../../src/decode/mask.ts";
import type { Frame } from "../../src/decode/frame.ts";
import { COCO17_EDGES, COCO17_NAMES, fromPacket, labelMap, toPacket } from "../../src/entries/index.ts";
import type { PlanDecoder } from "../../src/planfile/decoder.ts";
import { compileFor, loadPlan, loadPlanSync } from "../support/plans.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { enginesOf } from "../support/engine-shares.ts";
import {
  type StoredOutput,
  describeShared,
  fixtures,
  foldersIn,
  readJson,
  readTensors,
} from "../support/shared-data.ts";
import { mulberry32 } from "../support/seeded-networks.ts";

type Tensors = Record<string, TensorInput>;

/** Returns the bytes of all columns as text, so that -0 is not 0, and what objects of the first rows add to them. */
function bytesOf(found: Detections): unknown {
  const { boxes, scores, classIds, sources, keypoints, keypointNames, edges } = found.copy();
  const bytes = (column?: Float32Array | Int32Array | Uint32Array): string | undefined =>
    column && Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString("base64");
  return {
    columns: [boxes, scores, classIds, sources, keypoints].map(bytes),
    keypointNames,
    edges,
    rows: Array.from({ length: Math.min(3, found.length) }, (_, i) => found.at(i)),
  };
}

const MASKS: readonly MaskOptions[] = [
  {},
  { size: "prototype" },
  { size: "network", rule: "input_crop_first" },
  { size: [150, 90], rule: "image", threshold: 0.3 },
];

/** Masks that are compared of one frame. */
const MOST_MASKS = 5;

/** Expects the bytes of `wanted` from `got`. Returns the count of rows. */
function expectSame(got: Detections, wanted: Detections, hasMasks: boolean): number {
  expect(bytesOf(got)).toEqual(bytesOf(wanted));
  if (!hasMasks) return got.length;
  for (const some of [got, got.copy()])
    for (const options of MASKS)
      for (let i = 0; i < Math.min(MOST_MASKS, wanted.length); i++) {
        const mask = some.mask(i, options);
        const other = wanted.mask(i, options);
        expect([mask.x, mask.y, mask.width, mask.height, mask.size]).toEqual([
          other.x,
          other.y,
          other.width,
          other.height,
          other.size,
        ]);
        expect(Buffer.compare(mask.data, other.data), `mask ${i}`).toBe(0);
      }
  const [map, other] = [got, wanted].map((found) => labelMap(found, { size: "prototype" }).data);
  expect(map.length).toBeGreaterThan(0);
  expect(map.every((label, i) => label === other[i])).toBe(true);
  return got.length;
}

const FRAMES: readonly (Frame | undefined)[] = [
  undefined,
  { width: 1280, height: 720, resize: "letterbox" },
  { width: 333, height: 500, resize: "stretch" },
];

let cases = 0;

function sameByPlan(
  name: string,
  typed: TypedOptions,
  options: DecoderOptions,
  tensors: Tensors,
  frames = FRAMES,
): void {
  test.each(enginesOf(cases++))(`${name} (%s)`, (engine) => {
    const decoder: Decoder = createDecoderSync(typed, { ...options, engine });
    const loaded = loadPlanSync(compileFor(typed, options, tensors), { engine });
    expect(loaded.engine).toBe(engine);
    for (const frame of frames) {
      const wanted = decoder.decodeBatch(tensors, frame);
      const rows = loaded
        .decodeBatch(tensors, frame)
        .map((got, i) => expectSame(got, wanted[i], typed.task === "segment"));
      expect(Math.min(...rows)).toBeGreaterThan(0);
    }
  });
}

interface Golden {
  readonly input: { readonly width: number; readonly height: number };
  readonly classes: number;
  readonly keypoints?: readonly [number, 2 | 3];
  readonly outputs: readonly StoredOutput[];
}

const RULE: DecoderOptions = {
  confidenceThreshold: 0.26,
  iouThreshold: 0.45,
  rules: { set: "ultralytics", clamp: "none" },
};

function goldenCases(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const f = readJson(folder, name, "fixture.json") as Golden;
    const all = readTensors(
      join(folder, name),
      f.outputs.filter(({ name }) => !name.endsWith("_normalised")),
    );
    const isPose = name.startsWith("pose");
    const typed: TypedOptions = {
      family: name.includes("26") ? "yolo26" : "yolov8",
      task: isPose ? "pose" : "segment",
      classes: f.classes,
      inputSize: [f.input.width, f.input.height],
      coordinates: "pixels",
      ...(f.keypoints && { keypoints: f.keypoints }),
    };
    const pick = (wanted: RegExp): Tensors =>
      Object.fromEntries(Object.entries(all).filter(([key]) => wanted.test(key)));
    const fused = pick(isPose ? /^output0$/ : /^output[01]$/);
    sameByPlan(`${name}, fused`, typed, RULE, fused);
    const clamps = ["before", "after", "centre"] as const;
    for (const clamp of clamps)
      sameByPlan(`${name}, clamp ${clamp}`, typed, { ...RULE, rules: { set: "ultralytics", clamp } }, fused);
    const maps = pick(isPose ? /^(box|cls|kpt)\d$/ : /^(box|cls|coef)\d$|^output1$/);
    if (Object.keys(maps).length < 9) continue;
    sameByPlan(
      `${name}, raw maps`,
      { ...typed, coordinates: undefined },
      { ...RULE, scores: "logits" },
      maps,
    );
  }
}

function recordedCases(folder: string, models: Readonly<Record<string, TypedOptions>>): void {
  for (const [model, typed] of Object.entries(models))
    for (const photo of foldersIn(join(folder, model))) {
      const at = join(folder, model, photo);
      const { outputs } = readJson(at, "meta.json") as Golden;
      const wanted = outputs.filter(
        ({ name }) => typed.family !== "blazeface" || /^(regressors|classificators)$/.test(name),
      );
      sameByPlan(`${model}, ${photo}`, typed, RULE, readTensors(at, wanted));
    }
}

const BLAZEFACE = { family: "blazeface", task: "pose", inputSize: [128, 128] } as const;
const BLAZEFACES: Readonly<Record<string, TypedOptions>> = { blazeface_short: BLAZEFACE };

describe("golden and recorded tensors", () => {
  goldenCases(join(fixtures, "beyond", "heads"), ["pose_26", "pose_v8_2d_3cls", "seg_26", "seg_v8"]);
  recordedCases(join(fixtures, "beyond", "recorded"), BLAZEFACES);
});

describeShared("plan files: all golden and recorded tensors", (data) => {
  const heads = join(data, "golden", "beyond", "heads");
  goldenCases(
    heads,
    foldersIn(heads).filter((name) => /^(pose|seg)/.test(name)),
  );
  recordedCases(join(data, "recorded-beyond"), {
    ...BLAZEFACES,
    retinaface_mnet025: { family: "retinaface", inputSize: [640, 640] },
  });
});

/** Returns numbers in -1..1. */
const numbers = (count: number, seed: number): Float32Array => {
  const random = mulberry32(seed);
  return Float32Array.from({ length: count }, () => random() * 2 - 1);
};

const MAP_SIZES = [8, 4, 2] as const;

describe("seeded tensors of other types, in batches", () => {
  const outputs: Tensors = {
    output0: { data: new Float32Array(2 * 10 * 42), dims: [2, 10, 42] },
    output1: { data: numbers(2 * 4 * 8 * 16, 3), dims: [2, 4, 8, 16] },
  };
  const values = outputs.output0.data as Float32Array;
  for (let image = 0; image < 2; image++)
    for (let cell = 0; cell < 42; cell++)
      [
        5 + cell,
        8 + 0.4 * cell,
        9,
        7,
        cell % 5 === image ? 0.8 : 0.1,
        0.2,
        ...numbers(4, 7 * cell + image + 1),
      ].forEach((value, channel) => (values[(image * 10 + channel) * 42 + cell] = value));
  const typed: TypedOptions = { family: "yolov8", task: "segment", classes: 2, inputSize: [64, 32] };
  sameByPlan("two images, f32", typed, RULE, outputs);

  const pixels = outputs.output1.data as Float32Array;
  const toNhwc = new Float32Array(pixels.length);
  for (let n = 0; n < 2; n++)
    for (let k = 0; k < 4; k++)
      for (let i = 0; i < 128; i++) toNhwc[(n * 128 + i) * 4 + k] = pixels[(n * 4 + k) * 128 + i];
  sameByPlan("NHWC prototypes", typed, RULE, { ...outputs, output1: { data: toNhwc, dims: [2, 8, 16, 4] } });

  const i8 = {
    data: Int8Array.from(pixels, (x) => Math.round(x * 100)),
    dims: [2, 4, 8, 16],
    type: "i8",
    scale: 0.02,
    zeroPoint: -3,
  } as const;
  sameByPlan("i8 prototypes", typed, RULE, { ...outputs, output1: i8 });
  const f16 = {
    data: Uint16Array.from(pixels, (x) => (x < 0 ? 0x8000 : 0) | (0x3000 + Math.floor(Math.abs(x) * 4000))),
    dims: [2, 4, 8, 16],
    type: "f16",
  } as const;
  sameByPlan("f16 prototypes", typed, RULE, { ...outputs, output1: f16 });

  // Raw maps of points, quantised, in two images.
  const maps: Tensors = Object.fromEntries(
    MAP_SIZES.flatMap((w, level) => {
      const h = w / 2;
      const map = (channels: number, seed: number, gain: number): Float32Array =>
        numbers(2 * channels * w * h, seed).map((x) => x * gain);
      const quantised = (data: Float32Array): TensorInput => ({
        data: Uint8Array.from(data, (x) => Math.round(x * 20) + 128),
        dims: [],
        type: "u8",
        scale: 0.05,
        zeroPoint: 128,
      });
      return [
        [`box${w}`, { data: map(64, level + 1, 2), dims: [2, 64, h, w] }],
        [`cls${w}`, { data: map(1, level + 11, 4), dims: [2, 1, h, w] }],
        [`kpt${w}`, { ...quantised(map(6, level + 21, 3)), dims: [2, 6, h, w] }],
      ];
    }),
  );
  for (const family of ["yolov8", "yolo26"] as const)
    sameByPlan(
      `${family}: raw maps, u8 points`,
      {
        family,
        task: "pose",
        classes: 1,
        inputSize: [64, 32],
        keypoints: [2, 3],
        keypointNames: ["head", "føt"],
        edges: [[0, 1]],
      },
      { ...RULE, scores: "logits" },
      family === "yolov8"
        ? maps
        : Object.fromEntries(
            Object.entries(maps).map(([name, t]) =>
              name.startsWith("box")
                ? [
                    name,
                    {
                      data: (t.data as Float32Array).slice(0, t.data.length / 16),
                      dims: [2, 4, ...t.dims.slice(2)],
                    },
                  ]
                : [name, t],
            ),
          ),
      FRAMES,
    );
});

const POSE: TypedOptions = {
  family: "yolov8",
  task: "pose",
  classes: 1,
  inputSize: [64, 64],
  keypoints: [17, 3],
  keypointNames: COCO17_NAMES,
  edges: COCO17_EDGES,
};

/** A frame with one person, or none. */
function person(score = 0.9, confidence = 0.5): Tensors {
  const data = new Float32Array(56 * 84);
  [32, 20, 10, 8, score].forEach((value, channel) => (data[channel * 84] = value));
  for (let k = 0; k < 17; k++)
    [k, 2 * k, confidence].forEach((value, i) => (data[(5 + 3 * k + i) * 84] = value));
  return { output0: { data, dims: [1, 56, 84] } };
}

describe("a plan decoder with keypoints", () => {
  const file = compileFor(POSE, {}, person());

  test("names and edges stand in the file, and objects have them", () => {
    const found = loadPlanSync(file).decode(person());
    expect(found.keypointNames).toEqual(COCO17_NAMES);
    expect(found.edges).toEqual(COCO17_EDGES);
    expect(found.at(0)?.keypoints?.[2]).toEqual({
      x: 2 / 64,
      y: 4 / 64,
      confidence: 0.5,
      name: COCO17_NAMES[2],
    });
    const plain = compileFor({ ...POSE, keypointNames: undefined, edges: undefined }, {}, person());
    const bare = loadPlanSync(plain).decode(person());
    expect([bare.keypointNames, bare.edges]).toEqual([undefined, undefined]);
    expect(bare.at(0)?.keypoints?.[2]).toEqual({ x: 2 / 64, y: 4 / 64, confidence: 0.5 });
  });

  test("fresh results keep their points, others are overwritten", () => {
    const [fresh, reused] = [true, false].map((fresh) => loadPlanSync(file, { fresh }));
    const kept = fresh.decode(person(0.9, 0.25));
    const lost = reused.decode(person(0.9, 0.25));
    for (const decoder of [fresh, reused]) decoder.decode(person(0.9, 0.75));
    expect([kept.keypoints?.[2], lost.keypoints?.[2]]).toEqual([0.25, 0.75]);
  });

  test("notes and refusals of createDecoder are those of a plan too", () => {
    const notes: string[] = [];
    const decoder = loadPlanSync(file, { onNote: (note) => notes.push(note) });
    for (let i = 0; i < 2; i++) decoder.decode(person(0.9, NaN));
    expect(notes).toEqual(["keypoints are NaN or infinite, and are given as they are"]);
    expect(() => decoder.decode(person(0.9, 3))).toThrow(TensorError);
    expect(() => decoder.decode(person(0.9, 3))).toThrow("got confidences of keypoints from 3 to 3");
    const normalised = { ...POSE, keypointCoordinates: "normalised" } as const;
    for (const rule of [RULE, {}]) {
      const far = loadPlanSync(compileFor(normalised, rule, person()));
      expect(() => far.decode(person())).toThrow('if they are pixels, say keypointCoordinates: "pixels"');
    }
  });

  test("packets of detections keep points and edges, also without a detection", () => {
    const decoder = loadPlanSync(file);
    for (const score of [0.9, 0]) {
      const sent = createDecoderSync(POSE);
      const found = sent.decode(person(score));
      const packet = toPacket(sent, found, null, { id: "1", source: "door", time: new Date(0) });
      const received = decoder.receive(fromPacket(packet));
      expect(received.length).toBe(score > 0 ? 1 : 0);
      expect(received.edges).toEqual(COCO17_EDGES);
      expect(received.keypoints?.length).toBe(received.length * 51);
    }
  });

  test("bytes that change while the kernel is compiled change nothing", async () => {
    const bytes = file.slice();
    const loading: Promise<PlanDecoder> = loadPlan(bytes);
    bytes.fill(0xff);
    expect((await loading).decode(person()).at(0)?.keypoints).toHaveLength(17);
  });
});

test("a mask of values that are not finite is told of at once, after its frame", () => {
  const typed: TypedOptions = {
    family: "yolo26",
    task: "segment",
    inputSize: [16, 8],
    coordinates: "pixels",
  };
  const outputs: Tensors = {
    output0: { data: [0, 0, 12, 8, 0.9, 0, NaN], dims: [1, 1, 7] },
    output1: { data: new Float32Array(8), dims: [1, 1, 2, 4] },
  };
  const notes: string[] = [];
  const found = loadPlanSync(compileFor(typed, {}, outputs), { onNote: (note) => notes.push(note) }).decode(
    outputs,
  );
  expect(notes).toEqual([]);
  found.mask(0);
  expect(notes).toEqual(["coefficients of a mask are NaN or infinite: no pixel that is NaN is set"]);
});

test("networks whose boxes need the task are still refused", () => {
  expect(() => compilePlan({ family: "movenet" }, { outputs: [{ name: "a", dims: [1, 1, 17, 3] }] })).toThrow(
    TensorError,
  );
});

describe("without the import of the task, loading is refused with its name", () => {
  test.each([
    ["pose", "pose", compileFor(POSE, {}, person())],
    [
      "segment",
      "masks",
      compileFor({ family: "yolov8", task: "segment", classes: 2, inputSize: [64, 32] }, RULE, {
        output0: { data: new Float32Array(420), dims: [1, 10, 42] },
        output1: { data: new Float32Array(512), dims: [1, 4, 8, 16] },
      }),
    ],
  ] as const)("%s", async (task, entry, file) => {
    const message = `got none for "${task}", expected import { ${entry} } from "boxwright/plan", and loadPlan(bytes, { tasks: [${entry}] })`;
    const options = { tasks: [] };
    expect(() => loadPlanSync(file, options)).toThrow(
      new ConfigError([{ path: "options.tasks", message }]).message,
    );
    expect(() => loadPlanSync(file, options)).toThrow(ConfigError);
    await expect(loadPlan(file, options)).rejects.toThrow(ConfigError);
    expect(loadPlanSync(file).slots).toBeTypeOf("object");
  });
});
