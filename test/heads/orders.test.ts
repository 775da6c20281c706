/**
 * Boxes in one storage order, and keypoints or coefficients of masks in the other. A square map as wide as a cell has
 * channels fits both.
 */
import { describe, expect, test } from "vitest";
import type { TypedOptions } from "../../src/config/types.ts";
import type { StorageOrder, TensorSpecInput } from "../../src/core/tensor.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";

const BASE: TypedOptions = { family: "yolov8", inputSize: [128, 128] };
const POSE: TypedOptions = { ...BASE, task: "pose", classes: 4, keypoints: [2, 2] };

/** Returns tensors of boxes, of `classes` and of `extra` channels for maps of these sides. The extra ones are NHWC. */
const outputsOf = (
  sides: readonly number[],
  classes: number,
  extra: number,
  isStated = false,
): TensorSpecInput[] =>
  sides.flatMap((side) => {
    const of = (name: string, dims: readonly number[], order: StorageOrder): TensorSpecInput => ({
      name: `${name}${side}`,
      dims: [1, ...dims],
      ...(isStated && { order }),
    });
    return [
      of("boxes", [64, side, side], "NCHW"),
      of("scores", [classes, side, side], "NCHW"),
      of("extra", [side, side, extra], "NHWC"),
    ];
  });

/** Returns the widths of the maps that are read, and the steps of their extra channels. */
function headsOf(options: TypedOptions, outputs: readonly TensorSpecInput[]): unknown {
  const { json } = createDecoderSync(options, { outputs }).describe();
  if (!("heads" in json)) throw new Error("the shapes made no plan");
  return json.heads.map(({ gridWidth, extra }) => [gridWidth, extra]);
}

const SIDES = [16, 8, 4];
const read = SIDES.map((side, i) => [side, { tensor: 3 * i + 2, offset: 0, channel: 1, cell: 4 }]);

describe("keypoints of four channels, [1,4,4,4] at stride 32", () => {
  test("a map whose tensors may be scores and keypoints is refused, not dropped", () => {
    expect(() => headsOf(POSE, outputsOf(SIDES, 4, 4))).toThrow(
      /can be read in 2 ways.*boxes4.*scores4.*boxes4.*extra4.*roles settles it/s,
    );
  });

  test("roles tell them apart", () => {
    const roles = { keypoints: SIDES.map((side) => `extra${side}`) };
    expect(headsOf({ ...POSE, roles }, outputsOf(SIDES, 4, 4))).toEqual(read);
  });

  test("so do the orders of the outputs, and another number of classes", () => {
    expect(headsOf(POSE, outputsOf(SIDES, 4, 4, true))).toEqual(read);
    expect(headsOf({ ...POSE, classes: 3 }, outputsOf(SIDES, 3, 4))).toEqual(read);
  });
});

test("coefficients of masks: [1,32,32,32] at stride 16 of a network of 32 classes", () => {
  const options: TypedOptions = { family: "yolov8", task: "segment", classes: 32, inputSize: [512, 512] };
  const sides = [64, 32, 16];
  const prototypes = { name: "prototypes", dims: [1, 32, 128, 128] };
  const outputs = [...outputsOf(sides, 32, 32), prototypes];
  expect(() => headsOf(options, outputs)).toThrow(/can be read in 2 ways.*boxes32.*roles settles it/s);
  const roles = { coefficients: sides.map((side) => `extra${side}`) };
  expect(headsOf({ ...options, roles }, outputs)).toHaveLength(3);
});
