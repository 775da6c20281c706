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
      const data = new Float32Array(channels * h * w).fill(rest ?? 0);
      if (rest === undefined) for (let i = 0; i < data.length; i++) data[i] = channelAt(i) / 8;
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

/** A map of values that do not depend on its storage order: [1,channels,h,w], or [1,h,w,channels]. */
function mapOf(
  order: string,
  [width, height]: readonly number[],
  channels: number,
  stride: number,
  middle = 0,
) {
  const [h, w] = [height / stride, width / stride];
  const isFirst = order === "NCHW";
  const data = new Float32Array(channels * h * w);
  for (let c = 0; c < channels; c++)
    for (let cell = 0; cell < h * w; cell++)
      data[isFirst ? c * h * w + cell : cell * channels + c] = ((cell * 31 + c * 17) % 23) / 23 - middle;
  return { data, dims: isFirst ? [1, channels, h, w] : [1, h, w, channels] };
}

const segment = (extra: number) => ({ task: "segment", extra }) as const;
const oriented = { task: "oriented", extra: 1 } as const;

test.each([
  ["NCHW", "NHWC", [320, 320], 1, 64, segment(10)],
  ["NHWC", "NCHW", [320, 320], 1, 64, segment(10)],
  ["NHWC", "NCHW", [416, 416], 1, 64, segment(52)],
  ["NCHW", "NHWC", [128, 128], 3, 4, segment(8)],
  ["NCHW", "NHWC", [96, 96], 2, 64, pose(3, 2)],
  ["NHWC", "NCHW", [64, 64], 1, 64, pose(4, 2)],
  ["NCHW", "NHWC", [384, 128], 3, 64, pose(6, 2)],
  ["NCHW", "NHWC", [96, 64], 3, 64, oriented],
  ["NHWC", "NCHW", [640, 640], 16, 64, oriented],
] as const)("boxes as %s, more as %s at %j: as in one order", (order, other, size, classes, box, task) => {
  const { extra, ...options } = task;
  const decode = (extraOrder: string) => {
    const strides = [8, 16, 32];
    const tensors = Object.fromEntries([
      ...strides.map((stride) => [`c${stride}`, mapOf(extraOrder, size, extra, stride, 0.5)] as const),
      ...strides.map((stride) => [`a${stride}`, mapOf(order, size, box, stride)] as const),
      ...strides.map((stride) => [`b${stride}`, mapOf(order, size, classes, stride)] as const),
      ...(options.task === "segment" ? [["p", mapOf("NCHW", size, extra, 4, 0.5)] as const] : []),
    ]);
    const roles = {
      [{ segment: "coefficients", pose: "keypoints", oriented: "angles" }[options.task]]: strides.map(
        (s) => `c${s}`,
      ),
    };
    const found = createDecoderSync(
      { family: "yolov8", classes, inputSize: size, ...options },
      { maxDetections: 400, iouThreshold: 1, ...(extraOrder === order && { roles }) },
    ).decode(tensors);
    return found
      .toArray()
      .map((d, i) => ({ ...d, ...(options.task === "segment" && { mask: found.mask(i).data }) }));
  };
  const expected = decode(order);
  expect(expected.length).toBeGreaterThan(3);
  expect(decode(other)).toEqual(expected);
});

test("maps of one network in both orders are refused", () => {
  const size = [320, 192] as const;
  const tensors = Object.fromEntries(
    [8, 16, 32].flatMap((stride) => [
      [`a${stride}`, mapOf("NCHW", size, 66, stride)],
      [`c${stride}`, mapOf(stride === 16 ? "NHWC" : "NCHW", size, 20, stride)],
    ]),
  );
  const base = { family: "yolov8", classes: 2, inputSize: size } as const;
  const masks = { ...tensors, p: mapOf("NCHW", size, 20, 4) };
  expect(() => createDecoderSync({ ...base, task: "segment" }).decode(masks)).toThrow(/segment: got/);
  expect(() => createDecoderSync({ ...base, task: "pose", keypoints: [10, 2] }).decode(tensors)).toThrow(
    /no tensor with 10 keypoints/,
  );
});

test("boxes and points of four channels in two orders are refused, and roles settle them", () => {
  const tensors = Object.fromEntries(
    [8, 16, 32].flatMap((stride) => [
      [`a${stride}`, mapOf("NHWC", [384, 64], 4, stride)],
      [`b${stride}`, mapOf("NHWC", [384, 64], 1, stride)],
      [`c${stride}`, mapOf("NCHW", [384, 64], 4, stride)],
    ]),
  );
  const base = {
    family: "yolov8",
    classes: 1,
    inputSize: [384, 64],
    task: "pose",
    keypoints: [2, 2],
  } as const;
  expect(() => createDecoderSync(base).decode(tensors)).toThrow(/can be read in 2 ways/);
  const settled = createDecoderSync({ ...base, roles: { keypoints: ["c8", "c16", "c32"] } });
  settled.decode(tensors);
  expect(settled.describe().text).toContain("a8 [1,8,48,4] as NHWC");
});
