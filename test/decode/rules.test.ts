/**
 * The named sets of rules, each by what it does to numbers that stand exactly on its edges. All of them are exact in
 * f32.
 */
import { describe, expect, test } from "vitest";
import type { RuleSet } from "../../src/core/rules.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detection } from "../../src/decode/detections.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { engines } from "../support/engines.ts";

/** What comes out of the cases below. */
interface Outcome {
  /** Detections of a score that equals the threshold. */
  readonly onThreshold: number;
  /** Of two boxes whose IoU equals the limit. */
  readonly onLimit: number;
  /** Of two boxes whose IoU is 7/15, and 1/2 with a pixel added to every side, at the limit 0.49. */
  readonly inclusive: number;
  /** Of one box twice, in two classes. */
  readonly twoClasses: number;
  /** x_min and x_max of boxes that are -0.5..0.5, 0..1.5 and 1.25..1.5 wide; none where the box is dropped. */
  readonly overTheEdge: readonly (readonly number[])[];
  /** Of one cell with two classes over the threshold. */
  readonly oneCell: number;
  /** So many candidates go into suppression. */
  readonly candidates: number;
  /** So many of 400 boxes apart come out. */
  readonly most: number;
  /** The class number of the column after the background. */
  readonly firstClass: number;
  /** The score of objectness 1/2 and class 1/2. */
  readonly halfOfHalf: number;
}

const before = [[0, 0.5], [0, 1], []];
const after = [
  [0, 0.5],
  [0, 1],
  [1, 1],
];
const none = [
  [-0.5, 0.5],
  [0, 1.5],
  [1.25, 1.5],
];
/** Centres 0, 0.75 and 1.375 and widths 1, 1.5 and 0.25, each cut to 0..1. */
const centre = [
  [-0.5, 0.5],
  [0.25, 1.25],
  [0.875, 1.125],
];
const ultralytics: Outcome = {
  onThreshold: 0,
  onLimit: 2,
  inclusive: 2,
  twoClasses: 2,
  overTheEdge: after,
  oneCell: 1,
  candidates: 30000,
  most: 300,
  firstClass: 1,
  halfOfHalf: 0.25,
};
const outcomes: { readonly [S in RuleSet]: Outcome } = {
  ultralytics,
  depthai: {
    ...ultralytics,
    onThreshold: 1,
    onLimit: 1,
    twoClasses: 1,
    overTheEdge: before,
    candidates: Infinity,
  },
  "depthai-nodes": { ...ultralytics, inclusive: 1, overTheEdge: centre, candidates: 3000, halfOfHalf: 0.5 },
  gen1: {
    ...ultralytics,
    onThreshold: 1,
    twoClasses: 1,
    overTheEdge: none,
    oneCell: 2,
    candidates: Infinity,
  },
  opencv: { ...ultralytics, overTheEdge: none, candidates: Infinity },
  tflite: {
    ...ultralytics,
    onThreshold: 1,
    twoClasses: 1,
    overTheEdge: none,
    candidates: Infinity,
    most: 10,
    firstClass: 0,
  },
};

/** Rows of corners in pixels of a 64x64 input, and the scores of two classes. */
function decode(rows: readonly (readonly number[])[], options: DecoderOptions): Detection[] {
  const config = {
    family: "yolov8",
    classes: 2,
    inputSize: [64, 64],
    boxFormat: "xyxy",
    reading: "class-rows",
  };
  return createDecoderSync(config, options)
    .decode([{ data: Float32Array.from(rows.flat()), dims: [1, rows.length, 6], order: "rows" }])
    .toArray();
}

describe.each(Object.entries(outcomes) as [RuleSet, Outcome][])("%s", (rules, of) => {
  describe.each(engines)("%s", (engine) => {
    const options = { engine, rules, confidenceThreshold: 0.25, iouThreshold: 0.5 };

    test("a score exactly on the threshold, and one above it", () => {
      const row = [0, 0, 16, 16, 0.5, 0];
      expect(decode([row], { ...options, confidenceThreshold: 0.5 })).toHaveLength(of.onThreshold);
      expect(decode([row], { ...options, confidenceThreshold: 0.4375 })).toHaveLength(1);
    });

    test("an IoU exactly on the limit, and one above it", () => {
      // 16 x 16 and 16 x 8: where a pixel is added, in corners that are a pixel less
      const less = of.inclusive === 1 ? 1 : 0;
      const rows = [
        [0, 0, 16 - less, 16 - less, 0.75, 0],
        [0, 0, 16 - less, 8 - less, 0.5, 0],
      ];
      expect(decode(rows, options)).toHaveLength(of.onLimit);
      expect(decode(rows, { ...options, iouThreshold: 0.4375 })).toHaveLength(1);
    });

    test("a pixel added to widths and heights", () => {
      const rows = [
        [0, 0, 15, 15, 0.75, 0],
        [0, 0, 15, 7, 0.5, 0],
      ];
      expect(decode(rows, { ...options, iouThreshold: 0.49 })).toHaveLength(of.inclusive);
    });

    test("one box in two classes", () => {
      const rows = [
        [0, 0, 16, 16, 0.75, 0],
        [0, 0, 16, 16, 0, 0.5],
      ];
      expect(decode(rows, options)).toHaveLength(of.twoClasses);
    });

    test("boxes over the edge of the image", () => {
      const widths = [
        [-32, 32],
        [0, 96],
        [80, 96],
      ].map(([left, right]) =>
        decode([[left, 16, right, 32, 0.75, 0]], options).flatMap((d) => [d.x_min, d.x_max]),
      );
      expect(widths).toEqual(of.overTheEdge);
    });

    test("two classes over the threshold in one cell", () => {
      const whole = { ...options, rules: { set: rules, suppress: "none" } as const };
      expect(decode([[0, 0, 16, 16, 0.75, 0.5]], whole)).toHaveLength(of.oneCell);
    });

    test("the last candidate that goes into suppression, and the first that does not", () => {
      const cap = Math.min(of.candidates, 30000);
      const rows = [
        ...Array.from({ length: cap - 1 }, () => [0, 0, 16, 16, 0.75, 0]),
        [32, 0, 48, 16, 0.625, 0],
        [0, 32, 16, 48, 0.5, 0],
      ];
      expect(decode(rows, options)).toHaveLength(of.candidates === Infinity ? 3 : 2);
    });

    test("how many come out", () => {
      // 1 x 1 pixels, a pixel apart
      const rows = Array.from({ length: 400 }, (_, i) => {
        const [x, y] = [2 * (i % 32), 2 * Math.floor(i / 32)];
        return [x, y, x + 1, y + 1, 0.75, 0];
      });
      expect(decode(rows, options)).toHaveLength(of.most);
    });

    test("the number of the class after the background", () => {
      const config = {
        family: "ssd",
        classes: 2,
        priors: [0.5, 0.5, 0.25, 0.25],
        priorFormat: "cxcywh",
        variances: [0.1, 0.1, 0.2, 0.2],
        roles: { boxes: "b", scores: "s" },
      };
      const found = createDecoderSync(config, options).decode({
        b: { data: new Float32Array(4), dims: [1, 1, 4] },
        s: { data: Float32Array.of(0.125, 0.75, 0.125), dims: [1, 1, 3] },
      });
      expect(found.toArray().map((d) => d.class_id)).toEqual([of.firstClass]);
    });

    test("objectness and class", () => {
      const config = { family: "yolov5", classes: 1, inputSize: [64, 64], reading: "objectness-rows" };
      const found = createDecoderSync(config, { ...options, confidenceThreshold: 0.125 }).decode([
        { data: Float32Array.of(32, 32, 16, 16, 0.5, 0.5), dims: [1, 1, 6], order: "rows" },
      ]);
      expect(found.toArray().map((d) => d.confidence)).toEqual([of.halfOfHalf]);
    });
  });
});

test("gen1 compares what the network has finished as its script for mobilenets does: above the threshold", () => {
  const data = Float32Array.of(0, 1, 0.5, 0.1, 0.1, 0.2, 0.2, 0, 1, 0.75, 0.3, 0.3, 0.4, 0.4);
  const found = (rules: object | string): number => {
    const config = { family: "ssd-detection-output", classes: 2, confidenceThreshold: 0.5 };
    const decoder = createDecoderSync(config, { rules } as never);
    return decoder.decode([{ data, dims: [1, 1, 2, 7] }]).length;
  };
  expect(found("gen1")).toBe(1);
  expect(found("depthai")).toBe(2);
  expect(found({ set: "gen1", gate: ">=" })).toBe(2);
});

test.each(engines)("%s: objectness has to reach the lowest threshold of the wanted classes", (engine) => {
  // Rows of a YOLOv5: cx, cy, w, h, objectness, two classes.
  const data = [32, 32, 8, 8, 0.3, 0.1, 0.9];
  const found = (confidenceThreshold: number | number[], options: DecoderOptions = {}): (number | string)[] =>
    createDecoderSync(
      { family: "yolov5", classes: 2, labels: ["a", "b"], inputSize: [64, 64], reading: "objectness-rows" },
      { engine, confidenceThreshold, rules: { score: "class" }, ...options },
    )
      .decode({ o: { data, dims: [1, 1, 7], order: "rows" } })
      .toArray()
      .map(({ label }) => label);
  expect(found([0.2, 0.8])).toEqual(["b"]);
  expect(found(0.8)).toEqual([]);
  // A class that is not wanted lowers nothing.
  expect(found([0.2, 0.8], { keep: ["b"] })).toEqual([]);
  expect(found([0.2, 0.95])).toEqual([]);
  // Where the score is the product, it has to reach the entry of its class.
  expect(found([0.2, 0.26], { rules: { score: "product" } })).toEqual(["b"]);
  expect(found([0.2, 0.28], { rules: { score: "product" } })).toEqual([]);
});

describe("boxes of a finished list that reach beyond the image", () => {
  const list = (names: readonly string[], classIds: Float32Array | Int32Array) => ({
    [names[0]]: { data: Float32Array.of(-0.25, -0.5, 0.5, 1.5), dims: [1, 1, 4] },
    [names[1]]: { data: Float32Array.of(0.9), dims: [1, 1] },
    [names[2]]: { data: classIds, dims: [1, 1] },
    [names[3]]: { data: Int32Array.of(1), dims: [1, 1] },
  });
  test.each([
    ["efficient-nms", [0, 0, 0.5, 1]],
    ["yolo-nas", [0, 0, 0.5, 1]],
    // picamera2's order is y x y x.
    ["imx500", [0, 0, 1, 0.5]],
  ] as const)("%s: the rules clamp them, as in any list", (family, [x_min, y_min, x_max, y_max]) => {
    const decoder = createDecoderSync({ family, classes: 3, inputSize: [64, 64], coordinates: "normalised" });
    const outputs = list(["boxes", "scores", "classes", "num_dets"], Int32Array.of(2));
    expect([...decoder.decode(outputs)]).toMatchObject([{ x_min, y_min, x_max, y_max }]);
  });
  test("tflite-postprocess: its hosts do not clamp", () => {
    const decoder = createDecoderSync({ family: "tflite-postprocess", classes: 3, inputSize: [64, 64] });
    const name = "TFLite_Detection_PostProcess";
    const outputs = list([name, `${name}:2`, `${name}:1`, `${name}:3`], Float32Array.of(2));
    expect([...decoder.decode(outputs)]).toMatchObject([
      { x_min: -0.5, y_min: -0.25, x_max: 1.5, y_max: 0.5 },
    ]);
  });
});
