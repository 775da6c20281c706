/** Parsers of depthai-nodes that read one family, or none. */
import { describe, expect, test } from "vitest";
import {
  classMap,
  createDecoderSync,
  labelMap,
  mapOptions,
  parseConfig,
  valueMap,
} from "../../src/entries/index.ts";

/** An archive with one head. */
const archive = (
  parser: string,
  outputs: readonly { readonly name: string; readonly shape: readonly number[] }[],
  metadata: object = {},
  inputSize: readonly [number, number] = [64, 32],
): unknown => ({
  config_version: "1.0",
  model: {
    metadata: { name: "net", path: "net.onnx" },
    inputs: [
      {
        name: "in",
        dtype: "float32",
        input_type: "image",
        shape: [1, 3, inputSize[1], inputSize[0]],
        layout: "NCHW",
      },
    ],
    outputs: outputs.map((o) => ({ ...o, dtype: "float32" })),
    heads: [{ parser, outputs: outputs.map(({ name }) => name), metadata }],
  },
});

test("PPTextDetectionParser: depthai's rule and its defaults", () => {
  const outputs = [{ name: "map", shape: [1, 1, 32, 64] }];
  const file = archive("PPTextDetectionParser", outputs, { mask_threshold: 0.2 });
  const config = parseConfig(file);
  expect([config.family, config.confidenceThreshold, config.maxDetections]).toEqual(["dbnet", 0.5, 100]);
  expect(config.task).toEqual({ name: "text", textRule: "depthai", maskThreshold: 0.2 });
  const map = new Float32Array(64 * 32);
  for (let y = 12; y < 20; y++) map.fill(0.875, y * 64 + 10, y * 64 + 50);
  expect(createDecoderSync(file).decode({ map: { data: map, dims: [1, 1, 32, 64] } }).length).toBe(1);
});

test("ClassificationParser: every class, sorted; is_softmax false says that scores are logits", () => {
  const decode = (metadata: object): number[] => {
    const decoder = createDecoderSync(
      archive("ClassificationParser", [{ name: "scores", shape: [1, 3] }], metadata),
    );
    return decoder
      .decode({ scores: { data: [0.25, 0.5, 0.125], dims: [1, 3] } })
      .toArray()
      .map((d) => d.confidence);
  };
  expect(decode({ classes: ["a", "b", "c"], n_classes: 3, is_softmax: true })).toEqual([0.5, 0.25, 0.125]);
  const [first, , last] = decode({ classes: ["a", "b", "c"], n_classes: 3, is_softmax: false });
  expect(first / last).toBeCloseTo(Math.exp(0.5 - 0.125), 5);
});

test("is_softmax of a YOLO with masks says nothing of its class scores", () => {
  const outputs = [{ name: "output1_yolov8", shape: [1, 7, 4, 8] }];
  const metadata = { subtype: "yolov8", classes: ["a", "b"], n_classes: 2, yolo_outputs: ["output1_yolov8"] };
  const scores = (more: object) =>
    parseConfig(archive("YOLOExtendedParser", outputs, { ...metadata, n_prototypes: 32, ...more })).scores;
  expect(scores({ is_softmax: false })).toBe(scores({}));
});

test("FastSAMParser: YOLOv8 for segmentation with one class, and its index map", () => {
  const outputs = [
    { name: "output1_yolov8", shape: [1, 6, 4, 8] },
    { name: "output2_yolov8", shape: [1, 6, 2, 4] },
    { name: "output3_yolov8", shape: [1, 6, 1, 2] },
    { name: "output1_masks", shape: [1, 2, 4, 8] },
    { name: "output2_masks", shape: [1, 2, 2, 4] },
    { name: "output3_masks", shape: [1, 2, 1, 2] },
    { name: "protos_output", shape: [1, 2, 8, 16] },
  ];
  const decoder = createDecoderSync(archive("FastSAMParser", outputs, { conf_threshold: 0.4 }));
  const tensors = Object.fromEntries(
    outputs.map(({ name, shape }) => [
      name,
      { data: new Float32Array(shape.reduce((a, b) => a * b, 1)), dims: shape },
    ]),
  );
  // Cell (4, 2) of the first map: two cells to each side, objectness and class.
  for (const [channel, value] of [2, 2, 2, 2, 1, 0.9].entries())
    tensors.output1_yolov8.data[channel * 32 + 2 * 8 + 4] = value;
  tensors.output1_masks.data[2 * 8 + 4] = 1;
  tensors.protos_output.data.fill(1, 0, 128);
  const found = decoder.decode(tensors);
  expect(found.toArray().map((d) => [d.class_id, d.x_min * 64])).toEqual([[0, 20]]);
  const map = labelMap(found, { size: "network" });
  expect([map.width, map.height, map.data[16 * 64 + 36], map.data[0]]).toEqual([64, 32, 0, -1]);
});

interface Parser {
  readonly parser: string;
  /** The family that its networks are read as. */
  readonly family: string;
  readonly outputs: { readonly [name: string]: readonly number[] };
  readonly metadata?: object;
  readonly inputSize?: readonly [number, number];
}

/** Outputs of the strides 8, 16, 32, with so many columns each. */
const byStride = (names: { readonly [name: string]: number }, anchors: number): Parser["outputs"] =>
  Object.fromEntries(
    [8, 16, 32].flatMap((s) =>
      Object.entries(names).map(([name, columns]) => [
        `${name}_${s}`,
        [1, anchors * (64 / s) * (32 / s), columns],
      ]),
    ),
  );

const DETECTIONS = { detections: [1, 1, 5, 7] };

/** The parsers of depthai-core and depthai-nodes whose networks are decoded. */
const DECODED: readonly Parser[] = [
  {
    parser: "YOLO",
    family: "yolov6",
    outputs: {
      output1_yolov6r2: [1, 7, 4, 8],
      output2_yolov6r2: [1, 7, 2, 4],
      output3_yolov6r2: [1, 7, 1, 2],
    },
    metadata: { n_classes: 2, subtype: "yolov6r2" },
  },
  {
    parser: "YOLOExtendedParser",
    family: "yolo26",
    outputs: { output_yolo26: [1, 42, 7] },
    metadata: { n_classes: 2, subtype: "yolo26" },
  },
  { parser: "SSD", family: "ssd", outputs: DETECTIONS, metadata: { n_classes: 2 } },
  { parser: "MOBILENET", family: "ssd", outputs: DETECTIONS, metadata: { n_classes: 2 } },
  {
    parser: "RFDETRParser",
    family: "rfdetr",
    outputs: { dets: [1, 9, 4], labels: [1, 9, 3], masks: [1, 9, 4, 8] },
    metadata: { classes: ["a", "b"] },
  },
  {
    parser: "KeypointParser",
    family: "keypoints",
    outputs: { points: [1, 42] },
    metadata: { n_keypoints: 21 },
  },
  {
    parser: "HRNetParser",
    family: "hrnet",
    outputs: { heat: [1, 17, 8, 16] },
    metadata: { n_keypoints: 17 },
  },
  { parser: "SuperAnimalParser", family: "superanimal", outputs: { heat: [1, 8, 16, 39] } },
  { parser: "SCRFDParser", family: "scrfd", outputs: byStride({ score: 1, bbox: 4, kps: 10 }, 2) },
  { parser: "YuNetParser", family: "yunet", outputs: byStride({ cls: 1, obj: 1, bbox: 4, kps: 10 }, 1) },
  {
    parser: "MPPalmDetectionParser",
    family: "mediapipe-palm",
    outputs: { boxes: [1, 2016, 18], scores: [1, 2016, 1] },
    metadata: { scale: 192 },
    inputSize: [192, 192],
  },
  {
    parser: "FastSAMParser",
    family: "yolov8",
    outputs: { output0: [1, 37, 42], protos_output: [1, 32, 8, 16] },
    metadata: { n_prototypes: 32 },
  },
  { parser: "PPTextDetectionParser", family: "dbnet", outputs: { map: [1, 1, 32, 64] } },
  {
    parser: "ClassificationParser",
    family: "classifier",
    outputs: { scores: [1, 3] },
    metadata: { classes: ["a", "b", "c"] },
  },
];

describe("every parser is decoded, or refused with the reason", () => {
  test.each(DECODED)("$parser", ({ parser, family, outputs, metadata, inputSize }) => {
    const list = Object.entries(outputs).map(([name, shape]) => ({ name, shape }));
    const decoder = createDecoderSync(archive(parser, list, metadata, inputSize));
    const tensors = Object.fromEntries(
      list.map(({ name, shape }) => [
        name,
        { data: new Float32Array(shape.reduce((x, y) => x * y, 1)), dims: shape },
      ]),
    );
    expect(decoder.decode(tensors).length).toBeLessThanOrEqual(3);
    expect(decoder.describe().text).toMatch(new RegExp(`^family: ${family} `));
  });

  test.each([
    ["SegmentationParser", "classMap(tensor, { ...mapOptions(archive)"],
    ["MapOutputParser", "valueMap(tensor, { ...mapOptions(archive)"],
    ["ImageOutputParser", "boxwright makes no pictures of a network's output"],
    ["RegressionParser", "the tensor holds the numbers"],
    ["EmbeddingsParser", "the tensor holds the embedding"],
    ["ClassificationSequenceParser", "boxwright reads no sequences of characters"],
    ["MLSDParser", "boxwright reads no lines"],
    ["LaneDetectionParser", "boxwright reads no lanes"],
    ["XFeatMonoParser", "boxwright matches no features"],
    ["XFeatStereoParser", "boxwright matches no features"],
  ])("%s", (parser, reason) => {
    expect(() => parseConfig(archive(parser, [{ name: "out", shape: [1, 1, 32, 64] }]))).toThrow(reason);
  });
});

test.each(["SegmentationParser", "MapOutputParser"])(
  "%s: the call that the refusal names works",
  (parser) => {
    const config = archive(parser, [{ name: "out", shape: [1, 1, 32, 64] }]);
    let message = "";
    try {
      parseConfig(config);
    } catch (error) {
      message = (error as Error).message;
    }
    const [call] = /(class|value)Map\(tensor, \{.*?\}\)/.exec(message) ?? [""];
    const names = ["classMap", "valueMap", "mapOptions", "tensor", "archive", "frame"];
    const tensor = { data: new Float32Array(32 * 64).fill(2), dims: [1, 1, 32, 64] };
    const frame = { width: 640, height: 320, resize: "stretch" };
    const run = new Function(...names, `return ${call};`) as (...given: unknown[]) => {
      data: ArrayLike<number>;
    };
    expect(run(classMap, valueMap, mapOptions, tensor, config, frame).data).toHaveLength(640 * 320);
  },
);

describe("RFDETRParser: outputs by their order, the best column of each query, no column left out", () => {
  const outputs = [
    { name: "a", shape: [1, 2, 4] },
    { name: "b", shape: [1, 2, 4] },
  ];
  const logit = (p: number): number => Math.log(p / (1 - p));
  const a = { data: [0.5, 0.5, 0.25, 0.5, 0.25, 0.5, 0.5, 0.5], dims: [1, 2, 4] };
  const b = { data: [0.1, 0.2, 0.6, 0.9, 0.8, 0.7, 0.4, 0.3].map(logit), dims: [1, 2, 4] };
  const rows = (file: unknown, tensors: object): unknown[] =>
    createDecoderSync(file)
      .decode(tensors as never)
      .toArray()
      .map((d) => [d.class_id, d.label, +d.confidence.toFixed(5), d.x_min, d.x_max]);
  const expected = [
    [3, "3", 0.9, 0.375, 0.625],
    [0, "cat", 0.8, 0, 0.5],
  ];

  test("boxes first, and the names of three classes beside four columns", () => {
    const file = archive("RFDETRParser", outputs, { classes: ["cat", "dog", "cow"] });
    const { family, confidenceThreshold, maxDetections, classes } = parseConfig(file);
    expect([family, confidenceThreshold, maxDetections, classes]).toEqual(["rfdetr", 0.5, 300, 4]);
    expect(rows(file, { a, b })).toEqual(expected);
  });

  test("masks stand behind them, and rule proto cuts them as the parser does", () => {
    const masks = { name: "c", shape: [1, 2, 8, 16] };
    const file = archive("RFDETRParser", [...outputs, masks], { classes: ["cat", "dog", "cow"] });
    const c = { data: Float32Array.from({ length: 256 }, (_, i) => (i < 128 ? 1 : -1)), dims: masks.shape };
    expect(rows(file, { a, b, c })).toEqual(expected);
    const found = createDecoderSync(file).decode({ a, b, c });
    const areas = (row: number, rule?: "proto"): number =>
      found.mask(row, { size: "prototype", ...(rule && { rule }) }).data.reduce((n, p) => n + p, 0);
    // The first detection is query 0, whose map is set everywhere; its box is 4 columns wide and 4 rows high.
    expect([areas(0), areas(0, "proto"), areas(1)]).toEqual([128, 16, 0]);
  });

  test("one output is too few", () => {
    expect(() => parseConfig(archive("RFDETRParser", outputs.slice(0, 1)))).toThrow(
      "outputs: got [a], expected the names of boxes and scores, in this order",
    );
  });
});
