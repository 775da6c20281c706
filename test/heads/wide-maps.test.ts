/** Raw maps that are as wide as a cell has channels. Their storage order cannot be told from one tensor alone. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";

const pose = (count: number, values: 2 | 3) =>
  ({ task: "pose", keypoints: [count, values], extra: count * values }) as const;

test.each([
  ["5 points as wide as stride 32", 320, 320, 1, pose(5, 2)],
  ["5 points of three as wide as stride 32", 480, 480, 1, pose(5, 3)],
  ["4 points as wide as stride 32", 384, 384, 1, pose(4, 3)],
  ["21 points as wide as stride 16", 672, 672, 1, pose(21, 2)],
  ["5 points as high as stride 32, all channels as wide as stride 8", 640, 480, 1, pose(5, 3)],
  ["2 channels as wide and as high as stride 16", 32, 32, 1, pose(1, 2)],
  ["3 channels as high as stride 32", 64, 96, 1, pose(1, 3)],
  ["4 channels as wide and as high as stride 8, and points of 2 x 2", 32, 32, 1, pose(2, 2)],
  ["6 channels, cells of three kinds", 96, 64, 3, pose(2, 3)],
  ["4 points of two, 8 channels as wide as stride 8", 64, 128, 1, pose(4, 2)],
  ["12 channels as high as stride 8, 12 classes", 96, 128, 3, pose(4, 3)],
  ["16 channels as wide as stride 8", 128, 96, 2, pose(8, 2)],
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
    // Channel k holds k / 8, so that points read in the wrong order are seen.
    const map = (channels: number, stride: number, last = -9, rest?: number) => {
      const [h, w] = [height / stride, width / stride];
      const channelAt = (i: number): number => (order === "NCHW" ? Math.floor(i / (h * w)) : i % channels);
      const data = Float32Array.from({ length: channels * h * w }, (_, i) => rest ?? channelAt(i) / 8);
      if (rest !== undefined) data[data.length - 1] = last;
      return { data, dims: order === "NCHW" ? [1, channels, h, w] : [1, h, w, channels] };
    };
    const tensors = Object.fromEntries([
      ...[8, 16, 32].flatMap((stride) => [
        [`a${stride}`, map(64, stride)],
        // The last class passes in the last cell of each map.
        [`b${stride}`, map(classes, stride, 5, -9)],
        [`c${stride}`, map(extra, stride)],
      ]),
      ...(options.task === "segment" ? [["p", map(extra, 4)]] : []),
    ]);
    const decoder = createDecoderSync({
      family: "yolov8",
      classes,
      iouThreshold: 1,
      inputSize: [width, height],
      rules: { set: "ultralytics", clamp: "none" },
      ...options,
    });
    const found = decoder.decode(tensors);
    expect(
      found.toArray().map((d) => d.class_id),
      order,
    ).toEqual([classes - 1, classes - 1, classes - 1]);
    expect(decoder.describe().text, order).not.toContain("left alone");
    if (options.task !== "pose") continue;
    const values = options.keypoints[1];
    // The cell is the last one of its map: x = (2 raw + column) stride.
    const expected = [8, 16, 32].map((stride) =>
      Array.from({ length: options.keypoints[0] }, (__, k) =>
        [(2 * k * values) / 8 + width / stride - 1, (2 * (k * values + 1)) / 8 + height / stride - 1].map(
          (cells) => cells * stride,
        ),
      ),
    );
    const points = found.toArray().map((d) => d.keypoints?.map(({ x, y }) => [x * width, y * height]) ?? []);
    const sorted = points.sort((a, b) => b[0][0] - b[0][1] - (a[0][0] - a[0][1]));
    expected.sort((a, b) => b[0][0] - b[0][1] - (a[0][0] - a[0][1]));
    sorted.flat(2).forEach((value, i) => expect(value).toBeCloseTo(expected.flat(2)[i], 2));
  }
});

test("points with as many channels as classes are refused with both readings, and roles settle them", () => {
  const map = (channels: number, side: number) => ({
    data: new Float32Array(channels * side * side),
    dims: [1, channels, side, side],
  });
  const tensors = Object.fromEntries(
    [8, 4, 2].flatMap((side) => [
      [`a${side}`, map(64, side)],
      [`b${side}`, map(6, side)],
      [`c${side}`, map(6, side)],
    ]),
  );
  const options = {
    family: "yolov8",
    classes: 6,
    inputSize: [64, 64],
    task: "pose",
    keypoints: [3, 2],
  } as const;
  expect(() => createDecoderSync(options).decode(tensors)).toThrow(
    /can be read in 2 ways.*\n.*b8 \[1,6,8,8\].*\n.*c8 \[1,6,8,8\].*\nroles settles it/,
  );
  const settled = createDecoderSync({ ...options, roles: { keypoints: ["c8", "c4", "c2"] } });
  settled.decode(tensors);
  expect(settled.describe().text).toContain("b8 [1,6,8,8] as NCHW");
});
