/** Tests the text of `describe()` word for word: each line is a fact of the config or of the shapes. */
import { expect, test } from "vitest";
import type { DecoderOptions } from "../../src/config/types.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";

const textOf = (config: object, options: object = {}): string[] =>
  createDecoderSync(config, { engine: "ts", ...options } as DecoderOptions)
    .describe()
    .text.split("\n");

test.each<[string, object, object, string[]]>([
  [
    "yolov5 maps of integers, by the rules of depthai",
    {
      family: "yolov5",
      classes: 2,
      inputSize: [64, 64],
      anchors: [10, 14, 23, 27],
      rules: "depthai",
      iouThreshold: 0.5,
      maxDetections: 10,
      keep: [1, 0],
    },
    { extra: { dims: [3] }, a: { dims: [1, 14, 8, 8], type: "i8", scale: 0.0625, zeroPoint: -3 } },
    [
      "family: yolov5 (option family)",
      "reading: anchor-grid: anchor grids: a [1,14,8,8] as NCHW",
      "scores: logits (the decoder applies the sigmoid) (default of yolov5 anchor-grid)",
      "input: 64x64; batch 1; 2 classes",
      "tensor a: [1,14,8,8] i8, real = (raw + 3) * 0.0625",
      "head: a [1,14,8,8] as NCHW, anchor 0 (10 x 14 px): 64 cells from number 0, stride 8, box grid, score product, sigmoid",
      "head: a [1,14,8,8] as NCHW, anchor 1 (23 x 27 px): 64 cells from number 64, stride 8, box grid, score product, sigmoid",
      "rules: depthai: score product, confidence >= 0.25, suppression across classes at IoU >= 0.5, clamp before, at most 10 detections",
      "keep: classes 0, 1",
      "note: left alone: extra [3]",
      "picture: letterbox to 64x64, pad 114, bilinear; RGB, (x - 0) / 255; f32 NCHW",
    ],
  ],
  [
    "a map of cells that are not square, and rules of its own",
    {
      family: "yolov8",
      classes: 1,
      inputSize: [64, 32],
      scores: "probabilities",
      rules: { pixelOffset: 1, suppress: "none", multiLabel: true },
      confidenceThreshold: [0.5],
    },
    { b: { dims: [1, 65, 4, 4], type: "u8", scale: 0.0078125, zeroPoint: 3 } },
    [
      "family: yolov8 (option family)",
      "reading: dfl-grid: distance distributions of 16 bins: b [1,65,4,4] as NCHW",
      "scores: probabilities (the tensor holds probabilities) (option scores)",
      "input: 64x32; batch 1; 1 class",
      "tensor b: [1,65,4,4] u8, real = (raw - 3) * 0.0078125",
      "head: b [1,65,4,4] as NCHW: 16 cells from number 0, stride 16 x 8, box distance of 16 bins, score class",
      "rules: ultralytics: score product, confidence > per class, suppression none, clamp after, multi-label, +1 pixel, at most 30000 candidates, 300 detections",
      "note: a 64x32 input has no map of 4x4 cells at a stride of 8, 16, 32 or another power of two: is that its width and height? The option strides settles it",
      "picture: letterbox to 64x32, pad 114, bilinear; RGB, (x - 0) / 255; f32 NCHW",
    ],
  ],
  [
    "a batch of rows without an input size",
    {
      family: "yolov8",
      classes: 3,
      coordinates: "normalised",
      reading: "class-rows",
      rules: { suppress: "all", maxCandidates: 7, pixelOffset: 1 },
    },
    { o: { dims: [2, 9, 7], order: "rows", type: "f16" } },
    [
      "family: yolov8 (option family)",
      "reading: class-rows: boxes, classes: o [2,9,7] as rows",
      "scores: probabilities (the tensor holds probabilities) (default of yolov8 class-rows)",
      "input: not given, boxes are normalised; batch 2; 3 classes",
      "tensor o: [2,9,7] f16",
      "head: o [2,9,7] as rows: 9 cells from number 0, box centre, score class",
      "rules: ultralytics: score product, confidence > 0.25, suppression across classes at IoU > 0.45, clamp after, at most 7 candidates, 300 detections",
      "note: pixelOffset waits for an input size: no pixel is added",
      "picture: letterbox to a size not given, pad 114, bilinear; RGB, (x - 0) / 255; f32 NCHW",
    ],
  ],
  [
    "queries",
    { family: "detr", classes: 2, roles: { boxes: "b", scores: "logits" } },
    { b: { dims: [1, 9, 4] }, logits: { dims: [1, 9, 3] } },
    [
      "family: detr (option family)",
      "reading: queries: boxes, classes and nothing (DETR): b [1,9,4] as rows + logits [1,9,3] as rows",
      "scores: logits (the decoder applies the softmax) (default of detr queries)",
      "input: not given, boxes are normalised; batch 1; 2 classes",
      "tensor b: [1,9,4] f32",
      "tensor logits: [1,9,3] f32",
      "head: b [1,9,4] as rows + logits [1,9,3] as rows: 9 cells from number 0, box centre, score class, softmax",
      "rules: ultralytics: score product, confidence > 0.25, suppression none, clamp after, at most 30000 candidates, 300 detections",
      "picture: stretch to a size not given, pillow; RGB, (x - [123.675, 116.28, 103.53]) / [58.395, 57.12, 57.375]; f32 NCHW",
    ],
  ],
])("a plan: %s", (_, config, outputs, lines) => {
  expect(textOf(config, { outputs })).toEqual(lines);
});

const UNKNOWN = "tensors: not known yet; the plan is made at the first decode, or from the option outputs";
const metadata = {
  classes: 2,
  coordinates: 4,
  anchors: [10, 14, 23, 27],
  anchor_masks: { side26: [0], side13: [1] },
  iou_threshold: 0.5,
  confidence_threshold: 0.5,
};

test("a config: typed options", () => {
  const anchors = [
    [
      [10, 14],
      [3, 4],
    ],
    [[23, 27]],
  ];
  const config = { family: "yolov5", labels: ["a", "b", "c", "d"], inputSize: [64, 32], anchors };
  expect(textOf({ ...config, confidenceThreshold: [0.1, 0.2, 0.3, 0.4] })).toEqual([
    "config: options",
    "family: yolov5 (option family)",
    "classes: 4, labels a, b, c, ...",
    "anchors: 10 x 14, 3 x 4 for map 1; 23 x 27 for map 2",
    "input: 64x32",
    "thresholds: confidence per class, IoU 0.45, at most 300 detections",
    UNKNOWN,
    "picture: letterbox to 64x32, pad 114, bilinear; RGB, (x - 0) / 255; f32 NCHW",
  ]);
  expect(textOf({ family: "yolov8" }).slice(2)).toEqual([
    "classes: not given",
    "input: not given",
    "thresholds: confidence 0.25, IoU 0.45, at most 300 detections",
    UNKNOWN,
    "picture: letterbox to a size not given, pad 114, bilinear; RGB, (x - 0) / 255; f32 NCHW",
  ]);
});

test.each([
  [{ output_format: "detection" }, "config: NN_config, output_format detection"],
  [{}, "config: NN_config, output_format not given (raw: the host decodes)"],
])("a config: a file with %j", (format, first) => {
  const file = { NN_config: { NN_family: "YOLO", ...format, NN_specific_metadata: metadata } };
  expect(textOf(file)).toEqual([
    first,
    "family: yolov3 (nothing in the file says otherwise; the option `family` does)",
    "classes: 2",
    "anchors: 10 x 14 for the map 26 wide; 23 x 27 for the map 13 wide",
    "input: not given",
    "thresholds: confidence 0.5, IoU 0.5, at most 300 detections",
    UNKNOWN,
    "picture: stretch to a size not given, bilinear; RGB, (x - 0) / 255; f32 NCHW",
  ]);
});

test("a config that decodes nothing says why, and names no family", () => {
  expect(textOf({ config_version: "1.0", model: { heads: [] } })).toEqual([
    "config: nn-archive, the archive has no heads: nothing says how to decode its outputs (option family does)",
    "classes: not given",
    "input: not given",
    "thresholds: confidence 0.5, IoU 0.5, at most 300 detections",
    UNKNOWN,
    "picture: stretch to a size not given, bilinear; RGB, (x - 0) / 255; f32 NCHW",
  ]);
});
