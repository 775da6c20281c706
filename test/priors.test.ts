/** Generators of priors: as many as published, and no rows from sizes that make none. Their values: `recorded.test.ts`. */
import { expect, test } from "vitest";
import {
  blazefaceAnchors,
  caffePriors,
  ssdAnchors,
  ssdMobilenetAnchors,
  ultrafacePriors,
} from "../src/priors.ts";

test.each([
  ["SSD-MobileNet at 300", ssdMobilenetAnchors(), 1917],
  ["BlazeFace, short range", blazefaceAnchors(), 896],
  ["BlazeFace, camera at the back", blazefaceAnchors([256, 256]), 896],
  ["BlazeFace, full range", blazefaceAnchors([192, 192]), 2304],
  ["UltraFace at 320 x 240", ultrafacePriors(), 4420],
  ["UltraFace at 640 x 480", ultrafacePriors([640, 480]), 17640],
])("%s", (_, rows, count) => {
  expect(rows.length).toBe(count * 4);
  // centres inside; boxes may be larger than the image
  expect(rows.every((x, i) => x > 0 && (i % 4 > 1 || x < 1))).toBe(true);
});

test("Caffe: one box, one of the larger size, two for each ratio that is flipped", () => {
  const layer = { width: 2, height: 2, minSize: 60, maxSize: 111, aspectRatios: [2, 3], flip: true };
  const rows = caffePriors([300, 300], [layer]);
  expect(rows.length).toBe(4 * 6 * 4);
  expect(Array.from(rows.subarray(0, 4))).toEqual([0.15, 0.15, 0.35, 0.35].map((x) => Math.fround(x)));
});

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
])("%s is refused", (make, message) => {
  expect(make).toThrow(new RangeError(message));
});
