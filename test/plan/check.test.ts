/** What a plan refuses of a config and its tensors, and the facts that it takes from them. */
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { TensorError } from "../../src/core/errors.ts";
import { type TensorSpecInput, specOf } from "../../src/core/tensor.ts";
import { explain } from "../../src/plan/explain.ts";
import { interpretConfig, planOf } from "../../src/plan/make.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { ALL_TASKS } from "../../src/whole/tasks.ts";

type Shapes = Readonly<Record<string, readonly number[] | TensorSpecInput>>;

function plan(config: unknown, shapes: Shapes, options: DecoderOptions = {}): Plan {
  const specs = Object.entries(shapes).map(([name, s]) => specOf(name, "dims" in s ? s : { dims: s }));
  return planOf(
    interpretConfig(readConfig(config, options), specs, ALL_TASKS, () => null),
    explain,
  );
}

/** Returns the refusal of a plan. */
function refused(config: unknown, shapes: Shapes): TensorError {
  try {
    plan(config, shapes);
  } catch (e) {
    if (e instanceof TensorError) return e;
    throw e;
  }
  throw new Error("the plan was made");
}

const YOLOV8 = { family: "yolov8", classes: 2, inputSize: [64, 64] };
const ANCHORS = { family: "yolov5", classes: 2, inputSize: [64, 64], anchors: [10, 14, 23, 27] };
const DETR = { family: "detr", classes: 2, roles: { boxes: "b", scores: "s" } };

describe("scores", () => {
  test("softmax is of heads whose classes exclude each other", () => {
    expect(plan({ ...DETR, scores: "softmax-logits" }, { b: [1, 9, 4], s: [1, 9, 3] }).scores).toBe("logits");
    expect(refused({ ...YOLOV8, scores: "softmax-logits" }, { o: [1, 6, 84] }).message).toContain(
      'got scores "softmax-logits", expected "probabilities" or "logits": the classes of yolov8 as class-rows are independent',
    );
    expect(refused({ ...DETR, scores: "softmax-logits" }, { b: [1, 9, 4], s: [1, 9, 2] }).message).toContain(
      'got scores "softmax-logits"',
    );
  });

  test("a list that the network has finished has no logits", () => {
    const config = { ...YOLOV8, reading: "end-to-end", scores: "logits" };
    expect(refused(config, { o: [1, 9, 6] }).message).toContain(
      'got scores "logits", expected "probabilities": the network has finished the scores of end-to-end',
    );
  });
});

describe("quantised columns", () => {
  const i8 = (dims: number[], scale?: number, zeroPoint = 0): TensorSpecInput => ({
    dims,
    type: "i8",
    zeroPoint,
    ...(scale !== undefined && { scale }),
  });

  test("scores and boxes need a scale, and the error names the option", () => {
    const error = refused(YOLOV8, { o: i8([1, 6, 84]) });
    expect(error.message).toContain("got integers (i8) without a scale, expected scale and zeroPoint");
    expect(error.options).toEqual([{ option: "quantisation" }]);
  });

  test("one scale for boxes and scores is named as the cause, if they share a tensor", () => {
    expect(refused(YOLOV8, { o: i8([1, 6, 84], 2) }).message).toMatch(
      /boxes and scores share one scale here/,
    );
    const apart = refused(YOLOV8, { b: [1, 4, 84], s: i8([1, 2, 84], 2) }).message;
    expect(apart).toContain("expected a scale that tells scores between 0 and 1 apart");
    expect(apart).not.toContain("share");
  });

  test("scores need values within 0..1, whatever the scale", () => {
    const scores = (zeroPoint: number): Shapes => ({ b: [1, 4, 84], s: i8([1, 2, 84], 0.004, zeroPoint) });
    expect(plan(YOLOV8, scores(-128)).tensors).toHaveLength(2);
    // The largest value is (127 - 127) * scale = 0; the smallest is (-128 + 400) * scale = 1.088.
    expect(refused(YOLOV8, scores(127)).message).toContain("..0 in steps of 0.004");
    expect(refused(YOLOV8, scores(-400)).message).toContain("in steps of 0.004");
    // Logits may have any scale, and so may boxes.
    expect(
      plan({ ...YOLOV8, scores: "logits" }, { b: i8([1, 4, 84], 2), s: i8([1, 2, 84], 2) }).heads,
    ).toHaveLength(1);
  });

  const LIST = { family: "ssd-detection-output", classes: 2 };
  test("the marker that ends a list has no zero point, and may have a scale", () => {
    expect(plan(LIST, { o: i8([1, 1, 9, 7], 0.01) }).heads).toHaveLength(1);
    expect(refused(LIST, { o: i8([1, 1, 9, 7], 0.01, 3) }).message).toContain(
      "expected numbers as they stand, as they say where the list ends",
    );
  });

  test("a count has neither", () => {
    const roles = { boxes: "b", classIds: "l", scores: "s", count: "n" };
    const post = { family: "tflite-postprocess", classes: 2, roles };
    const shapes = (n: TensorSpecInput): Shapes => ({ b: [1, 9, 4], l: [1, 9], s: [1, 9], n });
    expect(plan(post, shapes({ dims: [1] })).heads).toHaveLength(1);
    // Integers without a scale are counts as they stand, and a scale of 1 changes nothing.
    expect(plan(post, shapes(i8([1]))).heads).toHaveLength(1);
    expect(plan(post, shapes(i8([1], 1))).heads).toHaveLength(1);
    expect(refused(post, shapes(i8([1], 0.5))).message).toContain("i8 of scale 0.5 and zeroPoint 0");
    expect(refused(post, shapes(i8([1], 1, 2))).message).toContain("i8 of scale 1 and zeroPoint 2");
  });
});

describe("numbers for each map", () => {
  test("scaleXY is one number, or one for each map", () => {
    const one = { a: [1, 14, 8, 8] };
    for (const scaleXY of [undefined, 1.1, [1.1]])
      expect(plan({ ...ANCHORS, scaleXY }, one).heads).toHaveLength(2);
    expect(refused({ ...ANCHORS, scaleXY: [1.1, 1.2] }, one).message).toContain(
      "scaleXY: got a list of 2, expected 1, one per map, or one number for all",
    );
  });

  test("a message counts one map as one", () => {
    const maps = { ...YOLOV8, reading: "distance-grid", strides: [8, 16] };
    expect(refused(maps, { a: [1, 7, 8, 8] }).message).toContain(
      "got 1 map, expected 2, one for each of strides",
    );
  });
});

describe("columns beside the boxes", () => {
  const roles = { boxes: "b", classIds: "l", scores: "s", count: "n" };
  const post = { family: "tflite-postprocess", classes: 2, roles };
  const shapes = (labels: number[], count: number[], batch = 1): Shapes => ({
    b: [batch, 9, 4],
    s: [batch, 9],
    l: labels,
    n: count,
  });

  test("class ids that are one too few are refused, one more does no harm", () => {
    expect(plan(post, shapes([1, 9], [1])).heads).toHaveLength(1);
    expect(plan(post, shapes([1, 10], [1])).heads).toHaveLength(1);
    expect(refused(post, shapes([1, 8], [1])).message).toContain(
      "l [1,8]: got 8 elements, expected 9 cells for each of 1 image",
    );
  });

  test("a batch needs class ids and a count for each of its images", () => {
    expect(plan(post, shapes([2, 9], [2], 2)).batch).toBe(2);
    expect(refused(post, shapes([2, 8], [2], 2)).message).toContain(
      "l [2,8]: got 16 elements, expected 9 cells for each of 2 images",
    );
    expect(refused(post, shapes([2, 9], [1], 2)).message).toContain(
      "n [1]: got 1 elements, expected 1 cell for each of 2 images",
    );
  });
});

describe("rules", () => {
  test("scores of independent classes apart from their boxes make pairs of query and class", () => {
    const rules = (shapes: Shapes): boolean => plan(DETR, shapes).rules.multiLabel;
    expect(rules({ b: [1, 9, 4], s: [1, 9, 2] })).toBe(true);
    expect(plan({ ...DETR, scores: "softmax-logits" }, { b: [1, 9, 4], s: [1, 9, 3] }).rules.multiLabel).toBe(
      false,
    );
  });

  test("a multi-label plan has room for all pairs, up to 2^18 and at least one for each cell", () => {
    const capacity = (rows: number, classes: number, multiLabel: boolean): number =>
      plan(
        { ...YOLOV8, classes, coordinates: "normalised", reading: "class-rows", rules: { multiLabel } },
        { o: { dims: [1, rows, 4 + classes], order: "rows" } },
      ).capacity;
    expect(capacity(100, 3, false)).toBe(100);
    expect(capacity(100, 3, true)).toBe(300);
    expect(capacity(100_000, 3, true)).toBe(2 ** 18);
    expect(capacity(300_000, 1, true)).toBe(300_000);
  });
});

describe("gathering", () => {
  const gather = (config: object, shapes: Shapes): Plan["gather"] => plan(config, shapes).gather;

  test("a head whose objectness gates it is gathered channel by channel, from its first to its last", () => {
    // Two anchors of 4 + 1 + 2 channels in planes of 64 cells.
    expect(gather(ANCHORS, { a: [1, 14, 8, 8] })).toEqual([
      { tensor: 0, offset: 0, channels: 7, channel: 64, cell: 1 },
      { tensor: 0, offset: 7 * 64, channels: 7, channel: 64, cell: 1 },
    ]);
    const rows = { family: "yolov5", classes: 3, inputSize: [64, 64], reading: "objectness-rows" };
    expect(gather(rows, { o: { dims: [1, 252, 8], order: "rows" } })).toEqual([
      { tensor: 0, offset: 0, channels: 8, channel: 1, cell: 8 },
    ]);
  });

  test("FastestDet has its objectness in front of its boxes", () => {
    const fastest = { family: "fastestdet", classes: 2, inputSize: [64, 64] };
    expect(gather(fastest, { o: [1, 7, 4, 4] })).toEqual([
      { tensor: 0, offset: 0, channels: 7, channel: 16, cell: 1 },
    ]);
  });

  test("nothing is gathered without objectness, in a batch, or from several tensors", () => {
    expect(gather(YOLOV8, { o: [1, 6, 84] })).toBeNull();
    expect(gather(ANCHORS, { a: [2, 14, 8, 8] })).toBeNull();
    const apart = { family: "yolox", classes: 2, inputSize: [64, 64], reading: "point-grid" };
    const roles = { boxes: ["b"], objectness: ["o"], scores: ["s"] };
    expect(gather({ ...apart, roles }, { b: [1, 4, 8, 8], o: [1, 1, 8, 8], s: [1, 2, 8, 8] })).toBeNull();
  });
});
