/** Scales per channel: a quantised tensor gives what its reals give, computed here in doubles and rounded once. */
import { expect, test } from "vitest";
import { mulberry32 } from "../../bench/random.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { classMap, createDecoderSync, masksOf } from "../../src/entries/index.ts";
import { loadPlanSync } from "../support/plans.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { engines } from "../support/engines.ts";

const random = mulberry32(42);
const CELLS = 84;

interface Raw extends TensorInput {
  readonly data: Int8Array;
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
}

/** Random bytes of [1,C,84] whose channels have scales of their own: boxes in pixels, then `finest` per channel. */
function rawOf(channels: number, ranges: (c: number) => readonly [low: number, high: number]): Raw {
  const scale = Array.from({ length: channels }, (_, c) => (ranges(c)[1] - ranges(c)[0]) / 255);
  const zeroPoint = scale.map((s, c) => Math.round(-128 - ranges(c)[0] / s));
  const data = Int8Array.from({ length: channels * CELLS }, () => Math.floor(256 * random()) - 128);
  return { data, dims: [1, channels, CELLS], scale, zeroPoint };
}

/** Returns the reals of a tensor, element by element. */
function realsOf({ data, dims, scale, zeroPoint }: Raw, axis: number): TensorInput {
  const step = dims.slice(axis + 1).reduce((n, d) => n * d, 1);
  const reals = Array.from(data, (raw, i) => {
    const k = Math.floor(i / step) % dims[axis];
    return (raw - zeroPoint[k]) * scale[k];
  });
  return { data: Float32Array.from(reals), dims };
}

const box = (c: number): readonly [number, number] => (c < 2 ? [0, 64] : [4, 24]);
const score = (high: number): readonly [number, number] => [0, high];
const config = { family: "yolov8", inputSize: [64, 64], coordinates: "pixels" } as const;

test.each(engines)("%s: boxes, from the data's lists and from lists that are known beforehand", (engine) => {
  const raw = rawOf(7, (c) => (c < 4 ? box(c) : score([0.95, 0.5, 0.2][c - 4])));
  const real = realsOf(raw, 1);
  const options = { engine, confidenceThreshold: 0.3 };
  const expected = createDecoderSync({ ...config, classes: 3 }, options)
    .decode([real])
    .copy();
  expect(expected.length).toBeGreaterThan(2);
  const decoder = createDecoderSync({ ...config, classes: 3 }, options);
  // Twice: the second frame takes the quick way. New lists hold for the frame they come with.
  for (let frame = 0; frame < 2; frame++) expect(decoder.decode([raw]).toArray()).toEqual(expected.toArray());
  const halved = { ...raw, scale: raw.scale.map((s, c) => (c < 4 ? s : s / 2)) };
  expect(decoder.decode([halved]).toArray()).toEqual(
    createDecoderSync({ ...config, classes: 3 }, options)
      .decode([realsOf(halved, 1)])
      .toArray(),
  );
  expect(decoder.decode([raw]).toArray()).toEqual(expected.toArray());
  expect(decoder.stats.plans).toBe(1);
  const { data, dims, scale, zeroPoint } = raw;
  const known = createDecoderSync(
    { ...config, classes: 3 },
    { ...options, outputs: { y: { dims, type: "i8", scale, zeroPoint } } },
  );
  expect(known.slots.y.data).toBeInstanceOf(Float32Array);
  for (let frame = 0; frame < 2; frame++)
    expect(known.decode({ y: { data, dims } }).toArray()).toEqual(expected.toArray());
  // Bytes of the same bits, and reals, as the slot holds them.
  expect(known.decode({ y: { data: new Uint8Array(data.buffer), dims, type: "i8" } }).toArray()).toEqual(
    expected.toArray(),
  );
  expect(known.decode({ y: real }).toArray()).toEqual(expected.toArray());
  known.slots.y.data.set(real.data as Float32Array);
  expect(known.decode().toArray()).toEqual(expected.toArray());
  expect(known.stats.plans).toBe(1);
});

test.each(engines)("%s: keypoints", (engine) => {
  const raw = rawOf(5 + 6, (c) =>
    c < 4 ? box(c) : c === 4 ? score(1) : (c - 5) % 3 === 2 ? score(1) : [0, 64],
  );
  const pose = { ...config, classes: 1, task: "pose", keypoints: [2, 3] } as const;
  const decode = (t: TensorInput) => createDecoderSync(pose, { engine }).decode([t]).toArray();
  const expected = decode(realsOf(raw, 1));
  expect(expected.length).toBeGreaterThan(2);
  expect(expected[0].keypoints?.length).toBe(2);
  expect(decode(raw)).toEqual(expected);
});

test.each(engines)("%s: masks, prototypes and coefficients", (engine) => {
  const raw = rawOf(5 + 4, (c) => (c < 4 ? box(c) : c === 4 ? score(1) : [-1 - c, c]));
  const data = Int8Array.from({ length: 4 * 256 }, () => Math.floor(256 * random()) - 128);
  const protos: Raw = {
    data,
    dims: [1, 4, 16, 16],
    scale: [0.01, 0.02, 0.03, 0.04],
    zeroPoint: [3, 0, -9, 1],
  };
  const segment = { ...config, classes: 1, task: "segment" } as const;
  const decode = (...tensors: TensorInput[]) => createDecoderSync(segment, { engine }).decode(tensors);
  const expected = decode(realsOf(raw, 1), realsOf(protos, 1));
  const found = decode(raw, protos);
  expect(found.length).toBeGreaterThan(2);
  const masks = Array.from({ length: found.length }, (_, i) => found.mask(i));
  expect(masks.some(({ area }) => area > 0)).toBe(true);
  expect(masks).toEqual(masks.map((_, i) => expected.mask(i)));
  const inputs = { coefficients: [1, -1, 2, 0.5], boxes: [0, 0, 1, 1], inputSize: [64, 64] as const };
  expect(masksOf({ ...inputs, prototypes: protos })).toEqual(
    masksOf({ ...inputs, prototypes: realsOf(protos, 1) }),
  );
  expect(classMap(protos, { classes: 4 })).toEqual(classMap(realsOf(protos, 1), { classes: 4 }));
});

test("a plan file has a slot of f32, and takes lists that come with the data", () => {
  const raw = rawOf(5, (c) => (c < 4 ? box(c) : score(1)));
  const { dims, scale, zeroPoint } = raw;
  const network = { ...config, classes: 1 };
  const file = compilePlan(network, { outputs: [{ name: "y", dims, type: "i8", scale, zeroPoint }] });
  const decoder = loadPlanSync(file, { engine: "ts" });
  expect(decoder.slots.y.type).toBe("f32");
  const expected = createDecoderSync(network, { engine: "ts" }).decode([realsOf(raw, 1)]);
  expect(expected.length).toBeGreaterThan(2);
  expect(decoder.decode({ y: raw }).toArray()).toEqual(expected.toArray());
});

test("an axis that two dimensions could be has to be said", () => {
  const dims = [1, 6, 6];
  const data = Int8Array.from({ length: 36 }, () => Math.floor(256 * random()) - 128);
  const raw: Raw = {
    data,
    dims,
    scale: [0.25, 0.25, 0.1, 0.1, 0.004, 0.003],
    zeroPoint: [-128, -128, -128, -128, -128, -128],
  };
  const options = { engine: "ts", order: "planes", confidenceThreshold: 0.1 } as const;
  const decode = (t: TensorInput) =>
    createDecoderSync({ ...config, classes: 2 }, { engine: "ts", confidenceThreshold: 0.1 }).decode([
      { ...t, order: options.order },
    ]);
  expect(() => decode(raw)).toThrow(
    'tensor "output0": got 6 scales, 6 zero points for dims [1,6,6], expected one for each index of axis 1 or 2',
  );
  const found = decode({ ...raw, axis: 1 });
  expect(found.length).toBeGreaterThan(0);
  expect(found.toArray()).toEqual(decode(realsOf(raw, 1)).toArray());
});

test.each<[string, Partial<TensorInput>, string]>([
  ["a list of another length", { scale: [1, 2] }, "got 2 scales, 2 zero points for dims [1,5,84]"],
  ["an axis of another length", { axis: 2 }, "got 5 scales, 5 zero points for dims [1,5,84]"],
  ["no scale at all", { scale: [] }, "got 0 scales"],
  ["a scale of 0", { scale: [1, 1, 0, 1, 1] }, "got scale [1,1,0,1,1], expected a positive number"],
  ["a negative scale", { scale: [1, 1, -1, 1, 1] }, "got scale [1,1,-1,1,1], expected a positive number"],
  ["no number", { scale: [1, 1, NaN, 1, 1] }, "got scale [1,1,NaN,1,1], expected a positive number"],
  ["zero points of another length", { zeroPoint: [1, 2, 3] }, "got 5 scales, 3 zero points"],
  ["zero points that are none", { zeroPoint: [1, 2, 3, 4, NaN] }, "expected a number"],
  ["zero points alone", { scale: 0.5, zeroPoint: [1, 2, 3, 4, 5] }, "got 1 scales, 5 zero points"],
  ["floats", { data: new Float32Array(5 * CELLS) }, "f32 data with scale 1,1,1,1,1 and zeroPoint 0"],
])("refused: %s", (_, change, message) => {
  const good = { data: new Int8Array(5 * CELLS), dims: [1, 5, CELLS], scale: [1, 1, 1, 1, 1] };
  const decoder = createDecoderSync({ ...config, classes: 1 }, { engine: "ts" });
  expect(() => decoder.decode([{ ...good, ...change }])).toThrow(message);
  // Beside a frame that was good.
  decoder.decode([good]);
  expect(() => decoder.decode([{ ...good, ...change }])).toThrow(message);
});
