/** Lists that functions of suppression take: columns of a decoder with spare rows, and thresholds in percent. */
import { describe, expect, test } from "vitest";
import {
  createDecoderSync,
  type Detections,
  fuse,
  nms,
  nmsOriented,
  suppress,
  suppressDetections,
} from "../../src/entries/index.ts";

/** Returns `count` detections of a decoder whose frame before had three more. */
function found(count: number): Detections {
  const decoder = createDecoderSync({
    family: "boxes",
    classes: 2,
    coordinates: "normalised",
    maxDetections: 10,
  });
  const frame = (n: number) => ({
    boxes: { data: Array.from({ length: 24 }, (_, i) => (i >> 2) / 8 + (i & 2 ? 0.1 : 0)), dims: [1, 6, 4] },
    scores: { data: Array.from({ length: 12 }, (_, i) => (i & 1 || i >= 2 * n ? 0 : 0.9)), dims: [1, 6, 2] },
  });
  decoder.decode(frame(count + 3));
  return decoder.decode(frame(count));
}

describe.each([0, 1, 3])("columns of %i detections in a decoder's memory", (count) => {
  const { boxes, scores, classIds, length } = found(count);
  test("hold more rows", () => {
    expect([length, scores.length]).toEqual([count, 10]);
  });
  const rows = Array.from({ length: count }, (_, i) => i);
  test("nms", () => {
    expect([...nms(boxes, scores)]).toEqual(rows);
    expect([...nms(boxes, scores, { classIds, scoreThreshold: 0.1 })]).toEqual(rows);
    // Pass boxes that the caller made of all rows, spare ones too.
    expect([
      ...nms(
        boxes.map((v) => v * 640),
        scores,
      ),
    ]).toEqual(rows);
  });
  test("suppress", () => {
    expect([...suppress(boxes, scores, { classIds }).indices]).toEqual(rows);
  });
  test("nmsOriented", () => {
    const oriented = Array.from(scores, (_, i) => [50 * i, 50, 20, 10, 0]).flat();
    expect([...nmsOriented(oriented, scores)]).toEqual(rows);
  });
  test("fuse, columns, detections and a clone", () => {
    for (const model of [{ boxes, scores, classIds }, found(count), structuredClone(found(count))])
      expect(fuse([model]).scores).toHaveLength(count);
  });
});

test("lists of another length than the columns", () => {
  const { boxes, scores } = found(2);
  expect(() => nms(boxes, scores.slice(0, 2))).toThrow("boxes: got 40 numbers, expected 8");
  expect([...nms(boxes.slice(0, 8), scores)]).toEqual([0, 1]);
});

describe("a score threshold in percent", () => {
  const boxes = [0, 0, 10, 10, 20, 20, 30, 30];
  const ways: { readonly [name: string]: (scores: number[], scoreThreshold: number) => number } = {
    nms: (scores, scoreThreshold) => nms(boxes, scores, { scoreThreshold }).length,
    suppress: (scores, scoreThreshold) => suppress(boxes, scores, { scoreThreshold }).indices.length,
    nmsOriented: (scores, scoreThreshold) =>
      nmsOriented([0, 0, 10, 10, 0, 50, 50, 10, 10, 0], scores, { scoreThreshold }).length,
    fuse: (scores, scoreThreshold) => fuse([{ boxes, scores }], { scoreThreshold }).scores.length,
  };
  test.each(Object.keys(ways))("%s", (name) => {
    expect(() => ways[name]([0.9, 0.8], 25)).toThrow(
      "scoreThreshold: got 25, and scores in 0..1, expected a threshold below 1; 25 percent is 0.25",
    );
    expect(() => ways[name]([0.9, 0.8], 1.5)).toThrow(/expected a threshold below 1$/);
  });
  test.each(Object.keys(ways))("%s: logits, percentages and bytes have thresholds of their own", (name) => {
    expect(ways[name]([30, 20], 25)).toBe(1);
    expect(ways[name]([0, 1], 64)).toBe(0);
    if (name !== "fuse") expect(ways[name]([0.5, -2], 2)).toBe(0);
    expect(ways[name]([0.9, 0.8], Infinity)).toBe(0);
  });
  test("suppressDetections", () => {
    expect(() => suppressDetections(found(2), { scoreThreshold: 25 })).toThrow(/25 percent is 0.25/);
  });
});
