/**
 * A score that equals its threshold in f32 equals it in every function. Decoders give f32, and callers write decimal
 * numbers: 0.1, 0.3 and 0.6 grow when they are rounded to f32, 0.35, 0.7 and 0.9 shrink.
 */
import { describe, expect, test } from "vitest";
import {
  classMap,
  createDecoderSync,
  createTracker,
  fuse,
  nms,
  nmsOriented,
  suppress,
} from "../../src/entries/index.ts";

const THRESHOLDS = [0.1, 0.3, 0.35, 0.6, 0.7, 0.9];
const ULP = 2 ** -23;
/** A score below the threshold, the threshold, and a score above. */
const around = (threshold: number): Float32Array =>
  Float32Array.from([1 - ULP, 1, 1 + ULP], (factor) => Math.fround(threshold) * factor);
/** Three boxes far apart. */
const boxes = [0, 0, 10, 10, 50, 0, 60, 10, 100, 0, 110, 10];

describe.each(THRESHOLDS)("threshold %f", (threshold) => {
  const scores = around(threshold);

  test.each([
    ["nms", (): ArrayLike<number> => nms(boxes, scores, { scoreThreshold: threshold })],
    [
      "suppress",
      (): ArrayLike<number> =>
        suppress(boxes, scores, { method: "weighted", scoreThreshold: threshold }).indices,
    ],
    [
      "nmsOriented",
      (): ArrayLike<number> => {
        const turned = boxes.map((x, i) => (i % 4 < 2 ? x + 5 : 10));
        const rows = [0, 4, 8].flatMap((i) => [...turned.slice(i, i + 4), 0.3]);
        return nmsOriented(rows, scores, { scoreThreshold: threshold });
      },
    ],
  ])("%s ignores it, as documented", (_, kept) => {
    expect([...Array.from(kept())]).toEqual([2]);
  });

  describe("a score that a method lowers to it", () => {
    // The IoU of 0.5 halves the second score.
    const lowered = [2, 2 * Math.fround(threshold)];
    const halves = [0, 0, 10, 10, 0, 0, 10, 5];
    const rowsOf = (options: object) =>
      Array.from(suppress(halves, lowered, { ...options, scoreThreshold: threshold }).indices);
    test.each([{ method: "soft-linear" }, { method: "matrix", kernel: "linear" }])("stays: %j", (options) => {
      expect(rowsOf(options)).toEqual([0, 1]);
    });
    test("is dropped by soft-tensorflow", () => {
      expect(rowsOf({ method: "soft-tensorflow", sigma: 0.125 / Math.LN2 })).toEqual([0]);
    });
    test.each([{}, { scoreThreshold: threshold }])("stays in a decoder: %j", (stated) => {
      const decoder = createDecoderSync({
        family: "boxes",
        classes: 1,
        inputSize: [64, 64],
        confidenceThreshold: threshold,
        suppression: { method: "soft-linear", ...stated },
      });
      const scores = [1, Math.min(1, lowered[1])];
      const { length } = decoder.decode({
        boxes: { data: halves, dims: [1, 2, 4] },
        scores: { data: scores, dims: [1, 2, 1] },
      });
      expect(length).toBe(threshold <= 0.5 ? 2 : 1);
    });
  });

  test("fuse keeps it, as documented", () => {
    expect(fuse([{ boxes, scores }], { scoreThreshold: threshold }).scores).toHaveLength(2);
  });

  test("classMap of one channel leaves it without a class", () => {
    expect([...classMap({ data: scores, dims: [1, 3] }, { threshold }).data]).toEqual([255, 255, 0]);
  });

  test("a mask that the network finished leaves its pixel out", () => {
    const decoder = createDecoderSync({
      family: "rtmdet-ins",
      task: "segment",
      classes: 1,
      inputSize: [3, 2],
      confidenceThreshold: 0.5,
    });
    const found = decoder.decode({
      dets: { data: [0, 0, 3, 2, 0.95], dims: [1, 1, 5] },
      labels: { data: [0], dims: [1, 1] },
      masks: { data: [...scores, ...scores], dims: [1, 1, 2, 3] },
    });
    expect([...found.mask(0, { size: "network", threshold }).data]).toEqual([0, 0, 1, 0, 0, 1]);
    const equal = decoder.decode({
      dets: { data: [0, 0, 3, 2, 0.95], dims: [1, 1, 5] },
      labels: { data: [0], dims: [1, 1] },
      masks: { data: Array<number>(6).fill(scores[1]), dims: [1, 1, 2, 3] },
    });
    expect(equal.mask(0, { size: [53, 41], threshold }).data).not.toContain(1);
  });

  test("text: a pixel that equals the mask's threshold is none", () => {
    const countOf = (value: number): number => {
      const data = new Float32Array(32 * 32);
      for (let y = 8; y < 20; y++) data.fill(value, y * 32 + 4, y * 32 + 28);
      const decoder = createDecoderSync({
        family: "dbnet",
        inputSize: [32, 32],
        maskThreshold: threshold,
        confidenceThreshold: 0.05,
      });
      return decoder.decode([{ data, dims: [1, 1, 32, 32] }]).length;
    };
    expect([...scores].map(countOf)).toEqual([0, 0, 1]);
  });

  test("trackers take it as their sources say", () => {
    const box = [0, 0, 50, 50];
    const seen = (options: Parameters<typeof createTracker>[0]): boolean[] =>
      [...scores].map(
        (score) =>
          createTracker(options).update({ length: 1, boxes: box, scores: Float32Array.of(score) }, 0)[0] > 0,
      );
    expect(seen({ method: "ocsort", confidenceThreshold: threshold })).toEqual([false, false, true]);
    expect(seen({ highThreshold: threshold, newThreshold: 0 })).toEqual([false, false, true]);
    expect(seen({ lowThreshold: 0, highThreshold: 0.05, newThreshold: threshold })).toEqual([
      false,
      true,
      true,
    ]);
  });
});
