/** The option `suppression` of a decoder, against the answers of OpenCV, TensorFlow.js and formulas in doubles. */
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/core/errors.ts";
import type { EngineName } from "../../../src/core/engine-name.ts";
import type { DecoderOptions, Suppression } from "../../../src/config/types.ts";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import type { Detections } from "../../../src/decode/detections.ts";
import { suppress, type SuppressOptions } from "../../../src/entries/index.ts";
import { compilePlan } from "../../../src/planfile/write.ts";
import { type SuppressionCase as Case, suppressionCases } from "../../support/beyond.ts";

const cases = suppressionCases();
const ENGINES: readonly EngineName[] = ["simd", "scalar", "ts"];
const SIDE = 1024;
const CLASSES = 8;

/** Decodes a golden set as the output of a network whose boxes are corners in pixels. */
function decode(c: Case, options: DecoderOptions, classes = c.scores.map(() => 0)): Detections {
  const decoder = createDecoderSync(
    { family: "boxes", classes: CLASSES, inputSize: [SIDE, SIDE], coordinates: "pixels" },
    { confidenceThreshold: 0.05, maxDetections: 1000, ...options },
  );
  const scores = c.scores.flatMap((score, i) =>
    Array.from({ length: CLASSES }, (_, k) => (k === classes[i] ? score : 0)),
  );
  return decoder.decode({
    boxes: { data: Float32Array.from(c.boxes_xyxy.flat()), dims: [1, c.n, 4] },
    scores: { data: Float32Array.from(scores), dims: [1, c.n, CLASSES] },
  });
}

const filled = cases.filter(({ n }) => n > 1);

const INDICES: readonly (readonly [string, "answers" | "outside", Suppression["method"]])[] = [
  ["fast_0.45", "answers", "fast"],
  ["diou_0.45", "answers", "diou"],
  ["opencv4.6 NMSBoxes 0.45", "outside", "hard"],
];
const SCORES: readonly (readonly [string, "answers" | "outside", Suppression])[] = [
  ["opencv4.6 softNMSBoxes linear", "outside", { method: "soft-linear", iouThreshold: 0.3 }],
  ["opencv4.6 softNMSBoxes gaussian", "outside", { method: "soft-gaussian" }],
  [
    "tfjs 4.22.0 nonMaxSuppressionWithScore iou 1 score 0.05 softNmsSigma 0.5",
    "outside",
    { method: "soft-tensorflow" },
  ],
  ["soft_linear thr0.3 stop0.05", "answers", { method: "soft-linear", iouThreshold: 0.3 }],
];

describe.each(ENGINES)("%s", (engine) => {
  describe.each(filled.map((c) => [c.n, c] as const))("%i boxes", (_, c) => {
    test.each(INDICES)("%s", (name, from, suppression) => {
      const found = decode(c, { engine, suppression, confidenceThreshold: 0 });
      expect([...found.sources.subarray(0, found.length)]).toEqual(c[from][name]);
    });

    test.each(SCORES)("%s", (name, from, suppression) => {
      const found = decode(c, { engine, suppression });
      const expected = c[from][name] as readonly (readonly [number, number])[];
      expect([...found.sources.subarray(0, found.length)]).toEqual(expected.map(([index]) => index));
      expected.forEach(([, score], i) => expect(found.scores[i]).toBeCloseTo(score, 6));
    });

    test.each(["weighted", "merge", "nmw", "matrix"] as const)("%s, as `suppress` says it", (method) => {
      const found = decode(c, { engine, suppression: method, confidenceThreshold: 0 }, [...c.classes]);
      const options = { method, classIds: c.classes, ...(method !== "matrix" && { iouThreshold: 0.45 }) };
      const expected = suppress(c.boxes_xyxy.flat(), c.scores, options as SuppressOptions);
      // Lowered scores below the confidence threshold, here 0, stay.
      expect([...found.sources.subarray(0, found.length)]).toEqual([...expected.indices]);
      expected.boxes.forEach((v, i) => expect(found.boxes[i] * SIDE).toBeCloseTo(v, 3));
      expected.scores.forEach((v, i) => expect(found.scores[i]).toBeCloseTo(v, 6));
    });
  });
});

const [case60] = cases.filter(({ n }) => n === 60);

test("the three engines leave the same rows", () => {
  const rows = ENGINES.map((engine) =>
    JSON.stringify(decode(case60, { engine, suppression: "weighted" }, [...case60.classes])),
  );
  expect(rows[1]).toBe(rows[0]);
  expect(rows[2]).toBe(rows[0]);
});

test('suppression acts within a class, and over classes with suppress: "all"', () => {
  const classes = case60.scores.map((_, i) => i % 2);
  const within = decode(case60, { suppression: "hard" }, classes).length;
  const over = decode(case60, { suppression: "hard", rules: { suppress: "all" } }, classes).length;
  expect(over).toBeLessThan(within);
  expect(within).toBe(decode(case60, {}, classes).length);
  expect(over).toBe(decode(case60, { rules: { suppress: "all" } }, classes).length);
});

test("a score that falls below the threshold is dropped, by class where there is a list", () => {
  const classes = case60.scores.map((_, i) => i % 2);
  const one = decode(case60, { suppression: "soft-gaussian", confidenceThreshold: 0.3 }, classes);
  expect(Math.min(...one.toArray().map((d) => d.confidence))).toBeGreaterThanOrEqual(0.3);
  const list = [0.6, 0.3, ...Array<number>(CLASSES - 2).fill(0.3)];
  const each = decode(case60, { suppression: "soft-gaussian", confidenceThreshold: list }, classes).toArray();
  expect(each.filter((d) => d.class_id === 0).every((d) => d.confidence >= 0.6)).toBe(true);
  expect(each.some((d) => d.class_id === 1 && d.confidence < 0.6)).toBe(true);
  const low = decode(
    case60,
    { suppression: { method: "soft-gaussian", scoreThreshold: 0.01 }, confidenceThreshold: 0.3 },
    classes,
  );
  expect(low.length).toBeGreaterThan(one.length);
});

test("update changes the thresholds of the method", () => {
  const decoder = createDecoderSync({
    family: "boxes",
    classes: 1,
    coordinates: "normalised",
    suppression: "hard",
    outputs: undefined,
  } as never);
  const outputs = {
    boxes: { data: [0, 0, 0.5, 0.5, 0, 0, 0.5, 0.3], dims: [1, 2, 4] },
    scores: { data: [0.9, 0.8], dims: [1, 2, 1] },
  };
  expect(decoder.decode(outputs).length).toBe(1); // the IoU is 0.6
  decoder.update({ iouThreshold: 0.7 });
  expect(decoder.decode(outputs).length).toBe(2);
  decoder.update({ maxDetections: 1 });
  expect(decoder.decode(outputs).length).toBe(1);
});

test("keypoints follow the rows that are left", () => {
  const data = new Float32Array(3 * 11);
  // cx cy w h score, three points of x y: the second box overlaps the first
  data.set([
    ...[20, 20, 10, 10, 0.8, 1, 2, 3, 4, 5, 6],
    ...[20, 21, 10, 10, 0.9, 11, 12, 13, 14, 15, 16],
    ...[50, 50, 8, 8, 0.7, 21, 22, 23, 24, 25, 26],
  ]);
  const decoder = createDecoderSync(
    {
      family: "yolov8",
      classes: 1,
      inputSize: [64, 64],
      task: "pose",
      keypoints: [3, 2],
      reading: "class-rows",
    },
    { suppression: { method: "soft-gaussian", scoreThreshold: 0.5 } },
  );
  const found = decoder.decode({ output0: { data, dims: [1, 3, 11] } });
  expect(found.toArray().map((d) => d.keypoints?.map((p) => Math.round(p.x * 64)))).toEqual([
    [11, 13, 15],
    [21, 23, 25],
  ]);
});

test("describe names the method", () => {
  const text = (suppression: DecoderOptions["suppression"]): string => {
    const decoder = createDecoderSync(
      { family: "yolov8", classes: 1, inputSize: [64, 64] },
      { ...(suppression && { suppression }), outputs: [{ name: "output0", dims: [1, 5, 84] }] },
    );
    return decoder.describe().text;
  };
  expect(text("soft-gaussian")).toContain("suppression soft-gaussian per class at");
  expect(text(undefined)).toContain("suppression per class at IoU > 0.45");
});

test.each([
  ["softly", /options\.suppression: method: got "softly", expected one of hard, fast/],
  [{ sigma: 1 }, /sigma/],
  [{ method: "hard", sigma: 1 }, /sigma: got an unknown name/],
  [{ method: "soft-gaussian", sigma: 0 }, /sigma: got 0, expected a number above 0/],
  [{ method: "hard", iouGate: ">=" }, /rules: \{ iouGate \}/],
  [{ method: "hard", maxDetections: 3 }, /the option maxDetections/],
  [{ iouThreshold: 0.3 }, /method: got none/],
  [[1], /suppression/],
  [7, /suppression/],
])("%j is refused", (suppression, message) => {
  const make = (): unknown =>
    createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] }, { suppression } as never);
  expect(make).toThrow(ConfigError);
  expect(make).toThrow(message);
});

test("a plan file has no named suppression", () => {
  expect(() =>
    compilePlan(
      { family: "yolov8", classes: 1, inputSize: [64, 64] },
      { suppression: "matrix", outputs: [{ name: "output0", dims: [1, 5, 84] }] },
    ),
  ).toThrow(/suppression: got "matrix", expected none/);
});
