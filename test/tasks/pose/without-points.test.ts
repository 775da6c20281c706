/** Decodes SCRFD without points: the boxes are the same as with points. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../../src/entries/index.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";

const STRIDES = [8, 16, 32];
const rows = (name: string, stride: number, width: number, at: (row: number, c: number) => number) => {
  const count = (64 / stride) ** 2 * 2;
  const data = Float32Array.from({ length: count * width }, (_, i) => at(Math.floor(i / width), i % width));
  return [`${name}_${stride}`, { data, dims: [count, width] }] as const;
};
/** @param points strides with a tensor of points */
const outputs = (points: readonly number[]): Record<string, TensorInput> =>
  Object.fromEntries([
    ...STRIDES.map((stride) =>
      rows("score", stride, 1, (row) => (row % 7 === 3 ? 0.6 + stride / 100 : 0.01)),
    ),
    ...STRIDES.map((stride) => rows("bbox", stride, 4, (row, c) => 0.5 + c / 4 + (row % 2))),
    ...points.map((stride) => rows("kps", stride, 10, (_, c) => c / 10)),
  ]);
const decoder = () => createDecoderSync({ family: "scrfd", inputSize: [64, 64] });

test("boxes without points are those with points", () => {
  const whole = decoder().decode(outputs(STRIDES)).copy();
  const alone = decoder().decode(outputs([])).copy();
  expect(whole.length).toBeGreaterThan(3);
  expect(whole.keypoints).toHaveLength(whole.length * 15);
  expect(alone.keypoints).toBeUndefined();
  expect([alone.boxes, alone.scores, alone.classIds]).toEqual([whole.boxes, whole.scores, whole.classIds]);
});
test("points of some levels alone are refused", () => {
  expect(() => decoder().decode(outputs([8, 16]))).toThrow(/expected for scrfd|no tensor with 5 keypoints/);
});
