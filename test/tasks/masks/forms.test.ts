/** Forms of outputs, images of a batch, element types and copies: the masks of a decoder are those of `masksOf`. */
import { expect, test } from "vitest";
import { mulberry32 } from "../../../bench/random.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import type { Detections } from "../../../src/decode/detections.ts";
import type { MaskOptions } from "../../../src/decode/mask.ts";
import type { Frame } from "../../../src/decode/frame.ts";
import { createDecoderSync, labelMap, masksOf } from "../../../src/entries/index.ts";
import { engines } from "../../support/engines.ts";

const random = mulberry32(61);
const M = 5;
const SIZE = [64, 32] as const;
const frame: Frame = { width: 100, height: 90, resize: "letterbox" };

const coefficients = Array.from({ length: 3 }, () =>
  Array.from({ length: M }, () => Math.fround(random() - 0.5)),
);
/** Centre x, y, width, height in pixels of the input, far apart. */
const boxes = [
  [16, 16, 8, 20],
  [32, 14, 10, 18],
  [46, 18, 8, 12],
];
const scores = [0.9, 0.8, 0.7];
const prototypes = (): Float32Array => Float32Array.from({ length: M * 16 * 8 }, () => 4 * random() - 2);

/** Rows of centre boxes, what stands between, and coefficients. */
const rowsOf = (between: (row: number) => number[]): number[] =>
  boxes.flatMap((box, row) => [...box, ...between(row), ...coefficients[row]]);

function toPlanes(rows: readonly number[], count: number): number[] {
  const channels = rows.length / count;
  return Array.from({ length: rows.length }, (_, i) => rows[(i % count) * channels + Math.floor(i / count)]);
}

/** Checks every mask, from the result and from its copy. */
function check(found: Detections, tensor: TensorInput, given: Frame | undefined, orders = [0, 1, 2]): void {
  expect(found.length).toBe(3);
  const expected = masksOf({
    prototypes: tensor,
    coefficients: orders.flatMap((row) => coefficients[row]),
    boxes: found.boxes.subarray(0, 12),
    inputSize: SIZE,
    ...(given && { frame: given }),
  });
  expect(expected.some(({ area }) => area > 0)).toBe(true);
  const copy = found.copy();
  const again = copy.copy();
  for (let i = 0; i < 3; i++)
    for (const from of [found, copy, again]) {
      const { x, y, width, height, data, size } = from.mask(i);
      expect({ x, y, width, height, data, size }).toEqual({ ...expected[i] });
    }
  expect(labelMap(again)).toEqual(labelMap(found));
}

const base = { classes: 1, inputSize: SIZE, task: "segment" } as const;

test.each(engines)("%s: rows with objectness, planes, tensors apart", (engine) => {
  const protos = { data: prototypes(), dims: [1, M, 8, 16] };
  const options = { engine, confidenceThreshold: 0.3 };
  const v5 = { data: Float32Array.from(rowsOf((row) => [1, scores[row]])), dims: [1, 3, 6 + M] };
  const yolov5 = createDecoderSync(
    { ...base, family: "yolov5", coordinates: "pixels", strides: undefined },
    options,
  );
  check(yolov5.decode({ a: v5, b: protos }, frame), protos, frame);
  const flat = toPlanes(
    rowsOf((row) => [scores[row]]),
    3,
  );
  const v8 = { data: Float32Array.from(flat), dims: [1, 5 + M, 3] };
  const yolov8 = createDecoderSync({ ...base, family: "yolov8", coordinates: "pixels" }, options);
  check(yolov8.decode({ a: v8, b: protos }), protos, undefined);
  // As YOLACT has them: boxes, scores, coefficients, and prototypes of height, width, channel without a batch.
  const hwc = { data: prototypes(), dims: [8, 16, M] };
  const apart = createDecoderSync(
    { ...base, family: "boxes", boxFormat: "cxcywh", coordinates: "pixels" },
    { ...options, roles: { boxes: "loc", scores: "conf", coefficients: "mask", prototypes: "proto" } },
  );
  const outputs = {
    loc: { data: Float32Array.from(boxes.flat()), dims: [1, 3, 4] },
    conf: { data: Float32Array.from(scores), dims: [1, 3, 1] },
    mask: { data: Float32Array.from(coefficients.flat()), dims: [1, 3, M] },
    proto: hwc,
  };
  check(apart.decode(outputs, frame), hwc, frame);
});

test.each(engines)("%s: each image of a batch has its own prototypes and its own frame", (engine) => {
  const images = [prototypes(), prototypes()];
  const one = toPlanes(
    rowsOf((row) => [scores[row]]),
    3,
  );
  const decoder = createDecoderSync({ ...base, family: "yolov8", coordinates: "pixels" }, { engine });
  const frames = [frame, { width: 64, height: 32, resize: "stretch" } as const];
  const outputs = {
    a: { data: Float32Array.from([...one, ...one]), dims: [2, 5 + M, 3] },
    b: { data: Float32Array.from([...images[0], ...images[1]]), dims: [2, M, 8, 16] },
  };
  const found = decoder.decodeBatch(outputs, frames);
  images.forEach((data, i) => check(found[i], { data, dims: [1, M, 8, 16] }, frames[i]));
  // The next frame without a letterbox forgets the frame.
  decoder.decodeBatch(outputs).forEach((next) => expect(next.mask(0).size).toEqual([64, 32]));
});

test.each(engines)("%s: quantised outputs, and prototypes in a slot", (engine) => {
  const decoder = createDecoderSync({ ...base, family: "yolov8", coordinates: "pixels" }, { engine });
  const data = Int8Array.from({ length: M * 16 * 8 }, () => Math.floor(random() * 256) - 128);
  const protos = { data, dims: [1, 8, 16, M], scale: 0.02, zeroPoint: 11 };
  const v8 = {
    data: Float32Array.from(
      toPlanes(
        rowsOf((row) => [scores[row]]),
        3,
      ),
    ),
    dims: [1, 5 + M, 3],
  };
  check(decoder.decode({ a: v8, b: protos }, frame), protos, frame);
  // In the slots: new prototypes, the same boxes.
  const kept = decoder.decode({ a: v8, b: protos }, frame).copy();
  const before = kept.mask(0);
  for (let i = 0; i < data.length; i++) decoder.slots.b.data[i] = -data[i];
  const found = decoder.decode(undefined, frame);
  check(found, { ...protos, data: decoder.slots.b.data.slice() }, frame);
  expect(kept.mask(0)).toEqual(before);
  expect(found.mask(0).data).not.toEqual(before.data);
});

const bytesOf = (map: Int16Array): Uint8Array => new Uint8Array(map.buffer, map.byteOffset, map.byteLength);

/** Paints the masks of detections one by one, as the definition of a label map says. */
function paintedBy(found: Detections, options: { overlap?: "first" | "last" } & MaskOptions): Int16Array {
  const { overlap = "first", ...rest } = options;
  const [width, height] = found.mask(0, rest).size;
  const map = new Int16Array(width * height).fill(-1);
  const rows = Array.from({ length: found.length }, (_, row) => row);
  for (const row of overlap === "first" ? rows.reverse() : rows) {
    const mask = found.mask(row, rest);
    mask.data.forEach((isSet, i) => {
      const x = mask.x + (i % mask.width);
      const y = mask.y + Math.floor(i / mask.width);
      if (isSet === 1) map[y * width + x] = row;
    });
  }
  return map;
}

test.each(engines)("%s: a label map is its masks, painted one over the other", (engine) => {
  const count = 24;
  // A seed of its own: the scene is the same in every order of the tests.
  const random = mulberry32(62);
  /** Boxes over everything, small ones, and half a pixel outside. */
  const boxOf = (i: number): number[] =>
    i % 4 === 0
      ? [32, 16, 64, 32]
      : [4 + 56 * random(), 2 + 28 * random(), 6 + 30 * random(), 4 + 20 * random()];
  const rows = Array.from({ length: count }, (_, i) => [
    ...boxOf(i),
    0.95 - 0.02 * i,
    ...Array.from({ length: M }, () => 2 * random() - 1.2),
  ]);
  const decoder = createDecoderSync(
    { ...base, family: "boxes", boxFormat: "cxcywh", coordinates: "pixels", rules: { suppress: "none" } },
    { engine, roles: { boxes: "loc", scores: "conf", coefficients: "mask", prototypes: "proto" } },
  );
  // Blobs of different sizes, so that masks have holes, empty rows and borders of all kinds.
  const protos = Float32Array.from({ length: M * 16 * 8 }, (_, i) => {
    const [plane, y, x] = [Math.floor(i / 128), Math.floor((i % 128) / 16), i % 16];
    return 3 * Math.sin(x / (plane + 1) + plane) + 3 * Math.cos(y / (5 - plane) - plane);
  });
  const found = decoder.decode(
    {
      loc: { data: Float32Array.from(rows.flatMap((row) => row.slice(0, 4))), dims: [1, count, 4] },
      conf: { data: Float32Array.from(rows, (row) => row[4]), dims: [1, count, 1] },
      mask: { data: Float32Array.from(rows.flatMap((row) => row.slice(5))), dims: [1, count, M] },
      proto: { data: protos, dims: [1, M, 8, 16] },
    },
    frame,
  );
  expect(found.length).toBe(count);
  for (const overlap of ["first", "last"] as const)
    for (const options of [
      {},
      { size: "network" },
      { size: "prototype" },
      { size: [333, 300] },
      { size: "network", rule: "input_crop_first" },
      { size: "network", rule: "sigmoid_input" },
      { size: "network", rule: "proto" },
      { threshold: 0.2 },
      { threshold: 0.9 },
    ] as MaskOptions[]) {
      const { data } = labelMap(found, { overlap, ...options });
      const painted = paintedBy(found, { overlap, ...options });
      expect(data.some((label) => label > 3)).toBe(true);
      expect(Buffer.compare(bytesOf(data), bytesOf(painted)), JSON.stringify(options)).toBe(0);
    }
});

test("prototypes of other proportions than the input are refused, by a decoder and by masksOf", () => {
  const flat = toPlanes(
    rowsOf((row) => [scores[row]]),
    3,
  );
  const boxes = { data: Float32Array.from(flat), dims: [1, 5 + M, 3] };
  const decoder = createDecoderSync({ ...base, family: "yolov8", coordinates: "pixels" });
  const square = { data: new Float32Array(M * 12 * 12), dims: [1, M, 12, 12] };
  expect(() => decoder.decode({ a: boxes, b: square })).toThrow(
    `[1,${M},12,12], 12x12, for an input of ${SIZE.join("x")}, expected prototypes with the proportions of the input`,
  );
  const inputs = { coefficients: coefficients[0], boxes: [0, 0, 1, 1], inputSize: SIZE } as const;
  expect(() => masksOf({ ...inputs, prototypes: square })).toThrow(
    "expected prototypes with the proportions",
  );
});
