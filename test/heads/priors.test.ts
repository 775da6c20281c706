/**
 * Generators of priors: as many as published, and no rows from sizes that make none. Their values by plain arithmetic;
 * those of real networks: `recorded.test.ts`.
 */
import { describe, expect, test } from "vitest";
import {
  blazefaceAnchors,
  caffePriors,
  efficientdetPriors,
  ssdAnchors,
  ssdMobilenetAnchors,
  ultrafacePriors,
} from "../../src/heads/priors.ts";
import { createDecoderSync } from "../../src/entries/index.ts";

test.each([
  ["SSD-MobileNet at 300", ssdMobilenetAnchors(), 1917],
  ["BlazeFace, short range", blazefaceAnchors(), 896],
  ["BlazeFace, camera at the back", blazefaceAnchors([256, 256]), 896],
  ["BlazeFace, full range", blazefaceAnchors([192, 192]), 2304],
  ["EfficientDet D0 at 512", efficientdetPriors(), 49104],
  ["EfficientDet Lite0 at 320", efficientdetPriors([320, 320], { scale: 3 }), 19206],
  ["UltraFace at 320 x 240", ultrafacePriors(), 4420],
  ["UltraFace at 640 x 480", ultrafacePriors([640, 480]), 17640],
])("%s", (_, rows, count) => {
  expect(rows.length).toBe(count * 4);
  // centres inside; boxes may be larger than the image
  expect(rows.every((x, i) => x > 0 && (i % 4 > 1 || x < 1))).toBe(true);
});

test("Caffe: one box, one of the larger size, two for each ratio that is flipped", () => {
  const layer = { width: 2, height: 2, minSize: 60, maxSize: 111, aspectRatios: [2, 3] };
  const rows = caffePriors([300, 300], [layer]);
  expect(rows.length).toBe(4 * 6 * 4);
  expect(caffePriors([300, 300], [{ ...layer, flip: false }]).length).toBe(4 * 4 * 4);
  // what is there already adds nothing
  expect(caffePriors([300, 300], [{ ...layer, aspectRatios: [2, 0.5, 3, 2] }])).toEqual(rows);
  expect(Array.from(rows.subarray(0, 4))).toEqual([0.15, 0.15, 0.35, 0.35].map((x) => Math.fround(x)));
});

test("Caffe: each ratio before its inverse, cells a step apart whatever the input, corners of both axes", () => {
  const layer = {
    width: 2,
    height: 1,
    minSize: 16,
    maxSize: 64,
    aspectRatios: [1, 4],
    flip: true,
    step: 8,
    offset: 0.25,
  };
  // 16 x 16, sqrt(16 x 64) = 32 a side, 16 x sqrt(4) by 16 / sqrt(4), and that on its side; ratio 1 is there already
  const sizes = [
    [16, 16],
    [32, 32],
    [32, 8],
    [8, 32],
  ];
  // a quarter of a cell into the first and the second
  const expected = [2, 10].flatMap((cx) =>
    sizes.flatMap(([w, h]) => [(cx - w / 2) / 64, (2 - h / 2) / 32, (cx + w / 2) / 64, (2 + h / 2) / 32]),
  );
  expect([...caffePriors([64, 32], [layer])]).toEqual(expected);
  // without a step, cells are as large as they come: 32 x 32 pixels
  const [x, y] = caffePriors([64, 32], [{ width: 2, height: 1, minSize: 16 }]);
  expect([x, y]).toEqual([(16 - 8) / 64, (16 - 8) / 32]);
});

describe("ssdAnchors", () => {
  const one = { inputSize: [64, 32] as [number, number], strides: [32], minScale: 0.25, maxScale: 0.75 };

  test("a single layer has the mean of both scales, and a box between that and 1", () => {
    // 64x32 in cells of 32: two side by side; (0.25 + 0.75) / 2 at ratios 1 and 4, and sqrt(0.5 x 1) at the ratio of
    // its own
    const between = Math.sqrt(0.5);
    const sizes = [
      [0.5, 0.5],
      [1, 0.25],
      [between * 2, between / 2],
    ];
    const expected = [0.25, 0.75].flatMap((x) => sizes.flatMap((size) => [x, 0.5, ...size]));
    expect([...ssdAnchors({ ...one, aspectRatios: [1, 4], interpolatedRatio: 4 })]).toEqual(
      expected.map(Math.fround),
    );
  });

  test("interpolatedRatio 0: no box between two scales", () => {
    expect([...ssdAnchors({ ...one, aspectRatios: [1], interpolatedRatio: 0 })]).toEqual(
      [0.25, 0.75].flatMap((x) => [x, 0.5, 0.5, 0.5]),
    );
  });

  test("an offset moves the centres by parts of a cell", () => {
    const rows = ssdAnchors({ ...one, aspectRatios: [1], interpolatedRatio: 0, offset: 0.25 });
    expect([...rows]).toEqual([0.125, 0.625].flatMap((x) => [x, 0.25, 0.5, 0.5]));
  });
});

describe("BlazeFace, rows as large as the image", () => {
  /** The middles of n x n cells, each so many times. */
  const middles = (n: number, times: number): number[] =>
    Array.from({ length: n * n }, (_, i) => [((i % n) + 0.5) / n, (Math.floor(i / n) + 0.5) / n, 1, 1])
      .flatMap((row) => Array.from({ length: times }, () => row))
      .flat()
      .map(Math.fround);

  test("full range: one for each cell of 4 pixels", () => {
    expect([...blazefaceAnchors([192, 192])]).toEqual(middles(48, 1));
  });

  test("short range, as MediaPipe's options make it", () => {
    // face_detection_short_range.pbtxt: 4 layers, fixed_anchor_size, 1 ratio and the one between
    const rows = ssdAnchors({
      inputSize: [128, 128],
      strides: [8, 16, 16, 16],
      minScale: 0.1484375,
      maxScale: 0.75,
      aspectRatios: [1],
      fixedSize: true,
    });
    // the three layers of stride 16 share their cells
    const expected = [...middles(16, 2), ...middles(8, 6)];
    expect([...rows]).toEqual(expected);
    expect([...blazefaceAnchors()]).toEqual(expected);
  });
});

const of = (make: unknown): ((...given: unknown[]) => unknown) => make as (...given: unknown[]) => unknown;
const numbers = { inputSize: [300, 300] as [number, number], strides: [16], minScale: 0.2, maxScale: 0.9 };
test.each([
  [
    () => blazefaceAnchors([300, 200]),
    "inputSize: got [300, 200], expected [128, 128], [192, 192] or [256, 256]",
  ],
  [
    () => ssdAnchors({ ...numbers, inputSize: [NaN, 300] }),
    "inputSize: got [NaN, 300], expected 2 positive numbers",
  ],
  [() => ssdAnchors({ ...numbers, strides: [0] }), "strides: got [0], expected a positive number"],
  [() => ssdAnchors({ ...numbers, strides: [] }), "strides: got [], expected positive numbers"],
  [
    () => ssdAnchors({ ...numbers, aspectRatios: [1, -2] }),
    "aspectRatios: got [1, -2], expected 2 positive numbers",
  ],
  [() => ultrafacePriors([320, 0]), "inputSize: got [320, 0], expected 2 positive numbers"],
  [
    () => caffePriors([300, 300], [{ width: 2, height: 2, minSize: -1 }]),
    "width, height, minSize: got [2, 2, -1], expected 3 positive numbers",
  ],
  [
    () => ssdAnchors({ ...numbers, offset: NaN }),
    "offset: got NaN, expected a number of cells, 0.5 for the middle of one",
  ],
  [
    () => caffePriors([300, 300], [{ width: 2, height: 2, minSize: 9, offset: Infinity }]),
    "offset: got Infinity, expected a number of cells, 0.5 for the middle of one",
  ],
  // such sizes take all memory, or end the process
  [
    () => caffePriors([300, 300], [{ width: 1e6, height: 1e6, minSize: 60 }]),
    "layers: got 1000000000000 boxes, expected at most 4000000",
  ],
  [
    () => ssdMobilenetAnchors([1e6, 1e6]),
    "inputSize, strides: got 19523723154 boxes, expected at most 4000000",
  ],
  [() => ultrafacePriors([1e6, 1e6]), "inputSize: got 46875000000 boxes, expected at most 4000000"],
  [
    () => ssdAnchors({ ...numbers, strides: [0.01] }),
    "inputSize, strides: got 5400000000 boxes, expected at most 4000000",
  ],
  // plain JavaScript may pass anything
  [() => of(ssdMobilenetAnchors)("300x300"), "inputSize: got 300x300, expected a list of 2 positive numbers"],
  [() => of(ssdMobilenetAnchors)([300]), "inputSize: got [300], expected 2 positive numbers"],
  [() => of(blazefaceAnchors)(128), "inputSize: got 128, expected a list of 2 positive numbers"],
  [() => of(ssdAnchors)(null), "options: got null, expected {inputSize, strides, minScale, maxScale}"],
  [() => of(ssdAnchors)(), "options: got undefined, expected {inputSize, strides, minScale, maxScale}"],
  [() => of(ssdAnchors)({}), "inputSize: got undefined, expected a list of 2 positive numbers"],
  [() => of(ssdAnchors)({ ...numbers, strides: 8 }), "strides: got 8, expected a list of positive numbers"],
  [
    () => of(ssdAnchors)({ ...numbers, aspectRatios: 2 }),
    "aspectRatios: got 2, expected a list of positive numbers",
  ],
  [
    () => of(caffePriors)([300, 300], {}),
    "layers: got an object, expected a list of {width, height, minSize, ...}",
  ],
  [
    () => of(caffePriors)([300, 300], [{}]),
    "width, height, minSize: got [undefined, undefined, undefined], expected 3 positive numbers",
  ],
])("%s is refused", (make, message) => {
  expect(make).toThrow(new RangeError(message));
});

describe("priors whose x and y are exchanged", () => {
  /** Returns the notes on the centres of maps of 8 x 4 and 4 x 2 cells. `row` writes a prior. */
  const notesOf = (row: (x: number, y: number) => readonly number[], options: object): string => {
    const priors = [8, 4].flatMap((w) =>
      Array.from({ length: (w * w) / 2 }, (_, i) =>
        row(((i % w) + 0.5) / w, (2 * (Math.floor(i / w) + 0.5)) / w),
      ).flat(),
    );
    const cells = priors.length / 4;
    const config = { family: "ssd", classes: 3, inputSize: [64, 32], priors, ...options } as const;
    const notes: string[] = [];
    createDecoderSync(config, { onNote: (note) => notes.push(note) }).decode({
      boxes: { data: new Float32Array(4 * cells), dims: [1, cells, 4] },
      scores: { data: Float32Array.from({ length: 3 * cells }, (_, i) => (i % 7) / 10), dims: [1, cells, 3] },
    });
    return notes.join("\n");
  };
  const told = "go through their map column by column";
  const variances = [0.1, 0.1, 0.2, 0.2];
  const scales = [10, 10, 5, 5];
  test("are told", () => {
    expect(notesOf((x, y) => [y - 0.1, x - 0.2, y + 0.1, x + 0.2], { variances })).toContain(
      `priors read as xyxy ${told}. If x and y are exchanged, write x before y`,
    );
    expect(notesOf((x, y) => [x, y, 0.4, 0.2], { scales })).toContain('say priorFormat "cxcywh"');
  });
  test("and those that are right are not", () => {
    expect(notesOf((x, y) => [x - 0.2, y - 0.1, x + 0.2, y + 0.1], { variances })).not.toContain(told);
    expect(notesOf((x, y) => [y, x, 0.2, 0.4], { scales })).not.toContain(told);
  });
});
