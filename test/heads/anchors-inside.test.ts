/** Maps [N,h,w,A,5+C]: YOLOv4 of the ONNX model zoo, and YOLOv3 of Keras. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { engines } from "../support/engines.ts";

// prettier-ignore
const ANCHORS = [[12, 16, 19, 36, 40, 28], [36, 75, 76, 55, 72, 146], [142, 110, 192, 243, 459, 401]];
const CONFIG = { classes: 2, inputSize: [416, 416], anchors: ANCHORS } as const;

/** Maps of 52, 26 and 13 cells a side, with one row of values in column 6, row 6 of the last, for its second anchor. */
const outputsOf = (empty: number, row: readonly number[]): object =>
  Object.fromEntries(
    [52, 26, 13].map((n) => {
      const data = new Float32Array(n * n * 3 * 7).fill(empty);
      if (n === 13) data.set(row, ((6 * 13 + 6) * 3 + 1) * 7);
      return [`map_${n}`, { data, dims: [1, n, n, 3, 7] }];
    }),
  );

/** Expects one box around the middle of the cell, as large as its anchor. */
function expectAnchor(config: object, outputs: object, score: number, options: DecoderOptions = {}): string {
  const decoder = createDecoderSync({ ...CONFIG, ...config }, options);
  const found = decoder.decode(outputs as never).toArray();
  expect(found.length).toBe(1);
  const [{ x_min, y_min, x_max, y_max, confidence, class_id }] = found;
  expect(class_id).toBe(1);
  expect(confidence).toBeCloseTo(score, 5);
  [x_min * 416, x_max * 416].forEach((x, i) => expect(x).toBeCloseTo(208 + (i - 0.5) * 192, 3));
  [y_min * 416, y_max * 416].forEach((y, i) => expect(y).toBeCloseTo(208 + (i - 0.5) * 243, 3));
  return decoder.describe().text;
}

const ZOO = outputsOf(0, [0, 0, 0, 0, 0.95, 0.02, 0.9]);
const scaled = { family: "yolov4", scaleXY: [1.2, 1.1, 1.05] };

test.each(engines)("YOLOv4 of the zoo: sigmoid of x and y, scores as they are, %s", (engine) => {
  expectAnchor(scaled, ZOO, 0.855, { engine, scores: "probabilities" });
  expect(expectAnchor(scaled, ZOO, 0.855, { engine })).toContain(
    "scores taken as probabilities beside raw x, y",
  );
});

test.each(["yolov3", "yolov4"])("%s with every value raw", (family) => {
  const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
  const raw = outputsOf(-20, [0, 0, 0, 0, 3, -4, 2]);
  expectAnchor({ family }, raw, sigmoid(3) * sigmoid(2), { scores: "logits" });
});

test("raw scores taken for probabilities are refused", () => {
  const decoder = createDecoderSync({ ...CONFIG, ...scaled } as never);
  expect(() => decoder.decode(outputsOf(-20, [0, 0, 0, 0, 3, -4, 2]) as never)).toThrow(/scores: "logits"/);
});
