/**
 * Ways in: which tensor of a list is which, what was said of it beforehand, and that nothing of one frame is left in
 * the next.
 */
import { inspect as print } from "node:util";
import { describe, expect, test } from "vitest";
import { compilePlan } from "../../src/planfile/write.ts";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import { TensorError } from "../../src/core/errors.ts";
import { loadPlanSync } from "../../src/planfile/decoder.ts";
import type { Frame } from "../../src/decode/frame.ts";
import { type PossibilityList, inspect } from "../../src/node/inspect-tensors.ts";
import type { PlanDescription } from "../../src/plan/describe.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { engines } from "../support/engines.ts";
import { filled, givenPriors } from "../support/seeded-networks.ts";

const make = (config: object, options: object = {}): Decoder =>
  createDecoderSync(config, options as DecoderOptions);
const floats = (dims: readonly number[], values: readonly number[]): TensorInput => ({
  data: Float32Array.from(values),
  dims,
});
/** Planes of the 84 cells of a 64x64 input, of which the first holds these channels. */
function planes(values: readonly number[]): TensorInput {
  const t = filled([1, values.length, 84]);
  values.forEach((v, k) => (t.data[k * 84] = v));
  return t;
}
/** Class and box of each detection. */
const found = (d: Decoder, outputs: unknown, frame?: Frame): number[][] =>
  d
    .decode(outputs as Outputs, frame)
    .toArray()
    .map((x) => [x.class_id, ...[x.x_min, x.y_min, x.x_max, x.y_max].map((v) => Number(v.toFixed(4)))]);

describe("a bare array goes by the order in which the tensors are known", () => {
  const boxes = floats([1, 3, 4], [0, 0, 0.5, 0.5, 0.25, 0.25, 0.75, 0.75, 0, 0, 0.1, 0.1]);
  const scores = floats([1, 3, 4], [0.9, 0.1, 0.2, 0.2, 0.1, 0.8, 0.2, 0.2, 0, 0, 0, 0]);
  const other = floats([1, 3], [0.5, 0.5, 0.25]);
  const both = [
    [0, 0, 0, 0.5, 0.5],
    [1, 0.25, 0.25, 0.75, 0.75],
  ];
  const known = (...list: [string, TensorInput][]): object => ({
    outputs: list.map(([name, { dims }]) => ({ name, dims })),
  });
  const config = (b: string, s: string): object => ({
    family: "boxes",
    classes: 4,
    boxFormat: "xyxy",
    coordinates: "normalised",
    roles: { boxes: b, scores: s },
  });

  test("one that has no part in it comes first", () => {
    const options = known(["x", other], ["b", boxes], ["s", scores]);
    expect(found(make(config("b", "s"), options), [other, boxes, scores])).toEqual(both);
    expect(found(make(config("b", "s"), options), { x: other, b: boxes, s: scores })).toEqual(both);
  });

  test("names that number them otherwise", () => {
    const options = known(["output1", boxes], ["output0", scores]);
    expect(found(make(config("output1", "output0"), options), [boxes, scores])).toEqual(both);
  });

  test("after a record, in its order", () => {
    const d = make(config("b", "s"));
    expect(found(d, { x: other, b: boxes, s: scores })).toEqual(both);
    expect(found(d, [other, boxes, scores])).toEqual(both);
  });
});

describe("an archive and a bare array", () => {
  const archive = (
    outputs: object[],
    // anchors go with these names, the small map first
    anchors: object = { anchors: [[[40, 40]], [[8, 8]]], yolo_outputs: ["small", "big"] },
  ): object => ({
    config_version: "1.0",
    model: {
      metadata: { name: "m", path: "m" },
      inputs: [{ name: "i", dtype: "uint8", input_type: "image", shape: [1, 3, 64, 64], layout: "NCHW" }],
      outputs,
      heads: [
        {
          parser: "YOLO",
          metadata: {
            classes: ["a"],
            n_classes: 1,
            subtype: "yolov5",
            ...anchors,
          },
        },
      ],
    },
  });
  /** A map whose first cell holds a box as large as its anchor. */
  const map = (w: number, Kind: typeof Float32Array | typeof Int8Array): TensorInput => {
    const data = new Kind(6 * w * w);
    const unit = Kind === Int8Array ? 100 : 1;
    [0.5, 0.5, 0.5, 0.5, 0.9, 0.9].forEach((v, k) => (data[k * w * w] = v * unit));
    return { data, dims: [1, 6, w, w], ...(Kind === Int8Array ? { scale: 0.01, zeroPoint: 0 } : {}) };
  };
  test.each<[string, object, object, typeof Float32Array | typeof Int8Array]>([
    ["shapes and floats", { dtype: "float32", shape: [1, 6, 4, 4] }, { shape: [1, 6, 2, 2] }, Float32Array],
    ["no shapes", { dtype: "float32" }, {}, Float32Array],
    ["integers", { dtype: "int8", shape: [1, 6, 4, 4] }, { dtype: "int8", shape: [1, 6, 2, 2] }, Int8Array],
    // a hint that archives get wrong
    [
      "layouts",
      { dtype: "int8", shape: [1, 6, 4, 4], layout: "NHWC" },
      { dtype: "int8", layout: "NCDE" },
      Int8Array,
    ],
  ])("%s", (_, big, small, Kind) => {
    const config = archive([
      { name: "big", ...big },
      { name: "small", dtype: "float32", ...small },
    ]);
    const maps = { big: map(4, Kind), small: map(2, Kind) };
    const widths = (outputs: unknown): number[] =>
      make(config)
        .decode(outputs as Outputs)
        .toArray()
        .map((d) => Math.round((d.x_max - d.x_min) * 64))
        .sort((a, b) => a - b);
    // the 40 pixels of the small map's anchor begin at 16, and are cut at the edge
    expect(widths(maps)).toEqual([8, 36]);
    expect(widths([maps.big, maps.small])).toEqual([8, 36]);
  });

  test("an order among the options settles what the letters of the file do not, in a plan file too", () => {
    const config = archive([{ name: "big", dtype: "float32", shape: [1, 6, 6, 6], layout: "NCHW" }], {
      anchors: [[[8, 8]]],
      yolo_outputs: ["big"],
    });
    expect(() => make(config)).toThrow("the tensor's order settles it");
    const big = filled([1, 6, 6, 6], 0, { order: "NHWC" });
    [0.5, 0.5, 0.5, 0.5, 0.9, 0.9].forEach((v, k) => (big.data[k] = v));
    const options: DecoderOptions = { outputs: [{ name: "big", dims: big.dims, order: "NHWC" }] };
    const d = make(config, options);
    const slot = d.slots.big;
    expect(found(d, { big })).toHaveLength(1);
    expect(d.slots.big).toBe(slot);
    const plan = loadPlanSync(compilePlan(config, options).bytes);
    expect(plan.decode({ big })).toHaveLength(1);
  });
});

test("tensors of a list that have names go by them", () => {
  const config = {
    nn_config: {
      output_format: "raw",
      NN_family: "YOLO",
      input_size: "64x64",
      NN_specific_metadata: { classes: 1, anchors: [10, 10], anchor_masks: { side2: [0] } },
    },
  };
  const one = { ...floats([1, 6, 2, 2], Array<number>(24).fill(0)), name: "output1_yolov5" };
  const d = make(config);
  d.decode([one]);
  expect(d.describe().text).toContain('family: yolov5 (output name "output1_yolov5")');
  const other = make({
    family: "boxes",
    classes: 1,
    coordinates: "normalised",
    roles: { boxes: "b", scores: "s" },
  });
  const b = { ...floats([1, 1, 4], [0, 0, 0.5, 0.5]), name: "b" };
  const s = { ...floats([1, 1, 1], [0.9]), name: "s" };
  for (const list of [
    [b, s],
    [s, b],
    [b, s],
  ])
    expect(found(other, list)).toEqual([[0, 0, 0, 0.5, 0.5]]);
});

test("of several tensors alike, the one that roles name", () => {
  const d = make({ family: "yolov8", classes: 2, inputSize: [64, 64], roles: { boxes: "b", scores: "b" } });
  const one = planes([32, 32, 16, 16, 0.9, 0]);
  expect(found(d, { a: filled([1, 6, 84]), b: one })).toEqual([[0, 0.375, 0.375, 0.625, 0.625]]);
});

describe("SSD priors that the network gives", () => {
  const decode = (priors: object): number[][] =>
    found(make(givenPriors), {
      b: filled([1, 2, 4]),
      s: { ...floats([1, 2, 2], [0.1, 0.9, 0.8, 0.2]), order: "rows" },
      p: { dims: [1, 2, 4], ...priors },
    });

  test.each<[string, object]>([
    ["f32", { data: Float32Array.from([0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.1, 0.1]) }],
    // 0x3800: 0.5, 0x3400: 0.25
    ["f16", { data: Uint16Array.from([0x3800, 0x3800, 0x3800, 0x3800, 0x3400, 0x3400, 0x2e66, 0x2e66]) }],
    ["u8", { data: Uint8Array.from([110, 110, 110, 110, 60, 60, 30, 30]), scale: 1 / 200, zeroPoint: 10 }],
  ])("%s", (_, priors) => {
    expect(decode(priors)).toEqual([[1, 0.25, 0.25, 0.75, 0.75]]);
  });
});

describe("which output the prior boxes are", () => {
  const stated = { family: "ssd", classes: 90, scales: [10, 10, 5, 5] };
  const boxes = (name: string) => ({ name, dims: [1, 1917, 4] });
  const scores = (name: string) => ({ name, dims: [1, 1917, 91] });
  const heads = (config: object, specs: { name: string; dims: number[] }[]) =>
    (inspect(config, specs).json as PossibilityList | PlanDescription).tensors.map((t) => t.name);

  test("boxes and scores that are called after anchors are none", () => {
    const mine = [boxes("anchor_boxes"), scores("anchor_scores")];
    const priors = new Float32Array(1917 * 4).fill(0.5);
    expect(heads({ ...stated, priors }, mine)).toEqual(["anchor_boxes", "anchor_scores"]);
    for (const table of ["anchors", "priors", "prior_boxes"])
      expect(heads(stated, [...mine, { name: table, dims: [1917, 4] }])).toEqual([
        "anchor_boxes",
        "anchor_scores",
      ]);
  });

  test("nor are those that roles give another part", () => {
    const specs = [boxes("prior_a"), scores("scores"), boxes("prior_b")];
    expect(heads({ ...stated, roles: { boxes: "prior_a" } }, specs)).toEqual(["prior_a", "scores"]);
    expect(heads({ ...stated, roles: { boxes: "prior_b" } }, specs)).toEqual(["scores", "prior_b"]);
    expect(heads({ ...stated, roles: { priors: "prior_a" } }, specs)).toEqual(["scores", "prior_b"]);
  });
});

test("frames that say the same in other words are of one plan", () => {
  const boxes = { family: "boxes", classes: 2, coordinates: "normalised" };
  const roles = { boxes: "output0", scores: "output1" };
  const b = filled([10, 4]);
  const s = filled([10, 2]);
  const plans = (config: object, frames: unknown[], options = {}): number => {
    const d = make(config, options);
    for (const frame of frames) d.decode(frame as Outputs);
    return d.stats.plans;
  };
  // a name that is null is none; one that some of a list have is not gone by, frame after frame
  expect(
    plans({ ...boxes, roles }, [
      [b, s],
      [{ ...b, name: null }, s],
    ]),
  ).toBe(1);
  const some = [{ ...b, name: "x" }, s];
  expect(plans({ ...boxes, roles }, [some, some, [b, s], some])).toBe(1);
  // nor one that another runtime gave what is known by another name
  const known = { outputs: { output0: { dims: [10, 4] }, output1: { dims: [10, 2] } } };
  const others = [
    { ...b, name: "x" },
    { ...s, name: "y" },
  ];
  expect(plans({ ...boxes, roles }, [others, others, others], known)).toBe(2);
  const planes = filled([1, 5, 5]);
  const yolo = { family: "yolov8", classes: 1, inputSize: [64, 64] };
  expect(
    plans(
      yolo,
      ["rows", "ROWS", null, "Rows"].map((order) => ({ ...planes, order })),
    ),
  ).toBe(1);
  expect(
    plans(
      yolo,
      ["rows", "planes"].map((order) => ({ ...planes, order })),
    ),
  ).toBe(2);
  // TensorFlow Lite says scale 0 of labels
  const labels = { data: new Uint8Array(10), dims: [1, 10], scale: 0, zeroPoint: 0 };
  const lite = { b: filled([1, 10, 4]), classes: labels, scores: filled([1, 10]), n: filled([1]) };
  expect(plans({ family: "tflite-postprocess", classes: 90 }, [lite, lite])).toBe(1);
});

test("what stands behind the end of a list is not looked at", () => {
  const rows = [0, 1, 0.9, 0.1, 0.1, 0.2, 0.2, -1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, NaN, 0];
  const d = make({ family: "ssd-detection-output", classes: 20 });
  expect(found(d, floats([1, 1, 3, 7], rows))).toEqual([[1, 0.1, 0.1, 0.2, 0.2]]);
  rows[2] = 1.5;
  expect(() =>
    make({ family: "ssd-detection-output", classes: 20 }).decode(floats([1, 1, 3, 7], rows)),
  ).toThrow("a score outside 0..1");
  const lite = (count: number) => ({
    b: floats([1, 2, 4], [0.1, 0.1, 0.2, 0.2, 0, 0, 0, 0]),
    classes: filled([1, 2]),
    scores: floats([1, 2], [0.9, -7]),
    n: floats([1], [count]),
  });
  expect(found(make({ family: "tflite-postprocess", classes: 90 }), lite(1))).toHaveLength(1);
});

test("a pixel is added where its size is known; keep that names nothing finds nothing, and says so", () => {
  const rows = { outputs: { o: { dims: [1, 1, 3, 7] } } };
  const text = (more: object): string =>
    make({ family: "ssd-detection-output", classes: 20, rules: { pixelOffset: 1 }, ...more }, rows).describe()
      .text;
  expect(text({})).toContain("note: pixelOffset waits for an input size");
  expect(text({})).not.toContain("+1 pixel");
  expect(text({ inputSize: [300, 300] })).toContain("+1 pixel");
  expect(text({ keep: [] })).toContain("note: keep names no class");
});

test("labels of an empty list are none", () => {
  expect(make({ family: "yolov8", classes: 80, labels: [] }).config).toMatchObject({
    classes: 80,
    labels: null,
  });
  expect(make({ family: "yolov8", labels: [] }).config.classes).toBeNull();
});

test("inspect: integers without a scale are read as with one, and asked for it", () => {
  const whole = { name: "out", dims: [1, 84, 8400] };
  const lines = (spec: object): string[] => inspect(undefined, [{ ...whole, ...spec }]).text.split("\n");
  const asked =
    "integers: out (i8): those that hold boxes or scores need scale and zeroPoint, where real = (raw - zeroPoint) * scale";
  expect(lines({ type: "i8" })).toEqual([...lines({}), asked]);
  expect(lines({ type: "i8", scale: 0.01 })).toEqual(lines({}));
});

test("inspect: where a column says the class, the shape does not say how many there are", () => {
  for (const [dims, family] of [
    [[1, 300, 6], "yolo26"],
    [[1, 1, 100, 7], "ssd-detection-output"],
  ] as const) {
    const [, about, line] = inspect(undefined, [{ dims }]).text.split("\n");
    expect(about).not.toMatch(/\d class/);
    expect(line).toBe(`    { family: "${family}", inputSize: [width, height] }`);
  }
  expect(inspect(undefined, [{ dims: [1, 300, 6] }], { classes: 80 }).text).toContain("classes: 80");
});

test("UltraFace offsets taken for corners are refused", () => {
  const d = make({ family: "ultraface", inputSize: [320, 240], labels: ["face"] });
  const scores = filled([1, 5, 2], 0.9);
  const of = (rows: readonly number[][]): TensorInput => floats([1, 5, 4], rows.flat());
  const whole = [0, 0, 1, 1];
  expect(() =>
    found(d, { boxes: of([[0.2, 0.1, -0.3, 0.4], [0, 0, 1, -1], whole, whole, whole]), scores }),
  ).toThrow(/got 2 of 5 boxes with x_max < x_min or y_max < y_min, expected corners; if these are offsets/);
  expect(found(d, { boxes: of([whole, whole, whole, whole, whole]), scores })).toEqual([[1, ...whole]]);
});

describe.each(engines)("nothing of one frame is left in the next, %s", (engine) => {
  test("null is no frame, as undefined is", () => {
    const d = make({ family: "yolov8", classes: 1, inputSize: [64, 64] }, { engine });
    const one = [planes([32, 32, 16, 16, 0.9])];
    const plain = [[0, 0.375, 0.375, 0.625, 0.625]];
    expect(found(d, one)).toEqual(plain);
    expect(found(d, one, { width: 128, height: 64, resize: "letterbox" })).not.toEqual(plain);
    expect(found(d, one, null as unknown as Frame)).toEqual(plain);
  });

  test.each<[string, () => { decode: Decoder["decode"] }]>([
    ["decoder", () => make({ family: "yolov8", classes: 1, inputSize: [64, 64] }, { engine })],
    [
      "plan",
      () =>
        loadPlanSync(
          compilePlan(
            { family: "yolov8", classes: 1, inputSize: [64, 64] },
            { outputs: [{ name: "output0", dims: [1, 5, 84] }] },
          ).bytes,
          { engine },
        ),
    ],
  ])("a frame that was changed in place is another frame, and a frozen one is read once: %s", (_, open) => {
    const d = open();
    const one = [planes([32, 32, 16, 16, 0.9])];
    const box = (frame: Frame): number[] => [...d.decode(one, frame).boxes.subarray(0, 4)];
    // 128x64 in 64x64 is 64x32 with 16 rows above: rows 24..40 are 8..24 of 32
    const frame = { width: 128, height: 64, resize: "letterbox" as Frame["resize"] };
    expect(box(frame)).toEqual([0.375, 0.25, 0.625, 0.75]);
    frame.width = 64;
    expect(box(frame)).toEqual([0.375, 0.375, 0.625, 0.625]);
    // 64x128: 32x64
    frame.height = 128;
    expect(box(frame)).toEqual([0.25, 0.375, 0.75, 0.625]);
    frame.resize = "stretch";
    expect(box(frame)).toEqual([0.375, 0.375, 0.625, 0.625]);
    let reads = 0;
    const frozen = Object.freeze({
      get width() {
        reads++;
        return 128;
      },
      height: 64,
      resize: "letterbox" as const,
    });
    expect(box(frozen)).toEqual([0.375, 0.25, 0.625, 0.75]);
    const once = reads;
    expect(once).toBeGreaterThan(0);
    expect(box(frozen)).toEqual([0.375, 0.25, 0.625, 0.75]);
    expect(reads).toBe(once);
  });

  test("slots that hold rows of the last arrays are refused as arrays too", () => {
    const anchors = [10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326];
    const d = make(
      { family: "yolov5", classes: 2, inputSize: [64, 64], scores: "probabilities", anchors },
      { engine },
    );
    const maps = (): TensorInput[] => [8, 4, 2].map((n) => filled([1, 21, n, n]));
    d.decode(maps());
    d.decode(maps());
    const slots = Object.values(d.slots).map(({ data, dims }) => ({ data, dims }));
    expect(() => d.decode(slots)).toThrow(
      /tensor "output0" is the decoder's own slot, which holds only the rows gathered/,
    );
  });

  test("rows that would fill their slot to its end are no gathered rows: the tensor is there", () => {
    const d = make({ family: "yolox", classes: 1, inputSize: [32, 32] }, { engine });
    // 16 + 4 + 1 cells: the last map is one cell
    const frame = (cell: number): TensorInput => {
      const data = new Float32Array(21 * 6);
      data.set([0.5, 0.5, 0, 0, 0.9, 0.9], cell * 6);
      return { data, dims: [1, 21, 6], order: "rows" };
    };
    const sources = (outputs?: TensorInput): number[] => {
      const { sources: of, length } = d.decode(outputs);
      return [...of.subarray(0, length)];
    };
    expect(sources(frame(3))).toEqual([3]);
    expect(sources(frame(20))).toEqual([20]);
    expect(sources()).toEqual([20]);
    expect(sources(frame(19))).toEqual([19]);
    expect(() => sources()).toThrow(/the slots hold only the rows gathered/);
  });

  test("scale, zero point and type are those of the frame, or what was said beforehand", () => {
    const config = { family: "yolov8", classes: 1, inputSize: [64, 64], coordinates: "normalised" };
    const bytes = (more: object): object[] => [
      { data: Int8Array.from([32, 32, 16, 16, 100]), dims: [1, 1, 5], ...more },
    ];
    const d = make(config, { engine });
    expect(found(d, bytes({ scale: 1 / 128, zeroPoint: -20 }))).not.toEqual([]);
    expect(found(d, bytes({ scale: 1 / 128 }))).toEqual([[0, 0.1875, 0.1875, 0.3125, 0.3125]]);
    expect(() => found(d, bytes({}))).toThrow(/got integers \(i8\) without a scale/);

    const e = make(config, { engine });
    const words = (values: number[], more: object): object[] => [
      { data: Uint16Array.from(values), dims: [1, 1, 5], ...more },
    ];
    found(e, words([0x3800, 0x3800, 0x3400, 0x3400, 0x3b00], {}));
    expect(found(e, words([500, 500, 200, 200, 900], { type: "i16", scale: 0.001 }))).toEqual([
      [0, 0.4, 0.4, 0.6, 0.6],
    ]);
    expect(() => found(e, words([0, 0, 0, 0, 0], { type: "banana" }))).toThrow(/got type "banana"/);
    const f = make(config, { engine });
    const float = floats([1, 1, 5], [0.5, 0.5, 0.2, 0.2, 0.9]);
    found(f, [float]);
    expect(() => found(f, [{ ...float, type: "i8" }])).toThrow(
      /got Float32Array data, expected Int8Array data for its type "i8"/,
    );
    expect(() => found(f, [{ data: float.data, dims: null }])).toThrow(/got dims null/);
  });

  test("bytes are of the type that was said beforehand", () => {
    const d = make(
      { family: "yolov8", classes: 1, inputSize: [64, 64], coordinates: "normalised" },
      { engine, outputs: [{ name: "o", dims: [1, 1, 5], type: "i8", scale: 1 / 256, zeroPoint: -128 }] },
    );
    const data = new Uint8Array(Int8Array.from([0, 0, -64, -64, -20]).buffer);
    for (const more of [{ type: "i8" }, {}])
      expect(found(d, { o: { data, dims: [1, 1, 5], ...more } })).toEqual([[0, 0.375, 0.375, 0.625, 0.625]]);
  });

  test("a threshold for each class: of another length than the classes that shapes tell, it is refused", () => {
    const outputs = {
      b: filled([1, 3, 4]),
      s: { ...floats([1, 3, 3], [0.5, 0.1, 0.2, 0.05, 0.05, 0.5, 0.5, 0, 0]), order: "rows" },
    };
    const boxes = { family: "boxes", boxFormat: "xyxy", coordinates: "normalised" };
    const message = "confidenceThreshold: got 2 values, expected 3, one per class";
    expect(() => found(make({ ...boxes, confidenceThreshold: [0.9, 0.1] }, { engine }), outputs)).toThrow(
      message,
    );
    const d = make(boxes, { engine });
    d.update({ confidenceThreshold: [0.9, 0.1] });
    expect(() => found(d, outputs)).toThrow(message);
    d.update({ confidenceThreshold: [0.9, 0.9, 0.9] });
    expect(found(d, outputs)).toEqual([]);
  });

  test("a list of thresholds is copied", () => {
    const list = [0.5, 0.5];
    const d = make(
      { family: "yolov8", classes: 2, inputSize: [64, 64], confidenceThreshold: list },
      { engine },
    );
    list.length = 0;
    d.update({ iouThreshold: 0.3 });
    const next = [0.2, 0.2];
    d.update({ confidenceThreshold: next });
    next.length = 0;
    expect(found(d, [planes([32, 32, 16, 16, 0.3, 0])])).toHaveLength(1);
  });
});

test("logits are not of a network that has finished its scores", () => {
  const config = { family: "yolov10", classes: 3, inputSize: [64, 64], boxFormat: "xyxy" };
  const rows = filled([1, 10, 6]);
  rows.data.set([1, 1, 30, 30, 3, 1]);
  expect(() => make({ ...config, scores: "logits" }).decode([rows])).toThrow(
    /got scores "logits", expected "probabilities": the network has finished the scores of end-to-end/,
  );
  try {
    make(config).decode([rows]);
    expect.unreachable();
  } catch (e) {
    expect(e).toBeInstanceOf(TensorError);
    expect((e as Error).message).not.toContain("say scores");
  }
});

test("describe goes by what update said; a single rule is an upper bound too", () => {
  const d = make({ family: "yolov8", classes: 1, inputSize: [64, 64], maxDetections: 50 });
  d.decode([planes([32, 32, 16, 16, 0.9])]);
  d.update({ maxDetections: 5 });
  expect(d.describe().text).toContain("at most 30000 candidates, 5 detections");
  expect(d.describe().json).toMatchObject({ maxDetections: 5 });
  const options = { family: "yolov8", classes: 1, rules: { maxDetections: 1000 } };
  expect(make(options).config.maxDetections).toBe(1000);
});

test("rows that are not the cells of the input are told of", () => {
  const note = "8400 rows are not the cells of a 416x416 input";
  const of = (side: number): string =>
    make(
      { family: "yolov8", classes: 80, inputSize: [side, side] },
      { outputs: [{ name: "o", dims: [1, 84, 8400] }] },
    ).describe().text;
  expect(of(416)).toContain(note);
  expect(of(640)).not.toContain("rows are not");
});

test("a count that roles name", () => {
  const d = make({
    family: "tflite-postprocess",
    classes: 3,
    roles: { boxes: "a", classIds: "b", scores: "c", count: "d" },
  });
  const outputs = {
    a: floats([1, 2, 4], [0, 0, 1, 1, 0, 0, 1, 1]),
    b: floats([1, 2], [1, 2]),
    c: floats([1, 2], [0.9, 0.8]),
    x: floats([1], [0]),
    d: floats([1], [1]),
  };
  expect(found(d, outputs)).toEqual([[1, 0, 0, 1, 1]]);
});

test("what was not awaited, and what is no number", () => {
  const d = make({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  expect(() => found(d, Promise.resolve({}))).toThrow(
    "got a promise, expected what it resolves to: await it",
  );
  expect(() => found(d, [{ data: [1n, 1n, 1n, 1n, 1n], dims: [1, 5, 1] }])).toThrow(
    /got data of type Array of bigints, expected a typed array/,
  );
  expect(() => found(d, [{ data: [1, 1, 1, 1, 1], dims: [1, 5, 1], type: "f16" }])).toThrow(
    /got Array data, expected Uint16Array data for its type "f16"/,
  );
  expect(d.decode([planes([32, 32, 16, 16, 0.9])]).at(0.5)).toBeUndefined();
});

test("console.log shows the detections, and not the columns behind them", () => {
  const d = make({ family: "yolov8", labels: ["cat"], inputSize: [64, 64] });
  const list = d.decode([planes([32, 32, 16, 16, 0.9])]);
  expect(print(list)).toBe(print(list.toArray()));
  expect(print(list.copy())).toContain("cat");
});

test("inspect: eight bins a side are NanoDet's", () => {
  const specs = [8, 16, 32].flatMap((s) => [
    { name: `cls_${s}`, dims: [1, (320 / s) ** 2, 80] },
    { name: `dis_${s}`, dims: [1, (320 / s) ** 2, 32] },
  ]);
  expect(inspect(undefined, specs, { inputSize: [320, 320] }).text).toContain(
    '{ family: "nanodet", classes: 80, inputSize: [320, 320] }',
  );
});

test("inspect: SSD whose priors are an output, with their values still to come", () => {
  const outputs = (table: string) => [
    { name: "mbox_loc", dims: [1, 7668] },
    { name: "mbox_conf", dims: [1, 40257] },
    { name: table, dims: [1, 2, 7668] },
  ];
  const stated = { family: "ssd", classes: 20, inputSize: [300, 300] };
  const missed = (name: string) => `the values of ${name} are not at hand`;
  for (const [name, options] of [
    ["mbox_priorbox", {}],
    ["table", { roles: { priors: "table" } }],
  ] as const) {
    const specs = outputs(name);
    // Caffe's layer gives corners and, behind them, variances: the line to write asks for neither
    const { text } = inspect(undefined, specs, options);
    expect(text).toContain(
      "1917 priors (xyxy): mbox_loc [1,7668] as flat + mbox_conf [1,40257] as flat: 20 classes",
    );
    expect(text).toContain('{ family: "ssd", classes: 20, inputSize: [width, height] }');
    const found = inspect(stated, specs, options);
    expect(found.text).toContain(`note: ${missed(name)}`);
    expect(JSON.stringify(found.json)).toContain(missed(name));
    // with the values nothing stands for them
    const table = Float32Array.from({ length: 2 * 7668 }, (_, i) =>
      i < 7668 ? (i % 4 < 2 ? 0.25 : 0.75) : 0.1,
    );
    const whole = inspect(stated, specs, options, (asked) => (asked === name ? table : null)).text;
    expect(whole).toContain("variances 0.100");
    expect(whole).not.toContain(missed(name));
  }
  // priors alone, and none at all: what is missing is asked for
  const rows = [
    { name: "loc", dims: [1, 1917, 4] },
    { name: "conf", dims: [1, 1917, 91] },
  ];
  expect(inspect(undefined, [...rows, { name: "anchors", dims: [1917, 4] }]).text).toContain(
    "classes: 90, inputSize: [width, height], scales or variances }",
  );
  expect(inspect(undefined, rows).text).toContain(
    "inputSize: [width, height], priors, scales or variances }",
  );
  // a name alone does not make priors
  const planes = inspect({ ...stated, family: "yolov8", classes: 80 }, [
    { name: "anchorless", dims: [1, 84, 1890] },
  ]);
  expect(planes.text).not.toContain("not at hand");
});

test("inspect: of shapes alone, a family or a number of classes leaves only what these allow", () => {
  const told = (options: DecoderOptions) =>
    (
      inspect(undefined, [{ name: "o", dims: [1, 84, 8400] }], options).json as PossibilityList
    ).possibilities.map((p) => `${p.families.join(" or ")}: ${p.classes}, ${p.reading}`);
  expect(told({ family: "yolov9" })).toEqual(["yolov9: 80, class-rows"]);
  expect(told({ family: "yolov7" })).toEqual(["yolov7: 79, objectness-rows"]);
  for (const options of [{ classes: 79 }, { labels: Array.from({ length: 79 }, (_, i) => `l${i}`) }]) {
    expect(told(options)).not.toHaveLength(0);
    for (const line of told(options)) expect(line).toContain(": 79, ");
  }
  expect(told({ classes: 3 })).toEqual([]);
  expect(told({ family: "yolov99" as "yolov9" })).toEqual([]);
  // in plain JavaScript, null says as little as undefined
  expect(told(null as unknown as DecoderOptions)).toEqual(told({}));
  expect(() => inspect(undefined, { o: { dims: [1] } } as never)).toThrow(
    /got tensors an object, expected a list of \{name, dims, type\}/,
  );
});

test("scores that are no numbers are told of", () => {
  const d = make({ family: "yolov8", classes: 2, inputSize: [64, 64] });
  expect(found(d, [filled([1, 6, 84], NaN)])).toEqual([]);
  expect(d.describe().text).toContain("note: 168 scores of the first frame are NaN");
});

describe("maps whose last cells stand out of the input: a cell is a stride wide, whatever the width of the map", () => {
  const open = { rules: { clamp: "none" } };
  /** Corners in pixels of the one detection. */
  const pixels = (
    config: object,
    data: Float32Array,
    dims: number[],
    [w, h]: readonly number[],
  ): number[] => {
    const [d, ...more] = make({ classes: 1, inputSize: [w, h], ...config }, open).decode({
      o: { data, dims },
    });
    expect(more).toEqual([]);
    return [d.x_min * w, d.y_min * h, d.x_max * w, d.y_max * h].map((v) => Number(v.toFixed(3)));
  };

  test("NanoDet-Plus at 416: six and a half cells of 64 pixels", () => {
    const data = new Float32Array(3598 * 33);
    // behind 52 x 52, 26 x 26 and 13 x 13 cells, the map of 7 x 7: its cell (3, 3), a cell in each direction
    const row = (2704 + 676 + 169 + 3 * 7 + 3) * 33;
    data[row] = 0.9;
    for (let side = 0; side < 4; side++) data[row + 1 + side * 8 + 1] = 50;
    // Four maps: from the cell's left upper corner, 3 x 64 = 192, as nanodet_plus_head.py has its centre priors.
    expect(pixels({ family: "nanodet" }, data, [1, 3598, 33], [416, 416])).toEqual([128, 128, 256, 256]);
  });

  test("YOLOX and YOLOv5 at 100 x 75", () => {
    const size = [100, 75];
    const rows = 13 * 10 + 7 * 5 + 4 * 3;
    const undecoded = new Float32Array(rows * 6);
    // the last map is 4 x 3: its cell (2, 1)
    undecoded.set([0.25, 0.5, 0, 0, 0.9, 0.9], (13 * 10 + 7 * 5 + 1 * 4 + 2) * 6);
    expect(pixels({ family: "yolox" }, undecoded, [1, rows, 6], size)).toEqual([
      2.25 * 32 - 16,
      1.5 * 32 - 16,
      2.25 * 32 + 16,
      1.5 * 32 + 16,
    ]);
    const map = new Float32Array(6 * 4 * 3).fill(-20);
    [0, 0, 0, 0, 9, 9].forEach((v, k) => (map[k * 12 + 1 * 4 + 2] = v));
    const v5 = { family: "yolov5", anchors: [[[10, 20]]], strides: [32] };
    expect(pixels(v5, map, [1, 6, 3, 4], size)).toEqual([
      2.5 * 32 - 5,
      1.5 * 32 - 10,
      2.5 * 32 + 5,
      1.5 * 32 + 10,
    ]);
  });
});

describe("a background that is the last class, in lists that name it", () => {
  const decode = (background: number, confidenceThreshold: number[], scores: number[]): number[][] =>
    found(
      make({
        family: "boxes",
        labels: ["a", "b"],
        background,
        rules: { set: "tflite", suppress: "none" },
        coordinates: "normalised",
        roles: { boxes: "b", scores: "s" },
        confidenceThreshold,
      }),
      {
        b: { ...floats([1, 1, 4], [0.1, 0.1, 0.4, 0.4]), order: "rows" },
        s: { ...floats([1, 1, 3], scores), order: "rows" },
      },
    );
  test("thresholds", () => {
    expect(decode(2, [0.9, 0.1, 0.1], [0.5, 0.05, 0.05])).toEqual([]);
    expect(decode(2, [0.4, 0.9, 0.9], [0.5, 0.05, 0.05])).toHaveLength(1);
    expect(decode(0, [0.1, 0.9, 0.1], [0.05, 0.5, 0.05])).toEqual([]);
  });
  test("labels", () => {
    const label = (labels: string[]): string | undefined =>
      make(
        {
          NN_config: { output_format: "raw", NN_family: "mobilenet", NN_specific_metadata: { classes: 2 } },
          mappings: { labels },
        },
        {
          background: 2,
          rules: "tflite",
          variances: [0.1, 0.1, 0.2, 0.2],
          priors: Float32Array.of(0.1, 0.1, 0.3, 0.3),
          roles: { boxes: "b", scores: "s" },
        },
      )
        .decode({
          b: { ...filled([1, 1, 4]), order: "rows" },
          s: { ...floats([1, 1, 3], [0.1, 0.8, 0.1]), order: "rows" },
        })
        .at(0)?.label;
    expect([label(["a", "b"]), label(["a", "b", "nothing"])]).toEqual(["b", "b"]);
  });
});

test("labels among the options say how many classes there are", () => {
  const options = { family: "yolov8", labels: ["a", "b"] };
  expect(make({ nn_config: { output_format: "raw" } }, options).config.classes).toBe(2);
});

test("inspect reads outputs that are known beforehand as the decoder does: with scales and orders", () => {
  const config = { family: "yolov8", classes: 2, inputSize: [64, 64] as [number, number] };
  const quantised = {
    outputs: [{ name: "o", dims: [1, 6, 84], type: "u8" as const, scale: 1 / 255, zeroPoint: 0 }],
  };
  const square = { outputs: [{ name: "o", dims: [1, 6, 6], order: "rows" as const }] };
  for (const options of [quantised, square]) {
    // A decoder says one thing more: how a picture is prepared.
    const [plan, picture] = make(config, options).describe().text.split("\npicture: ");
    expect(picture).toMatch(/^letterbox to 64x64, /);
    expect(inspect(config, [], options).text).toBe(plan);
  }
});

test("a frame that is refused leaves slots and counters as they were", () => {
  const d = make({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  d.decode({ o: planes([32, 32, 8, 8, 0.9]) });
  const before = Array.from(d.slots.o.data as Float32Array);
  const { frames } = d.stats;
  expect(() =>
    d.decode({ o: planes([1, 2, 3, 4, 0.5]) }, { width: -1, height: 4, resize: "stretch" }),
  ).toThrow(RangeError);
  expect(Array.from(d.slots.o.data as Float32Array)).toEqual(before);
  expect(d.stats.frames).toBe(frames);
});

test("a frame that is refused at the first decode leaves nothing behind", () => {
  const d = make({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  const o = planes([32, 32, 8, 8, 0.9]);
  for (const frame of [
    { width: -1, height: 4, resize: "letterbox" },
    { width: 4, height: 4, resize: "fit" },
  ])
    expect(() => d.decode({ o }, frame as never)).toThrow(RangeError);
  expect(d.stats.plans).toBe(0);
  expect(() => d.decode()).toThrow(/without outputs/);
  expect(d.decode({ o })).toHaveLength(1);
});

test("inspect takes four bare tensors for those of TFLite's operator, and says which of the two columns it cannot tell", () => {
  const specs = [
    { name: "a", dims: [1, 10, 4] },
    { name: "b", dims: [1, 10] },
    { name: "c", dims: [1, 10] },
    { name: "d", dims: [1] },
  ];
  const [, first, line] = inspect(undefined, specs).text.split("\n");
  expect(first).toBe(
    "- boxes (yxyx), scores, classes b, count d: a [1,10,4] as rows + c [1,10] as rows: tflite-postprocess, Sony IMX500",
  );
  expect(line).toContain(
    'roles: { classIds: "b", scores: "c" }, inputSize: [width, height] }, or classIds and scores the other way round',
  );
});

test("of tensors whose names end alike each has its own reading", () => {
  const dims = [1, 84, 8400];
  const specs = [
    { name: "x", dims },
    { name: "out x", dims },
  ];
  const { possibilities } = inspect(undefined, specs, { family: "yolov8", classes: 80 })
    .json as PossibilityList;
  expect(possibilities.map((p) => p.about.replace(/^.*: /, ""))).toEqual([
    expect.stringMatching(/^x /),
    expect.stringMatching(/^out x /),
  ]);
  expect(possibilities[0].likelihood).toBe(possibilities[1].likelihood);
  expect(inspect(null, specs.slice(1)).text).toBe(inspect(undefined, specs.slice(1)).text);
});

test.each(engines)("the threshold of i32 scores is rounded as they are, %s", (engine) => {
  // as floats 16,777,219 is 16,777,220, four steps of 0.125 above the zero point
  const config = { family: "boxes", classes: 1, coordinates: "normalised", confidenceThreshold: 0.4 };
  const scores = { data: Int32Array.of(16777219), dims: [1, 1], scale: 0.125, zeroPoint: 16777216 };
  const boxes = floats([1, 1, 4], [0.1, 0.1, 0.4, 0.4]);
  expect(
    make({ ...config, roles: { boxes: "b", scores: "s" } }, { engine })
      .decode({ b: boxes, s: scores })
      .at(0)?.confidence,
  ).toBe(0.5);
});

test.each(engines)(
  "more classes to look for than are known of have room for their thresholds, %s",
  (engine) => {
    const keep = Array.from({ length: 100 }, (_, i) => i);
    const rows = keep.flatMap((i) => [10 + i, 10, 100 + i, 100, 0.9 - i * 0.001, i]);
    const tensor = floats([1, 100, 6], rows);
    const config = { family: "yolov10", inputSize: [640, 640], confidenceThreshold: [0.5] };
    expect(make(config, { engine, keep }).decode({ o: tensor })).toHaveLength(100);
    const d = make(config, { engine, keep, outputs: { o: { dims: [1, 100, 6], type: "f32" } } });
    const slot = d.slots.o.data as Float32Array;
    slot.set(tensor.data as Float32Array);
    d.update({ confidenceThreshold: [0.6] });
    expect([...slot]).toEqual([...(tensor.data as Float32Array)]);
    expect(d.decode()).toHaveLength(100);
  },
);

test("prior boxes among outputs whose shapes are known are waited for", () => {
  const tensors = {
    loc: filled([1, 8, 4]),
    conf: floats([1, 8, 3], Array.from({ length: 8 }, () => [0.1, 0.8, 0.1]).flat()),
    mbox_priorbox: floats(
      [1, 2, 32],
      Array.from({ length: 16 }, (_, i) =>
        i < 8 ? [0.1 * i, 0.1, 0.1 * i + 0.09, 0.5] : [0.1, 0.1, 0.2, 0.2],
      ).flat(),
    ),
  };
  const outputs = Object.fromEntries(
    Object.entries(tensors).map(([name, { dims }]) => [name, { dims, type: "f32" }]),
  );
  const boxes = found(make({ family: "ssd", classes: 3 }), tensors);
  expect(boxes).toHaveLength(8);
  expect(boxes).toContainEqual([1, 0.7, 0.1, 0.79, 0.5]);
  expect(found(make({ family: "ssd", classes: 3 }, { outputs }), tensors)).toEqual(boxes);
});

test.each(engines)("of a batch each image has its own count, %s", (engine) => {
  const roles = { boxes: "b", scores: "s", classIds: "l", count: "n" };
  const d = (): Decoder => make({ family: "tflite-postprocess", classes: 3, roles }, { engine });
  const outputs = (n: TensorInput) => ({
    b: floats([2, 4, 4], Array.from({ length: 8 }, (_, i) => [0.1 * i, 0.1, 0.1 * i + 0.05, 0.2]).flat()),
    s: floats([2, 4], new Array<number>(8).fill(0.9)),
    l: filled([2, 4]),
    n,
  });
  const lengths = (n: TensorInput): number[] =>
    d()
      .decodeBatch(outputs(n))
      .map((image) => image.length);
  expect(lengths(floats([2], [1, 3]))).toEqual([1, 3]);
  expect(lengths(floats([2, 1], [4, 2]))).toEqual([4, 2]);
  expect(() => d().decode(outputs(floats([1], [4])))).toThrow(
    "got 1 elements, expected 1 cell for each of 2 images",
  );
});

test("a list of thresholds before the first frame says how many classes there are, as at creation", () => {
  const rows = floats([1, 2, 6], [10, 10, 30, 30, 0.4, 1, 10, 10, 30, 30, 0.4, 79]);
  const d = make({ family: "yolov10", inputSize: [640, 640] });
  d.update({ confidenceThreshold: Array.from({ length: 80 }, (_, i) => (i === 79 ? 0.5 : 0.3)) });
  expect(found(d, { o: rows }).map(([c]) => c)).toEqual([1]);
});

test("what says where a list ends is no quantised number", () => {
  const d = make({ family: "ssd-detection-output", classes: 3 });
  const data = Int8Array.of(-1, 0, 99, 9, 9, 50, 50);
  expect(() => d.decode({ o: { data, dims: [1, 1, 1, 7], scale: 0.01, zeroPoint: -1 } })).toThrow(
    "got i8 of scale 0.01 and zeroPoint -1, expected numbers as they stand",
  );
  const roles = { boxes: "b", scores: "s", classIds: "l", count: "n" };
  const lite = make({ family: "tflite-postprocess", classes: 3, roles });
  const n = { data: Uint8Array.of(8), dims: [1], scale: 0.5, zeroPoint: 6 };
  expect(() => lite.decode({ b: filled([1, 4, 4]), s: filled([1, 4]), l: filled([1, 4]), n })).toThrow(
    "got u8 of scale 0.5 and zeroPoint 6, expected numbers as they stand",
  );
});

test("maps of one tensor with as many cells each have strides of their own", () => {
  const d = make({ family: "nanodet", classes: 3, inputSize: [32, 32], strides: [8, 16, 32, 64] });
  const o = { ...filled([1, 22, 35]), order: "rows" as const };
  o.data.fill(0.01);
  expect(d.decode({ o })).toHaveLength(0);
});

test("a new plan is looked at anew, and the notes of the one before are gone", () => {
  const d = make({ family: "yolov8", classes: 2, inputSize: [64, 64] });
  d.decode({ o: planes([32, 32, 10, 10, NaN, NaN]) });
  expect(d.describe().text).toContain("are NaN");
  // a batch of two is another plan
  const two = { ...filled([2, 6, 84]), order: "planes" as const };
  d.decodeBatch({ o: two });
  expect(d.describe().text).not.toContain("are NaN");
  // logits that are no candidates: only the first frame of a plan is searched for them
  const three = { ...filled([3, 6, 84]), order: "planes" as const };
  three.data.fill(-3);
  expect(() => d.decodeBatch({ o: three })).toThrow("expected probabilities in 0..1");
});

test("what the network has finished: rows of corners are not suppressed again, rows of labels end at the edges", () => {
  const config = { classes: 2, inputSize: [64, 64] };
  // YOLO26 has one box an object even where its last step is left out
  const rows = [0.9, 0.8, 0.7].flatMap((s) => [5, 5, 30, 30, 0.9, s, 0.1]);
  expect(make({ family: "yolo26", ...config }).decode({ o: floats([1, 3, 7], rows) })).toHaveLength(3);
  const finished = floats([1, 1, 6], [-9, 5, 80, 32, 0.9, 1]);
  expect(found(make({ family: "yolov10", ...config }), { o: finished })).toEqual([[1, 0, 0.0781, 1, 0.5]]);
});

test("arrays of the caller may be reused, and a result shows labels that nobody can change", () => {
  const labels = ["cat", "dog"];
  const priors = Float32Array.of(0.5, 0.5, 0.5, 0.5);
  const d = make({ family: "ssd", labels, inputSize: [64, 64], priors, scales: [10, 10, 5, 5] });
  const outputs = { boxes: floats([1, 1, 4], [0, 0, 0, 0]), scores: floats([1, 1, 3], [0, 0.9, 0]) };
  priors.fill(0);
  labels[0] = "cow";
  const first = d.decode(outputs);
  expect(() => ((first.labels as string[])[0] = "X")).toThrow(TypeError);
  const [{ label, x_min, x_max }] = d.decode(outputs);
  expect([label, x_min, x_max]).toEqual(["cat", 0.25, 0.75]);
});

test("dims of another batch are refused, also if there are as many elements as before", () => {
  const d = make({ family: "yolov8", classes: 2, inputSize: [64, 64] });
  const o = planes([32, 32, 16, 16, 0.9, 0.1]);
  expect(d.decode([o]).length).toBe(1);
  expect(() => d.decode([{ ...o, dims: [2, 6, 84] }])).toThrow("got 504 elements, expected 1008");
  expect(d.decode([o]).length).toBe(1);
});
