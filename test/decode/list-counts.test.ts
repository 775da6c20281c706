/** Lists that the network finished, with a count: which output is the count, and scores outside 0..1. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TensorInput } from "../../src/core/tensor.ts";

const ROWS = 10;
const one = (value: number, dims = [1, 1]): TensorInput => ({ data: Float32Array.of(value), dims });
const boxes = Float32Array.from({ length: 4 * ROWS }, (_, i) => 8 * (i >> 2) + (i % 4 < 2 ? 0 : 6));
const scores = (...values: number[]): TensorInput => ({
  data: Float32Array.from({ length: ROWS }, (_, i) => values[i % values.length]),
  dims: [1, ROWS],
});

type Named = Record<string, TensorInput>;
const list = (score: TensorInput): Named => ({
  det_boxes: { data: boxes, dims: [1, ROWS, 4] },
  det_scores: score,
  det_classes: { data: new Int32Array(ROWS), dims: [1, ROWS] },
});
const seven: Named = { num_dets: { data: Int32Array.of(7), dims: [1, 1] } };

function decode(family: string, outputs: Named, more: object = {}) {
  const notes: string[] = [];
  const options = {
    family,
    classes: 3,
    inputSize: [96, 96],
    coordinates: "pixels",
    boxFormat: "xyxy",
    ...more,
  };
  const decoder = createDecoderSync(options as never, { onNote: (note) => notes.push(note) });
  return { found: decoder.decode(outputs), notes, decoder };
}

const LISTS = ["efficient-nms", "imx500", "yolo-nas", "boxes", "tflite-postprocess"];

describe.each(LISTS)("the count of %s", (family) => {
  test.each([0.4, 1, 2.5, 5])("has a telling name, whatever stands in front: %d", (value) => {
    expect(decode(family, { extra: one(value), ...list(scores(0.8)), ...seven }).found.length).toBe(7);
    expect(decode(family, { ...seven, ...list(scores(0.8)), extra: one(value, [1]) }).found.length).toBe(7);
  });

  test("is refused if two outputs may be it, and roles settle it", () => {
    const outputs = { num_a: one(3), num_b: one(7), ...list(scores(0.8)) };
    expect(() => decode(family, outputs)).toThrow(/num_a and num_b, of which each may be the count.*roles/);
    const roles = { boxes: "det_boxes", scores: "det_scores", classIds: "det_classes", count: "num_b" };
    expect(decode(family, outputs, { roles }).found.length).toBe(7);
  });

  test("is refused if it is no whole number", () => {
    expect(() => decode(family, { num_dets: one(2.5), ...list(scores(0.8)) })).toThrow(/count of 2.5 rows/);
  });
});

test.each(["efficient-nms", "imx500", "yolo-nas"])("%s always has a count", (family) => {
  const refusal = new RegExp(`no count of the rows, expected the output that counts them.*${family}`);
  expect(() => decode(family, list(scores(0.8)))).toThrow(refusal);
  expect(() => decode(family, { version: one(1), ...list(scores(0.8)) })).toThrow(refusal);
});

test("a count beside PaddleDetection's rows is found by its name", () => {
  const rows = { data: Float32Array.from([2, 0.9, 8, 8, 40, 40]), dims: [1, 6] };
  const outputs = { rows, time: one(0.4), num_dets: { data: Int32Array.of(1), dims: [1] } };
  expect(decode("paddle-nms", outputs, { coordinates: "pixels" }).found.length).toBe(1);
});

describe("scores outside 0..1", () => {
  test("EfficientNMS in FP16 writes score - 1", () => {
    const { found, notes, decoder } = decode("efficient-nms", { ...seven, ...list(scores(-0.125, -0.5, 0)) });
    expect([...found.scores.slice(0, 7)]).toEqual([1, 1, 0.875, 0.875, 0.875, 0.5, 0.5]);
    expect(notes.join()).toMatch(/det_scores lie in -1..0.*1 is added/);
    // The caller's array is left as it was, and a list of zeros alone is read as the lists before.
    expect(decoder.decode({ ...seven, ...list(scores(0)) }).scores[0]).toBe(1);
  });

  test("in f16", () => {
    // -0.125 and -0.25.
    const half = {
      data: Uint16Array.from({ length: ROWS }, (_, i) => (i % 2 ? 0xb000 : 0xb400)),
      dims: [1, ROWS],
    };
    const { found } = decode("efficient-nms", { ...seven, ...list(half) });
    expect([...found.scores.slice(0, 7)]).toEqual([0.875, 0.875, 0.875, 0.75, 0.75, 0.75, 0.75]);
  });

  test.each(LISTS)("%s: within the count they are refused, also after empty frames", (family) => {
    const bad = list(scores(-0.126, family === "efficient-nms" ? 0.5 : -0.3));
    expect(() => decode(family, { ...seven, ...bad })).toThrow(/row 0: got score -0.126/);
    const { decoder } = decode(family, { num_dets: one(0), ...bad });
    expect(() => decoder.decode({ ...seven, ...bad })).toThrow(/row 0: got score -0.126/);
  });

  test.each(["efficient-nms", "boxes"])("%s: beyond the count they are not looked at", (family) => {
    const first = scores(0.8);
    (first.data as Float32Array).fill(-7, 7);
    expect(decode(family, { ...seven, ...list(first) }).found.length).toBe(7);
  });

  test("rows in one tensor are refused too, and -1 is padding", () => {
    const rows = (score: number): Named => ({
      output: { data: Float32Array.from([0, 8, 8, 40, 40, 2, 0.9, 0, 8, 8, 40, 40, 2, score]), dims: [2, 7] },
    });
    expect(() => decode("yolov7", rows(-0.126))).toThrow(/score -0.126/);
    expect(decode("yolov7", rows(-1)).found.length).toBe(1);
  });
});

describe("a stray output of one value beside hand landmarks", () => {
  const HAND = { family: "hand-landmarks", inputSize: [224, 224] };
  const points = { data: new Float32Array(63).fill(9), dims: [1, 63] };
  const read = (outputs: Named) =>
    createDecoderSync(HAND as never)
      .decode(outputs)
      .at(0);
  test("is no presence", () => {
    const series = { Identity: points, Identity_1: one(0.75), Identity_2: one(0.9), Identity_3: points };
    expect(read({ time: one(0.1), ...series })).toMatchObject({ confidence: 0.75, label: "right" });
    const named = { landmarks: points, handedness: one(0.1), time: one(0.2), presence: one(0.75) };
    expect(read(named)).toMatchObject({ confidence: 0.75, label: "left" });
  });
  test("is refused if nothing tells", () => {
    expect(() => read({ points, a: one(0.75), b: one(0.9), c: one(0.1) })).toThrow(/3 outputs of one value/);
  });
});
