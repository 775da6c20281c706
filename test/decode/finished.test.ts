/** Rows that a network finished: their orders, images, counts, and what is refused. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import type { TypedOptions } from "../../src/config/types.ts";

const f32 = (rows: readonly (readonly number[])[], dims = [rows.length, rows[0]?.length ?? 0]) => ({
  data: Float32Array.from(rows.flat()),
  dims,
});
const i32 = (...values: readonly number[]) => ({ data: Int32Array.from(values), dims: [values.length] });
const i64 = (...values: readonly number[]) => ({
  data: BigInt64Array.from(values, BigInt),
  dims: [1, values.length],
});
const boxes: TypedOptions = { family: "boxes", classes: 80, inputSize: [640, 640] };
const decoded = (options: TypedOptions, outputs: Outputs) =>
  createDecoderSync(options)
    .decode(outputs)
    .toArray()
    .map((d) => [
      d.class_id,
      Number(d.confidence.toFixed(3)),
      ...[d.x_min, d.y_min, d.x_max, d.y_max].map((v) => Number(v.toFixed(3))),
    ]);
const RIGHT = [2, 0.9, 0.1, 0.2, 0.5, 0.6];

describe("values tell the order", () => {
  test.each<[string, Outputs]>([
    ["YOLOv7", { output: f32([[0, 64, 128, 320, 384, 2, 0.9]]) }],
    ["super-gradients", { output: f32([[0, 64, 128, 320, 384, 0.9, 2]]) }],
    ["DetectionOutput", { output: f32([[0, 2, 0.9, 64, 128, 320, 384]], [1, 1, 1, 7]) }],
    ["end to end", { output: f32([[64, 128, 320, 384, 0.9, 2]]) }],
    ["Paddle", { rows: f32([[2, 0.9, 64, 128, 320, 384]]), count: i32(1) }],
    ["Paddle, without the count", { rows: f32([[2, 0.9, 64, 128, 320, 384]]) }],
    ["MMDeploy", { dets: f32([[64, 128, 320, 384, 0.9]], [1, 1, 5]), labels: i64(2) }],
    ["MMDeploy as a list", [f32([[64, 128, 320, 384, 0.9]], [1, 1, 5]), i64(2)]],
  ])("%s", (_, outputs) => {
    expect(decoded(boxes, outputs)).toEqual([RIGHT]);
  });

  test("rows of one class need no class ids, where the family has no other order", () => {
    const detection_out = f32([[64, 128, 320, 384, 0.9]]);
    const one = { ...boxes, classes: 1 };
    expect(decoded({ ...one, family: "mmdeploy" }, { detection_out })).toEqual([[0, ...RIGHT.slice(1)]]);
    expect(() => decoded(one, { detection_out })).toThrow(/expected for boxes/);
    expect(() => decoded({ ...boxes, family: "mmdeploy" }, { detection_out })).toThrow(/class ids/);
  });

  test("EfficientDet: y before x", () => {
    const rows = { detections: f32([[0, 128, 64, 384, 320, 0.9, 2]], [1, 1, 7]) };
    expect(decoded({ ...boxes, family: "efficientdet" }, rows)).toEqual([RIGHT]);
    expect(decoded({ ...boxes, boxFormat: "yxyx" }, rows)).toEqual([RIGHT]);
  });

  test("low scores before normalised boxes are no edges, and scores after boxes have to be stated", () => {
    const normalised: TypedOptions = { ...boxes, coordinates: "normalised", confidenceThreshold: 0.01 };
    const low = { output: f32([[2, 0.05, 0.1, 0.2, 0.5, 0.6]], [1, 1, 6]) };
    expect(decoded(normalised, low)).toEqual([[2, 0.05, ...RIGHT.slice(2)]]);
    const last = { output: f32([[2, 0.1, 0.2, 0.5, 0.6, 0.05]], [1, 1, 6]) };
    expect(() => decoded(normalised, last)).toThrow(/reading names one of .*class-box-score/);
    expect(decoded({ ...normalised, reading: "class-box-score" }, last)).toEqual([
      [2, 0.05, ...RIGHT.slice(2)],
    ]);
  });

  test("both orders are named where values do not tell, and the option reading settles it", () => {
    const rows = { output: f32([[0, 64, 128, 320, 384, 1, 1]]) };
    expect(() => decoded(boxes, rows)).toThrow(
      /image x1 y1 x2 y2 class score or image x1 y1 x2 y2 score class.*reading: "image-box-class-score"/,
    );
    expect(decoded({ ...boxes, reading: "image-box-score-class" }, rows)[0][0]).toBe(1);
  });

  test("frames before the values told are empty, and the plan follows the order", () => {
    const decoder = createDecoderSync(boxes);
    expect(decoder.decode({ output: f32([], [0, 7]) }).length).toBe(0);
    expect(decoder.decode({ output: f32([[0, 64, 128, 320, 384, 0.9, 2]]) }).toArray()[0].class_id).toBe(2);
    // Told once: this row fits the order of before.
    expect(decoder.decode({ output: f32([[0, 64, 128, 320, 384, 1, 1]]) }).toArray()[0].class_id).toBe(1);
    expect(() => decoder.decode({ output: f32([[0, 64, 128, 320, 384, 2, 0.9]]) })).toThrow(
      /class 0.89.* in row 0/,
    );
  });

  test("a changing count of rows makes no new plan", () => {
    const decoder = createDecoderSync({ ...boxes, family: "yolov7" });
    for (const n of [3, 0, 1, 16, 9]) {
      const rows = Array.from({ length: n }, (_, i) => [0, 64, 128, 320, 384, i, 0.9]);
      expect(decoder.decode({ output: f32(rows, [n, 7]) }).length).toBe(n);
    }
    expect(decoder.stats.plans).toBe(1);
    expect(decoder.describe().text).toContain("image x1 y1 x2 y2 class score");
    expect(() => decoder.decode()).toThrow("Pass the outputs with every call");
  });

  test("raw rows of YOLOv7 with two classes stay raw", () => {
    const rows = f32([[320, 320, 64, 64, 0.9, 0.1, 0.8]], [1, 1, 7]);
    expect(decoded({ ...boxes, family: "yolov7", classes: 2 }, { output: rows })).toEqual([
      [1, 0.72, 0.45, 0.45, 0.55, 0.55],
    ]);
  });
});

describe("images of a batch", () => {
  const rows = {
    output: f32([
      [0, 64, 128, 320, 384, 2, 0.9],
      [2, 64, 128, 320, 384, 3, 0.8],
    ]),
  };
  const frame = { width: 1280, height: 720, resize: "stretch" } as const;

  test("as many as there are frames, the empty ones too", () => {
    const decoder = createDecoderSync({ ...boxes, family: "yolov7" });
    const found = decoder.decodeBatch(rows, [frame, frame, frame, frame]);
    expect(found.map(({ length }) => length)).toEqual([1, 0, 1, 0]);
    expect(() => decoder.decodeBatch(rows, [frame, frame])).toThrow(/a row of image 2, expected images 0..1/);
  });

  test("Paddle: counts of images, and pixels of the photo", () => {
    const three = Array.from({ length: 3 }, (_, i) => [i, 0.9, 320, 180, 1280, 720]);
    const found = createDecoderSync({ ...boxes, family: "paddle-nms" }).decodeBatch(
      { rows: f32(three), count: i32(0, 2, 1) },
      { ...frame, resize: "letterbox" },
    );
    expect(found.map((image) => image.toArray().map((d) => d.class_id))).toEqual([[], [0, 1], [2]]);
    expect(found[1].toArray()[0].x_min).toBe(0.25);
    expect(found[1].toArray()[0].y_max).toBe(1);
  });

  test("padding is nothing", () => {
    const dets = f32(
      [
        [64, 128, 320, 384, 0.9],
        [0, 0, 0, 0, 0],
      ],
      [1, 2, 5],
    );
    expect(
      decoded({ ...boxes, family: "mmdeploy", confidenceThreshold: 0 }, { dets, labels: i64(2, -1) }),
    ).toEqual([RIGHT]);
  });
});

describe("refusals and notes", () => {
  const paddle: TypedOptions = { ...boxes, family: "paddle-nms" };
  const row = [2, 0.9, 64, 128, 320, 384];
  test.each<[string, TypedOptions, Outputs, RegExp]>([
    [
      "a column missing",
      { ...boxes, family: "yolov7" },
      { o: f32([[64, 128, 320, 384, 2, 0.9]]) },
      /\[N,7\] rows image x1 y1 x2 y2 class score/,
    ],
    [
      "transposed",
      { ...boxes, family: "yolo-nas" },
      { o: f32([[0], [64], [128], [320], [384], [0.9], [2]].map(([x]) => [x, x])) },
      /\[N,7\] rows image/,
    ],
    [
      "counts too many",
      paddle,
      { rows: f32([row]), count: i32(2) },
      /counts of 2 rows in all, expected at most 1/,
    ],
    [
      "counts too few",
      paddle,
      { rows: f32([row, row]), count: i32(1) },
      /counts of 1 rows in all, expected 2/,
    ],
    ["a negative count", paddle, { rows: f32([row]), count: i32(-1) }, /count -1 of image 0/],
    [
      "a class beyond the classes",
      { ...boxes, family: "yolov7", classes: 4 },
      { o: f32([[0, 64, 128, 320, 384, 5, 0.9]]) },
      /class 5 of 4 in row 0/,
    ],
    [
      "boxes turned around",
      { ...boxes, family: "yolo-nas" },
      { o: f32([[0, 320, 384, 64, 128, 0.9, 2]]) },
      /1 of 1 boxes turned around/,
    ],
    [
      "a logit",
      { ...boxes, family: "yolo-nas" },
      { o: f32([[0, 64, 128, 320, 384, 3.5, 2]]) },
      /score 3.5 in row 0/,
    ],
    [
      "labels too few",
      { ...boxes, family: "mmdeploy" },
      { dets: f32([[64, 128, 320, 384, 0.9]], [1, 1, 5]), labels: i64(2, 3) },
      /expected/,
    ],
    ["Hailo: no classes", { family: "hailo-nms" }, { o: f32([Array(22).fill(0)]) }, /no number of classes/],
    [
      "Hailo: other classes",
      { family: "hailo-nms", classes: 3 },
      { o: f32([Array(22).fill(0)]) },
      /22 numbers for 3 classes/,
    ],
    [
      "Hailo: a count that is none",
      { family: "hailo-nms", classes: 2 },
      { o: f32([[0.5, ...Array<number>(21).fill(0)]]) },
      /count 0.5 of class 0/,
    ],
    [
      "Hailo: a count too large",
      { family: "hailo-nms", classes: 2 },
      { o: f32([[3, ...Array<number>(21).fill(0)]]) },
      /count 3 of class 0/,
    ],
    [
      "Hailo: bytes",
      { family: "hailo-nms", classes: 2 },
      { o: { data: new Uint8Array(30), dims: [1, 30] } },
      /records of 22/,
    ],
  ])("%s", (_, options, outputs, message) => {
    expect(() => decoded(options, outputs)).toThrow(message);
  });

  test("NaN drops the row, with a note", () => {
    const notes: string[] = [];
    const decoder = createDecoderSync({ ...boxes, family: "yolov7" }, { onNote: (note) => notes.push(note) });
    decoder.decode({ o: f32([[0, NaN, 128, 320, 384, 2, 0.9]]) });
    expect(notes.join()).toMatch(/NaN or infinite are dropped: 1/);
  });

  test("a count beyond the rows of EfficientNMS is noted", () => {
    const notes: string[] = [];
    const decoder = createDecoderSync(
      { ...boxes, family: "efficient-nms" },
      { onNote: (note) => notes.push(note) },
    );
    const outputs = (count: number) => ({
      num_dets: { data: Int32Array.of(count), dims: [1, 1] },
      det_boxes: f32([[64, 128, 320, 384]], [1, 1, 4]),
      det_scores: f32([[0.9]], [1, 1]),
      det_classes: { data: Int32Array.of(2), dims: [1, 1] },
    });
    expect(decoder.decode(outputs(0)).length).toBe(0);
    expect(notes).toEqual([]);
    decoder.decode(outputs(7));
    expect(notes.join()).toMatch(/count is 7 of 1 rows/);
  });
});

describe("keypoints after rows of a stated order", () => {
  const POINTS = [
    [128, 192],
    [256, 320],
  ] as const;
  const points = POINTS.flatMap(([x, y]) => [x, y, 0.5]);
  const BOX = [64, 128, 320, 384];
  const IDLE = [0, 0, 0, 0];
  test.each<[string, TypedOptions, Outputs]>([
    [
      "box score class",
      { family: "boxes", reading: "end-to-end" },
      {
        rows: f32([
          [...BOX, 0.9, 2, ...points],
          [...BOX, 0.8, 1, ...points],
          [...IDLE, 0, 0, ...points],
        ]),
      },
    ],
    [
      "class box score of one image",
      { family: "yolo-nas", reading: "class-box-score" },
      {
        rows: f32([
          [2, ...BOX, 0.9, ...points],
          [1, ...BOX, 0.8, ...points],
        ]),
      },
    ],
    [
      "box score beside class ids",
      { family: "boxes", reading: "box-score-labels" },
      {
        dets: f32([
          [...BOX, 0.9, ...points],
          [...BOX, 0.8, ...points],
        ]),
        labels: i64(2, 1),
      },
    ],
    [
      "counted rows",
      { family: "boxes", reading: "class-score-box" },
      {
        rows: f32([
          [2, 0.9, ...BOX, ...points],
          [1, 0.8, ...BOX, ...points],
        ]),
        count: i32(2),
      },
    ],
  ])("%s", (_, options, outputs) => {
    const decoder = createDecoderSync({
      ...{ classes: 3, inputSize: [640, 640], task: "pose", keypoints: [2, 3] },
      ...options,
    });
    const found = decoder.decode(outputs).toArray();
    expect(found.map((d) => [d.class_id, Number(d.confidence.toFixed(3)), d.x_min, d.y_max])).toEqual([
      [2, 0.9, 0.1, 0.6].map((x, i) => (i < 2 ? x : expect.closeTo(x, 5))),
      [1, 0.8, 0.1, 0.6].map((x, i) => (i < 2 ? x : expect.closeTo(x, 5))),
    ]);
    for (const { keypoints } of found)
      expect(keypoints?.map(({ x, y }) => [x, y])).toEqual(
        POINTS.map(([x, y]) => [expect.closeTo(x / 640, 5), expect.closeTo(y / 640, 5)]),
      );
  });
});
