/** Every column of a decoder's detections survives `suppressDetections`, masks too; what tiles lose says so. */
import { describe, expect, test } from "vitest";
import {
  type Decoder,
  createDecoderSync,
  createTileMerger,
  labelMap,
  mergeTiles,
  suppressDetections,
} from "../../../src/entries/index.ts";
import type { Detections } from "../../../src/decode/detections.ts";

const SIZE = [64, 64] as const;
const WHOLE = { x: 0, y: 0, width: 64, height: 64 };

/** Two coefficients of each box and two prototypes: the left half of the picture, and the right one. */
const PROTOTYPES = {
  data: [0, 1].flatMap((k) => Array.from({ length: 256 }, (_, i) => (i % 16 < 8 === (k === 0) ? 1 : -1))),
  dims: [1, 2, 16, 16],
};

/** Boxes of the left upper part, twice, and of all. The lists are x1, y1, x2, y2, score, class, coefficients. */
const ROWS = [
  [0, 0, 40, 40, 0.9, 0, 1, -1],
  [2, 0, 42, 40, 0.8, 0, 1, 1],
  [0, 0, 64, 64, 0.7, 1, -1, 1],
];

function masksDecoder(): Decoder {
  return createDecoderSync({ family: "yolo26", inputSize: SIZE, task: "segment", coordinates: "pixels" });
}

const decodeMasks = (decoder: Decoder, rows = ROWS): Detections =>
  decoder.decode({
    output0: { data: rows.flat(), dims: [1, rows.length, 8] },
    output1: PROTOTYPES,
  });

const pixelsOf = (found: Detections, i: number): unknown => {
  const { x, y, width, height, data } = found.mask(i, { size: "prototype" });
  return { x, y, width, height, data: [...data] };
};

describe("masks", () => {
  test("each row keeps its mask, after the next decode too", () => {
    const decoder = masksDecoder();
    const found = decodeMasks(decoder);
    const before = [0, 1, 2].map((i) => pixelsOf(found, i));
    expect(new Set(before.map((x) => JSON.stringify(x))).size).toBe(3);
    const hard = suppressDetections(found, { method: "hard", iouThreshold: 0.5 });
    const soft = suppressDetections(found, { method: "soft-gaussian", sigma: 0.1 });
    const again = suppressDetections(soft, { method: "hard", iouThreshold: 0.5, scoreThreshold: 0.5 });
    const map = labelMap(hard, { size: "prototype" });
    decodeMasks(decoder, [[0, 0, 9, 9, 0.9, 0, 1, 1]]);
    expect([...hard.sources]).toEqual([0, 2]);
    expect([pixelsOf(hard, 0), pixelsOf(hard, 1)]).toEqual([before[0], before[2]]);
    // The second box falls behind the third one.
    expect([...soft.sources]).toEqual([0, 2, 1]);
    expect([0, 1, 2].map((i) => pixelsOf(soft, i))).toEqual([before[0], before[2], before[1]]);
    expect([...again.sources]).toEqual([0, 2]);
    expect(pixelsOf(again.copy(), 1)).toEqual(before[2]);
    expect(labelMap(hard, { size: "prototype" })).toEqual(map);
    expect(map.data.includes(1)).toBe(true);
  });

  test("a box that moved crops the mask of its row", () => {
    const found = decodeMasks(masksDecoder());
    const merged = suppressDetections(found, { method: "weighted", iouThreshold: 0.5 });
    expect(merged).toHaveLength(2);
    // From 2 x 0.8 / 1.7 pixels on: the first column of prototype pixels is cut off.
    expect(merged.at(0)?.x_min).toBeCloseTo(1.6 / 1.7 / 64, 6);
    expect(merged.mask(0, { size: "prototype" }).area).toBe(7 * 10);
  });

  test("merged tiles have none, and say so", () => {
    const merged = mergeTiles(SIZE, [[WHOLE, decodeMasks(masksDecoder())]]);
    for (const found of [merged, merged.copy(), suppressDetections(merged)])
      expect(() => found.mask(0)).toThrow(
        "mask: got merged detections of tiles, expected those of a tile: make masks of its detections before",
      );
  });
});

test("keypoints with names and edges, labels, and frames without detections", () => {
  const decoder = createDecoderSync({
    family: "yolo26",
    inputSize: SIZE,
    task: "pose",
    keypoints: [2, 3],
    keypointNames: ["left", "right"],
    edges: [[0, 1]],
    labels: ["cat", "dog"],
    coordinates: "pixels",
  });
  const rows = ROWS.map(([x1, y1, x2, y2, score, id], i) => [
    x1,
    y1,
    x2,
    y2,
    score,
    id,
    i,
    1,
    0.5,
    7,
    i,
    0.25,
  ]);
  const decode = (score: number): Detections =>
    decoder.decode({
      o: { data: rows.flatMap((r) => r.map((v, k) => (k === 4 ? v * score : v))), dims: [1, 3, 12] },
    });
  const found = decode(1).copy();
  const left = suppressDetections(found, { method: "hard", iouThreshold: 0.5 });
  expect(left.toArray()).toEqual([found.at(0), found.at(2)]);
  expect(left.at(1)).toMatchObject({ label: "dog", keypoints: [{ name: "left" }, { name: "right" }] });
  expect(left.edges).toEqual([[0, 1]]);
  const none = suppressDetections(decode(0));
  expect(none).toHaveLength(0);
  expect(none.keypoints).toEqual(new Float32Array(0));
  expect(none.keypointNames).toEqual(["left", "right"]);
});

describe("tiles", () => {
  const boxes = (labels: readonly string[] | null): Detections =>
    createDecoderSync({
      family: "boxes",
      classes: 1,
      coordinates: "normalised",
      ...(labels && { labels }),
    }).decode({
      boxes: { data: [0, 0, 0.5, 0.5], dims: [1, 1, 4] },
      scores: { data: [0.75], dims: [1, 1, 1] },
    });

  test("a list that holds one result twice", () => {
    const decoder = masksDecoder();
    const [left, right] = [WHOLE, { ...WHOLE, width: 32, height: 32 }];
    const pairs = [decodeMasks(decoder), decodeMasks(decoder)].map((d, i) => [[left, right][i], d] as const);
    expect(() => mergeTiles(SIZE, pairs)).toThrow(
      "parts[1]: got the detections of parts[0], which the next decode() overwrote, expected a copy() of each",
    );
    const copies = [decodeMasks(decoder).copy(), decodeMasks(decoder).copy()];
    expect(
      mergeTiles(
        SIZE,
        copies.map((d, i) => [[left, right][i], d] as const),
      ).length,
    ).toBeGreaterThan(0);
    function* oneByOne(): Generator<(typeof pairs)[number]> {
      yield [left, decodeMasks(decoder)];
      yield [right, decodeMasks(decoder)];
    }
    expect(mergeTiles(SIZE, oneByOne()).length).toBeGreaterThan(0);
    expect(() => mergeTiles(SIZE, null as never)).toThrow("parts: got null");
    expect(() => mergeTiles(SIZE, [left] as never)).toThrow("parts[0]: got an object, expected a pair");
  });

  test("networks of another kind or with other labels", () => {
    const merger = createTileMerger(SIZE, { method: "nms" });
    merger.add(WHOLE, boxes(["cat"]));
    expect(() => merger.add(WHOLE, boxes(["dog"]))).toThrow('detections: got labels ["dog"]');
    expect(() => merger.add(WHOLE, boxes(null))).toThrow("detections: got labels null");
    const pose = createDecoderSync({ family: "yolo26", inputSize: SIZE, task: "pose", keypoints: [1, 2] });
    const points = pose.decode({ o: { data: [0, 0, 9, 9, 0.9, 0, 5, 5], dims: [1, 1, 8] } });
    expect(() => merger.add(WHOLE, points)).toThrow(
      "detections: got 1 keypoints a row, expected boxes alone, as in the tiles before",
    );
    expect(() => merger.add(WHOLE, [] as never)).toThrow(
      "detections: got [], expected what decode() returned",
    );
    // Nothing was taken of what was refused.
    expect(merger.length).toBe(1);
    merger.clear();
    merger.add(WHOLE, points);
    expect(merger.merge().at(0)?.keypoints).toHaveLength(1);
  });
});
