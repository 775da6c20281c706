/** Networks that get the crop of one object: random maps against spec/landmarks.ts, and what is refused or noted. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as spec from "../../../../spec/landmarks.ts";
import type { TypedOptions } from "../../../../src/config/types.ts";
import type { TensorInput } from "../../../../src/core/tensor.ts";
import { createDecoderSync } from "../../../../src/whole/decoder.ts";
import type { Detections } from "../../../../src/decode/detections.ts";
import type { Frame } from "../../../../src/decode/frame.ts";
import { compilePlan } from "../../../../src/entries/node.ts";
import { engines } from "../../../support/engines.ts";
import { type FamilyCase, readFamily } from "../../../support/families.ts";
import { describeShared } from "../../../support/shared-data.ts";

type Tensors = Record<string, TensorInput>;

/** Decodes with every engine, holds the results equal byte by byte, and returns the first one. */
function decodeAll(options: TypedOptions, tensors: Tensors, frame?: Frame): Detections {
  const results = engines.map((engine) =>
    createDecoderSync(options, { engine }).decode(tensors, frame).copy(),
  );
  for (const result of results) expect({ ...result }).toEqual({ ...results[0] });
  return results[0];
}

const noteOf = (options: TypedOptions, tensors: Tensors): string[] => {
  const notes: string[] = [];
  createDecoderSync(options, { onNote: (note) => notes.push(note) }).decode(tensors);
  return notes;
};

/** Values with ties, negatives, and peaks of any height. */
const score = fc.oneof(fc.double({ min: -0.5, max: 1.2, noNaN: true }), fc.constantFrom(0, 0.25, 1, -1));
const values = (count: number) =>
  fc.array(score, { minLength: count, maxLength: count }).map((v) => Float32Array.from(v));

describe("against the specification", () => {
  test("SimCC", () => {
    fc.assert(
      fc.property(values(3 * 16), values(3 * 24), (x, y) => {
        const [found] = decodeAll(
          { family: "rtmpose", inputSize: [8, 12] },
          { simcc_x: { data: x, dims: [1, 3, 16] }, simcc_y: { data: y, dims: [1, 3, 24] } },
        );
        found.keypoints?.forEach((p, k) => {
          const [i, j, confidence] = spec.pointOfSimcc(
            x.subarray(k * 16, k * 16 + 16),
            y.subarray(k * 24, k * 24 + 24),
          );
          expect(p.x).toBeCloseTo(i / 16, 6);
          expect(p.y).toBeCloseTo(j / 24, 6);
          expect(p.confidence).toBe(Math.fround(confidence));
        });
      }),
      { numRuns: 60 },
    );
  });

  test.each(["NCHW", "NHWC"])("heat maps, %s", (order) => {
    const [w, h, count] = [9, 12, 5];
    fc.assert(
      fc.property(values(count * w * h), (maps) => {
        const isFirst = order === "NCHW";
        const stored = isFirst
          ? maps
          : Float32Array.from(maps, (_, i) => maps[(i % count) * w * h + Math.floor(i / count)]);
        const tensors = { heat: { data: stored, dims: isFirst ? [1, count, h, w] : [1, h, w, count] } };
        for (const keypointRefinement of ["none", "centre", "quarter", "dark-udp"] as const) {
          const [found] = decodeAll(
            { family: "hrnet", inputSize: [4 * w, 4 * h], keypointRefinement },
            tensors,
          );
          found.keypoints?.forEach((p, k) => {
            const map = { values: maps.subarray(k * w * h, (k + 1) * w * h), width: w, height: h };
            const peak = spec.peakOf(map);
            const isAbove = peak[2] > 0;
            const at = Array.from(map.values).indexOf(peak[2]);
            const cell = [at % w, Math.floor(at / w)];
            const expected = {
              none: [cell[0] / w, cell[1] / h, Math.min(Math.max(peak[2], 0), 1)],
              centre: [(cell[0] + 0.5) / w, (cell[1] + 0.5) / h, peak[2]],
              quarter: scaled(isAbove ? spec.quarterOf(map, peak) : peak, w, h),
              "dark-udp": scaled(isAbove ? spec.darkOf(map, peak) : peak, w - 1, h - 1),
            }[keypointRefinement];
            // A Newton step over a flat place may go anywhere, and magnifies rounding as it goes.
            const tolerance = 1e-5 * (1 + Math.abs(expected[0]) + Math.abs(expected[1])) ** 2;
            expect(Math.abs(p.x - expected[0])).toBeLessThan(tolerance);
            expect(Math.abs(p.y - expected[1])).toBeLessThan(tolerance);
            expect(p.confidence).toBeCloseTo(expected[2], 6);
          });
        }
      }),
      { numRuns: 15 },
    );
  });

  const scaled = ([x, y, confidence]: readonly number[], w: number, h: number): readonly number[] => [
    x / w,
    y / h,
    confidence,
  ];

  test("MediaPipe's pose refined by heat maps of its own", () => {
    fc.assert(
      fc.property(values(39 * 5), values(39 * 64), (raw, heat) => {
        const points = raw.map((v, i) => (i % 5 < 2 ? (v + 0.4) * 180 : v));
        const logits = heat.map((v) => v * 4 - 1);
        const [found] = decodeAll(
          { family: "pose-landmarks", inputSize: [256, 256] },
          {
            Identity: { data: points, dims: [1, 195] },
            Identity_1: { data: [0.75], dims: [1, 1] },
            Identity_3: { data: logits, dims: [1, 8, 8, 39] },
          },
        );
        expect(found.keypoints).toHaveLength(33);
        found.keypoints?.forEach((p, k) => {
          const map = {
            values: Float32Array.from({ length: 64 }, (_, i) => logits[i * 39 + k]),
            width: 8,
            height: 8,
          };
          const [x, y] = spec.refinedByHeat(map, [points[k * 5] / 256, points[k * 5 + 1] / 256]);
          expect(p.x).toBeCloseTo(x, 5);
          expect(p.y).toBeCloseTo(y, 5);
        });
      }),
      { numRuns: 25 },
    );
  });
});

const simcc = (count = 17, w = 384, h = 512, batch = 1): Tensors => ({
  simcc_x: { data: new Float32Array(batch * count * w).map((_, i) => Math.sin(i)), dims: [batch, count, w] },
  simcc_y: { data: new Float32Array(batch * count * h).map((_, i) => Math.cos(i)), dims: [batch, count, h] },
});
const RTMPOSE = { family: "rtmpose", inputSize: [192, 256] } as const;
const HAND = { family: "hand-landmarks", inputSize: [224, 224] } as const;
const FACE = { family: "face-mesh", inputSize: [192, 192] } as const;
const ramp = (count: number, most: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => (most * i) / count);
const one = (value: number): TensorInput => ({ data: [value], dims: [1, 1] });
const hand = (presence: number, side: number): Tensors => ({
  Identity: { data: ramp(63, 224), dims: [1, 63] },
  Identity_1: one(presence),
  Identity_2: one(side),
  Identity_3: { data: ramp(63, 0.1), dims: [1, 63] },
});

describe("rows", () => {
  test("a batch has one person each, in the frame of each", () => {
    const tensors = simcc(17, 384, 512, 3);
    const crops = [0, 1, 2].map((k) => ({ cx: 100 * k + 50, cy: 80, width: 60, height: 80, angle: k / 4 }));
    const frames = crops.map((crop) => ({ width: 400, height: 200, resize: "stretch", crop }) as const);
    const found = createDecoderSync(RTMPOSE).decodeBatch(tensors, frames);
    const single = (k: number): Detections => {
      const part = (name: string, bins: number): TensorInput => ({
        data: (tensors[name].data as Float32Array).slice(k * 17 * bins, (k + 1) * 17 * bins),
        dims: [1, 17, bins],
      });
      return createDecoderSync(RTMPOSE).decode(
        { simcc_x: part("simcc_x", 384), simcc_y: part("simcc_y", 512) },
        frames[k],
      );
    };
    expect(found).toHaveLength(3);
    found.forEach((one, k) => expect({ ...one }).toEqual({ ...single(k) }));
  });

  test("the presence gates, and the side is the class", () => {
    expect(decodeAll(HAND, hand(0.5, 0.9))).toHaveLength(0);
    expect(decodeAll({ ...HAND, confidenceThreshold: 0.4 }, hand(0.5, 0.9))).toHaveLength(1);
    expect(decodeAll(HAND, hand(0.75, 0.9)).at(0)).toMatchObject({
      class_id: 1,
      label: "right",
      confidence: 0.75,
    });
    expect(decodeAll(HAND, hand(0.75, 0.1)).at(0)?.label).toBe("left");
    expect(decodeAll({ ...HAND, labels: ["L", "R"] }, hand(0.75, 0.1)).at(0)?.label).toBe("L");
    const decoder = createDecoderSync(HAND);
    decoder.update({ confidenceThreshold: 0.8 });
    expect(decoder.decode(hand(0.75, 0.1))).toHaveLength(0);
  });

  test("a hand of MediaPipe before 0.8 has a presence and no side", () => {
    const { Identity: points, Identity_1: presence } = hand(0.75, 0);
    const found = decodeAll(HAND, { ld_21_3d: points, output_handflag: presence });
    expect(found.at(0)).toMatchObject({ class_id: 0, confidence: 0.75 });
    expect(decodeAll(HAND, { ld_21_3d: points, output_handflag: one(0.5) })).toHaveLength(0);
  });

  test("points in metres are turned with the crop, and keep their lengths", () => {
    const upright = decodeAll(HAND, hand(0.75, 0.1)).at(0)?.keypoints;
    const crop = { cx: 50, cy: 50, width: 60, height: 60, angle: Math.PI / 2 };
    const turned = decodeAll(HAND, hand(0.75, 0.1), { width: 100, height: 100, resize: "stretch", crop }).at(
      0,
    )?.keypoints;
    upright?.forEach(({ world, z }, k) => {
      expect(turned?.[k].world?.x).toBeCloseTo(-(world?.y as number), 6);
      expect(turned?.[k].world?.y).toBeCloseTo(world?.x as number, 6);
      // z has the unit of x: the crop is 0.6 of the image wide.
      expect(turned?.[k].z).toBeCloseTo(0.6 * (z as number), 6);
    });
  });

  test("outputs in another order are told by the numbers in their names", () => {
    const given = hand(0.75, 0.9);
    const shuffled = Object.fromEntries(Object.entries(given).reverse());
    expect({ ...decodeAll(HAND, shuffled) }).toEqual({ ...decodeAll(HAND, given) });
  });

  test("a letterboxed frame takes points back too", () => {
    const [plain] = decodeAll(RTMPOSE, simcc());
    const [placed] = decodeAll(RTMPOSE, simcc(), { width: 192, height: 128, resize: "letterbox" });
    placed.keypoints?.forEach(({ x, y }, k) => {
      expect(x).toBeCloseTo((plain.keypoints as NonNullable<typeof plain.keypoints>)[k].x, 6);
      expect(y).toBeCloseTo((plain.keypoints as NonNullable<typeof plain.keypoints>)[k].y * 2 - 0.5, 5);
    });
  });

  test("points of a vector are divided and clipped", () => {
    const points = { data: [0, 128, 256, 64, -8, 300], dims: [1, 6] };
    const found = decodeAll(
      { family: "keypoints", inputSize: [256, 256], keypoints: [3, 2], keypointScale: 256 },
      { points },
    );
    expect(found.at(0)?.keypoints).toEqual([
      { x: 0, y: 0.5, confidence: 1 },
      { x: 1, y: 0.25, confidence: 1 },
      { x: 0, y: 1, confidence: 1 },
    ]);
    const deep = decodeAll(
      { family: "keypoints", inputSize: [64, 64], keypoints: [2, 3] },
      { points: { data: [0.5, 0.25, 1, 1, 0, 0.125], dims: [1, 2, 3] } },
    );
    expect(deep.at(0)?.keypoints?.[0]).toEqual({ x: 0.5, y: 0.25, confidence: 1, z: 1 });
  });

  test("quantised tensors are dequantised", () => {
    const data = Int8Array.from({ length: 4 * 8 * 6 }, (_, i) => (i * 37) % 120);
    const quantised = { heat: { data, dims: [1, 4, 8, 6], scale: 1 / 128, zeroPoint: -8 } };
    const real = { heat: { data: Float32Array.from(data, (v) => (v + 8) / 128), dims: [1, 4, 8, 6] } };
    const options = { family: "hrnet", inputSize: [24, 32] } as const;
    expect({ ...decodeAll(options, quantised) }).toEqual({ ...decodeAll(options, real) });
  });

  test("packets and JSON carry z, presence and metres", () => {
    const [found] = decodeAll(HAND, hand(0.75, 0.9)).toArray();
    const read = JSON.parse(JSON.stringify(found)) as typeof found;
    expect(read.keypoints?.[3]).toMatchObject({
      z: found.keypoints?.[3].z,
      world: found.keypoints?.[3].world,
    });
  });
});

const swapped = (tensors: Tensors, a: string, b: string): Tensors => ({
  ...tensors,
  [a]: tensors[b],
  [b]: tensors[a],
});
const without = (tensors: Tensors, name: string): Tensors =>
  Object.fromEntries(Object.entries(tensors).filter(([key]) => key !== name));
const withDims = (tensors: Tensors, name: string, dims: readonly number[]): Tensors => ({
  ...tensors,
  [name]: { ...tensors[name], dims },
});

test.each<[string, TypedOptions, Tensors, RegExp]>([
  ["SimCC without y", RTMPOSE, without(simcc(), "simcc_y"), /simcc_x \[1,K,384\] and simcc_y \[1,K,512\]/],
  [
    "SimCC of other keypoints",
    RTMPOSE,
    { ...simcc(), simcc_y: simcc(16).simcc_y },
    /no tensors of rtmpose for a 192x256 input/,
  ],
  [
    "SimCC transposed",
    RTMPOSE,
    withDims(withDims(simcc(), "simcc_x", [1, 384, 17]), "simcc_y", [1, 512, 17]),
    /no tensors of rtmpose/,
  ],
  ["SimCC of another input", { ...RTMPOSE, inputSize: [288, 384] }, simcc(), /for a 288x384 input/],
  [
    "SimCC of a lying input",
    { ...RTMPOSE, inputSize: [256, 192] },
    simcc(),
    /simcc_y with 512 bins.*is that its width and height/,
  ],
  ["SimCC without a size", { family: "rtmpose" }, simcc(), /no input size, expected inputSize/],
  ["a count that contradicts", { ...RTMPOSE, keypoints: [21, 3] }, simcc(), /17 keypoints, expected 21/],
  ["names that are too few", { ...RTMPOSE, keypointNames: ["nose"] }, simcc(), /1 names, expected 17/],
  [
    "a refinement of heat maps",
    { ...RTMPOSE, keypointRefinement: "quarter" },
    simcc(),
    /"quarter", expected "none" for rtmpose/,
  ],
  [
    "maps that may be both",
    { family: "hrnet", inputSize: [64, 64] },
    { heat: { data: new Float32Array(16 ** 3), dims: [1, 16, 16, 16] } },
    /heat maps of 16 or of 16/,
  ],
  [
    "maps of another input",
    { family: "hrnet", inputSize: [64, 64] },
    { heat: { data: new Float32Array(17 * 64 * 48), dims: [1, 17, 64, 48] } },
    /one tensor \[1,K,16,16\]/,
  ],
  [
    "points without a count",
    { family: "keypoints", inputSize: [64, 64] },
    { out: { data: new Float32Array(10), dims: [1, 10] } },
    /no number of keypoints/,
  ],
  [
    "points of another count",
    { family: "keypoints", inputSize: [64, 64], keypoints: [4, 2] },
    { out: { data: new Float32Array(10), dims: [1, 10] } },
    /4 x 2 or 4 x 3 values/,
  ],
  [
    "points that stand apart",
    { family: "keypoints", inputSize: [64, 64], keypoints: [5, 2] },
    { out: { data: new Float32Array(10), dims: [1, 2, 5] } },
    /are the values of a point apart/,
  ],
  [
    "points in pixels taken for 0..1",
    { family: "keypoints", inputSize: [64, 64], keypoints: [5, 2] },
    { out: { data: ramp(10, 60), dims: [1, 10] } },
    /say keypointCoordinates: "pixels"/,
  ],
  [
    "a hand without its presence",
    HAND,
    without(without(hand(1, 1), "Identity_1"), "Identity_2"),
    /the presence \[1,1\]/,
  ],
  ["a hand without its side", HAND, without(hand(1, 1), "Identity_2"), /the side \[1,1\]/],
  [
    "a hand of other points",
    HAND,
    {
      ...hand(1, 1),
      Identity: { data: ramp(60, 224), dims: [1, 60] },
      Identity_3: { data: ramp(60, 0.1), dims: [1, 60] },
    },
    /the points \[1,63\]/,
  ],
  [
    "a hand transposed",
    HAND,
    withDims(hand(1, 1), "Identity", [1, 3, 21]),
    /are the values of a point apart/,
  ],
  [
    "metres for points",
    HAND,
    swapped(hand(1, 1), "Identity", "Identity_3"),
    /coordinates up to 0\.09\d*, expected pixels of the input/,
  ],
  ["a raw presence", HAND, hand(4.5, 0.5), /presence 4\.5, expected a probability.*say scores: "logits"/],
  ["a raw side", HAND, hand(0.9, -3), /side -3, expected a probability/],
  [
    "a face of 468 points in 0..1",
    FACE,
    { points: { data: ramp(1404, 1), dims: [1, 1404] }, flag: one(3) },
    /say keypointCoordinates: "normalised"/,
  ],
  [
    "batches that differ",
    FACE,
    { points: { data: ramp(2808, 190), dims: [2, 1404] }, flag: one(3) },
    /the presence/,
  ],
])("%s is refused", (_, options, tensors, message) => {
  for (const engine of engines)
    expect(() => createDecoderSync(options, { engine }).decode(tensors)).toThrow(message);
});

test.each<[string, TypedOptions, Tensors, RegExp]>([
  [
    "a row of NaN",
    RTMPOSE,
    { ...simcc(), simcc_x: { data: new Float32Array(17 * 384).fill(NaN), dims: [1, 17, 384] } },
    /NaN or infinite/,
  ],
  [
    "a NaN in a row",
    RTMPOSE,
    { ...simcc(), simcc_x: { data: new Float32Array(17 * 384).fill(NaN, 0, 3), dims: [1, 17, 384] } },
    /scores of keypoints are NaN or infinite/,
  ],
  ["a presence of NaN", HAND, hand(NaN, 0.5), /the presence is NaN, which passes no threshold/],
  [
    "points of NaN",
    HAND,
    { ...hand(0.9, 0.5), Identity: { data: ramp(63, 224).fill(NaN, 0, 4), dims: [1, 63] } },
    /NaN or infinite/,
  ],
])("%s is noted", (_, options, tensors, message) => {
  expect(noteOf(options, tensors).join("\n")).toMatch(message);
});

test("a network whose points are all NaN gives no row", () => {
  const lost = { ...hand(0.9, 0.5), Identity: { data: new Float32Array(63).fill(NaN), dims: [1, 63] } };
  expect(decodeAll(HAND, lost)).toHaveLength(0);
});

describe("frames with a crop", () => {
  const crop = { cx: 20, cy: 20, width: 20, height: 20 };
  const frame = { width: 100, height: 50, resize: "stretch", crop } as const;
  const yolo = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  const data = new Float32Array(5 * 84);
  data.set([32, 16, 10, 8, 0.9].flatMap((value) => [value, ...Array<number>(83).fill(0)]));
  const boxes = { output0: { data, dims: [1, 5, 84] } };

  test("take boxes back from an upright crop", () => {
    const [d] = yolo.decode(boxes, frame);
    expect(d.x_min).toBeCloseTo((10 + (27 / 64) * 20) / 100, 6);
    expect(d.y_max).toBeCloseTo((10 + (20 / 64) * 20) / 50, 6);
  });

  test.each([
    [{ ...frame, crop: { ...crop, angle: 0.1 } }, /turned by 0\.1, expected an upright one/],
    [{ ...frame, resize: "letterbox" }, /a crop and resize "letterbox", expected resize: "stretch"/],
    [{ ...frame, placed: [0, 0, 64, 64] }, /a crop and "?placed/],
    [{ ...frame, crop: { ...crop, width: 0 } }, /expected \{cx, cy, width, height, angle\}/],
  ])("%# is refused", (bad, message) => {
    expect(() => yolo.decode(boxes, bad as unknown as Frame)).toThrow(message);
  });
});

test("a plan file of such a network is refused", () => {
  const outputs = { simcc_x: { dims: [1, 17, 384] }, simcc_y: { dims: [1, 17, 512] } };
  expect(() => compilePlan(RTMPOSE, { outputs })).toThrow(/a plan file has no place for the rest/);
});

describeShared("golden RTMO", (folder) => {
  interface Persons extends FamilyCase {
    readonly detections: readonly {
      readonly confidence: number;
      readonly x_min: number;
      readonly keypoints: readonly (readonly number[])[];
    }[];
  }
  test("gives boxes and points of the authors' formulas", () => {
    const given = readFamily(`${folder}/golden/families`, "rtmo") as Persons & { tensors: Tensors };
    const { width, height } = given.input;
    const found = decodeAll(
      { family: "rtmo", inputSize: [width, height], confidenceThreshold: 0.4 },
      given.tensors,
    );
    expect(found).toHaveLength(given.detections.length);
    found.toArray().forEach((d, i) => {
      const expected = given.detections[i];
      expect(d.confidence).toBeCloseTo(expected.confidence, 5);
      expect(d.x_min).toBeCloseTo(expected.x_min, 5);
      d.keypoints?.forEach((p, k) => {
        expect(p.x).toBeCloseTo(expected.keypoints[k][0], 5);
        expect(p.confidence).toBeCloseTo(expected.keypoints[k][2], 5);
      });
    });
  });
});
