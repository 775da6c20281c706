/** Raw keypoints of all cells in one tensor, beside raw maps of boxes: exports of YOLOv8 pose for microcontrollers. */
import { describe, expect, test } from "vitest";
import { TensorError } from "../../../src/core/errors.ts";
import { createDecoderSync } from "../../../src/entries/index.ts";
import { mulberry32 } from "../../support/seeded-networks.ts";

const SIDES = [32, 16, 8];
const CELLS = SIDES.reduce((sum, side) => sum + side * side, 0);
const POINTS = 51;
const config = {
  family: "yolov8",
  task: "pose",
  classes: 1,
  keypoints: [17, 3],
  inputSize: [256, 256],
} as const;

/** Maps of boxes and scores with some objects, and the raw points of each map, cell by cell. */
const random = mulberry32(7);
const boxes = Object.fromEntries(
  SIDES.flatMap((side) => {
    const box = new Float32Array(64 * side * side);
    // Distances of 1 or 2 strides: the mass of each distribution lies in one bin.
    for (let i = 0; i < box.length / 16; i++) box[i * 16 + 1 + Math.floor(random() * 2)] = 20;
    const score = new Float32Array(side * side).fill(-9);
    score[(side - 2) * side + side - 2] = 2;
    return [
      [`box${side}`, { data: box, dims: [1, side, side, 64] }],
      [`score${side}`, { data: score, dims: [1, side, side, 1] }],
    ];
  }),
);
const points = Float32Array.from({ length: CELLS * POINTS }, () => random() * 4 - 2);
const whole = { keypoints: { data: points, dims: [1, CELLS, POINTS] } };
const planes = {
  keypoints: {
    data: Float32Array.from(points, (_, i) => points[(i % CELLS) * POINTS + Math.floor(i / CELLS)]),
    dims: [1, POINTS, CELLS],
  },
};
const perMap = Object.fromEntries(
  SIDES.map((side, i) => {
    const first = SIDES.slice(0, i).reduce((sum, s) => sum + s * s, 0) * POINTS;
    return [
      `points${side}`,
      { data: points.subarray(first, first + side * side * POINTS), dims: [1, side, side, POINTS] },
    ];
  }),
);

describe.each([
  ["rows", whole],
  ["planes", planes],
])("%s", (_, tensor) => {
  test("are refused as decoded ones, with the option that settles it", () => {
    for (const keypointCoordinates of [undefined, "normalised"] as const) {
      let error: unknown;
      try {
        createDecoderSync({ ...config, ...(keypointCoordinates && { keypointCoordinates }) }).decode({
          ...boxes,
          ...tensor,
        });
      } catch (e) {
        error = e;
      }
      expect(error).toBeInstanceOf(TensorError);
      expect((error as TensorError).message).toMatch(/keypoints far from their box, expected decoded/);
      expect((error as TensorError).options).toEqual([{ option: "keypointCoordinates", value: "strides" }]);
    }
  });

  test("are the points of one tensor for each map", () => {
    const found = createDecoderSync({ ...config, keypointCoordinates: "strides" })
      .decode({ ...boxes, ...tensor })
      .toArray();
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(
      createDecoderSync(config)
        .decode({ ...boxes, ...perMap })
        .toArray(),
    );
    // Ultralytics, `Pose.kpts_decode`: (2 raw + cell) x stride, and the sigmoid of the third value.
    const [{ keypoints }] = found;
    const at = [0, 1, 2].flatMap((i) => {
      const side = SIDES[i];
      const cell = SIDES.slice(0, i).reduce((sum, s) => sum + s * s, 0) + (side - 2) * (side + 1);
      const [x, y, logit] = points.subarray(cell * POINTS, cell * POINTS + 3);
      return [[(2 * x + side - 2) / side, (2 * y + side - 2) / side, 1 / (1 + Math.exp(-logit))]];
    });
    const close = at.some(
      ([x, y, c]) =>
        Math.abs(keypoints![0].x - Math.min(1, Math.max(0, x))) < 1e-5 &&
        Math.abs(keypoints![0].y - Math.min(1, Math.max(0, y))) < 1e-5 &&
        Math.abs(keypoints![0].confidence - c) < 1e-5,
    );
    expect(close).toBe(true);
  });
});

test("decoded keypoints have no strides", () => {
  const decoded = { output0: { data: new Float32Array(56 * CELLS), dims: [1, 56, CELLS] } };
  expect(() => createDecoderSync({ ...config, keypointCoordinates: "strides" }).decode(decoded)).toThrow(
    /keypointCoordinates "strides" for keypoints that belong to no cell/,
  );
});
