/** Raw maps that are as wide as a cell has channels. Their storage order cannot be told from one tensor alone. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/decode/decoder.ts";
import "../../src/entries/masks.ts";
import "../../src/entries/oriented.ts";
import "../../src/entries/pose.ts";

const pose = (count: number, values: 2 | 3) =>
  ({ task: "pose", keypoints: [count, values], extra: count * values }) as const;

test.each([
  ["5 points as wide as stride 32", 320, 320, 1, pose(5, 2)],
  ["5 points of three as wide as stride 32", 480, 480, 1, pose(5, 3)],
  ["4 points as wide as stride 32", 384, 384, 1, pose(4, 3)],
  ["21 points as wide as stride 16", 672, 672, 1, pose(21, 2)],
  ["5 points as high as stride 32, all channels as wide as stride 8", 640, 480, 1, pose(5, 3)],
  ["64 + 1 + 15 channels as wide as stride 8", 640, 640, 1, pose(5, 3)],
  ["64 + 15 + 1 channels as wide as stride 8", 640, 640, 15, { task: "oriented", extra: 1 }],
  ["64 + 15 + 1 channels, not square", 640, 512, 15, { task: "oriented", extra: 1 }],
  ["64 + 24 + 40 coefficients as wide as stride 8", 1024, 1024, 24, { task: "segment", extra: 40 }],
  [
    "32 classes and 32 named coefficients",
    640,
    640,
    32,
    { task: "segment", extra: 32, roles: { coefficients: ["c8", "c16", "c32"] } },
  ],
] as const)("%s (%i x %i): all maps are read", (_, width, height, classes, { extra, ...options }) => {
  for (const order of ["NCHW", "NHWC"]) {
    const map = (channels: number, stride: number, last = -9) => {
      const [h, w] = [height / stride, width / stride];
      const data = new Float32Array(channels * h * w).fill(-9);
      data[data.length - 1] = last;
      return { data, dims: order === "NCHW" ? [1, channels, h, w] : [1, h, w, channels] };
    };
    const tensors = Object.fromEntries([
      ...[8, 16, 32].flatMap((stride) => [
        [`a${stride}`, map(64, stride)],
        // The last class passes in the last cell of each map.
        [`b${stride}`, map(classes, stride, 5)],
        [`c${stride}`, map(extra, stride)],
      ]),
      ...(options.task === "segment" ? [["p", map(extra, 4)]] : []),
    ]);
    const decoder = createDecoderSync({
      family: "yolov8",
      classes,
      iouThreshold: 1,
      inputSize: [width, height],
      ...options,
    });
    const found = decoder.decode(tensors);
    expect(
      found.toArray().map((d) => d.class_id),
      order,
    ).toEqual([classes - 1, classes - 1, classes - 1]);
    expect(decoder.describe().text, order).not.toContain("left alone");
  }
});
