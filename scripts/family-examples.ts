/**
 * The example on the page of each family: one object in an otherwise empty tensor. Its box is computed by hand from the
 * published formula. The last line of an example is its output.
 */
import type { Family, PoseFamily } from "../src/core/family.ts";

interface Example {
  /** Options besides `family`, as source text. */
  readonly options: string;
  /** Width and height of the picture in pixels. */
  readonly size: readonly [number, number];
  /** Lines of source text that make the tensors. */
  readonly body: readonly string[];
  /** Source text of the argument of `decode`. */
  readonly outputs: string;
  readonly prints: string;
}

const LABELS = 'labels: ["person", "cat"]';
const INPUT = "inputSize: [64, 64]";

/** Longest line of an example. Longer ones are split. */
const WIDTH = 110;

/** Returns a statement with an object of the fields. If the line is too long, each field gets a line. */
export function aroundFields(before: string, fields: string, after: string): string {
  const line = `${before}{ ${fields} }${after}`;
  if (line.length <= WIDTH) return line;
  return `${before}{\n  ${fields.replace(/, (?=\w+: )(?![^{]*\})/g, ",\n  ")},\n}${after}`;
}

/** Returns the code of an example. */
const exampleOf =
  ({ options, size, body, outputs, prints }: Example) =>
  (family: Family): string =>
    [
      'import { createDecoder, toPixels } from "boxwright";',
      "",
      aroundFields("const decoder = await createDecoder(", `family: "${family}", ${options}`, ");"),
      "",
      ...body,
      ...(outputs === "" ? [] : [`const outputs = ${outputs};`]),
      "",
      "for (const found of decoder.decode(outputs)) {",
      `  const { x_min, y_min, x_max, y_max } = toPixels(found, ${size.join(", ")});`,
      "  const corners = [x_min, y_min, x_max, y_max].map(Math.round);",
      '  console.log(found.label, found.confidence.toFixed(2), corners.join(" "));',
      "}",
      `// ${prints}`,
    ].join("\n");

const two = (...fields: readonly string[]): string => `{\n  ${fields.join(",\n  ")},\n}`;
const one = (dims: string): string => `{ output0: { data, dims: ${dims} } }`;

const anchorMap = (anchors: string, more: string, formula: string): Example => ({
  options: `${LABELS}, ${INPUT}, anchors: [${anchors}]${more}`,
  size: [64, 64],
  body: [
    "// One map with one anchor, [1, 1 x (5 + 2), 2, 2] at stride 32. The cell in column 1, row 0 sees a cat.",
    `// ${formula}`,
    "const data = new Float32Array(7 * 4).fill(-20);",
    "[0, 0, 0, 0, 2.2, 0, 1.4].forEach((value, channel) => (data[channel * 4 + 1] = value));",
  ],
  outputs: one("[1, 7, 2, 2]"),
  prints: "cat 0.72 40 0 56 32",
});

const squared = exampleOf(
  anchorMap(
    "[16, 32]",
    "",
    "Centre: (1 + 2 sigmoid(0) - 0.5) x 32 = 48. Width: (2 sigmoid(0))^2 x 16. Score: sigmoid(2.2) x sigmoid(1.4).",
  ),
);
const exponential = (more: string): ((family: Family) => string) =>
  exampleOf(
    anchorMap(
      "[16, 32]",
      more,
      "Centre: (1 + sigmoid(0)) x 32 = 48. Width: exp(0) x 16. Score: sigmoid(2.2) x sigmoid(1.4).",
    ),
  );
const softmaxed = exampleOf(
  anchorMap(
    "[0.5, 1]",
    "",
    "Centre: (1 + sigmoid(0)) x 32 = 48. Width: exp(0) x 0.5 x 32. Score: sigmoid(2.2) x softmax(0, 1.4).",
  ),
);

const points = (score: string, formula: string): ((family: Family) => string) =>
  exampleOf({
    options: `${LABELS}, ${INPUT}`,
    size: [64, 64],
    body: [
      "// Rows of three maps, 8x8 + 4x4 + 2x2 cells: [1, 84, 5 + 2]. Row 81 is column 1, row 0 at stride 32.",
      `// Centre: (1 + 0.5) x 32 = 48. Width: exp(log(0.5)) x 32 = 16. ${formula}`,
      "const data = new Float32Array(84 * 7);",
      "data.set([0.5, 0.5, Math.log(0.5), 0, 0.9, 0.1, 0.8], 81 * 7);",
    ],
    outputs: one("[1, 84, 7]"),
    prints: `cat ${score} 40 0 56 32`,
  });

const classRows = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// [1, 4 + 2, 84]: centre, size and classes of each cell. One cell sees a cat of 20 x 24 pixels around (32, 16).",
    "const data = new Float32Array(6 * 84);",
    "[32, 16, 20, 24, 0.1, 0.72].forEach((value, channel) => (data[channel * 84 + 10] = value));",
  ],
  outputs: one("[1, 6, 84]"),
  prints: "cat 0.72 22 4 42 28",
});

const endToEnd = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// [1, 300, 6]: corners, score and class id of each object.",
    "const data = new Float32Array(300 * 6);",
    "data.set([22, 4, 42, 28, 0.72, 1]);",
  ],
  outputs: one("[1, 300, 6]"),
  prints: "cat 0.72 22 4 42 28",
});

const nanodet = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// Rows of three maps: [1, 84, 2 + 4 x 8], classes first. Row 28 is column 4, row 3 at stride 8: centre (36, 28).",
    "// Each side is a distribution over 0..7 strides. Left and right are 1, top and bottom 2.",
    "const data = new Float32Array(84 * 34);",
    "data.set([0.1, 0.72], 28 * 34);",
    "[1, 2, 1, 2].forEach((bin, side) => (data[28 * 34 + 2 + side * 8 + bin] = 30));",
  ],
  outputs: one("[1, 84, 34]"),
  prints: "cat 0.72 28 12 44 44",
});

const picodet = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// Four maps as rows: scores [1, N, 2] and distributions [1, N, 4 x 8]. Row 28 at stride 8: centre (36, 28).",
    "// Each side is a distribution over 0..7 strides. Left and right are 1, top and bottom 2.",
    "const tensor = (cells, channels) => ({ data: new Float32Array(cells * channels), dims: [1, cells, channels] });",
    "const scores = [64, 16, 4, 1].map((cells) => tensor(cells, 2));",
    "const sides = [64, 16, 4, 1].map((cells) => tensor(cells, 32));",
    "scores[0].data.set([0.1, 0.72], 28 * 2);",
    "[1, 2, 1, 2].forEach((bin, side) => (sides[0].data[28 * 32 + side * 8 + bin] = 30));",
  ],
  outputs: "[...scores, ...sides]",
  prints: "cat 0.72 28 12 44 44",
});

const cornersAndScores = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// 84 cells: corners in pixels of the input, and the probabilities of two classes. One cell sees a cat.",
    "const boxes = new Float32Array(84 * 4);",
    "const scores = new Float32Array(84 * 2);",
    "boxes.set([22, 4, 42, 28], 10 * 4);",
    "scores.set([0.1, 0.72], 10 * 2);",
  ],
  outputs: two("boxes: { data: boxes, dims: [1, 84, 4] }", "scores: { data: scores, dims: [1, 84, 2] }"),
  prints: "cat 0.72 22 4 42 28",
});

const rtmdet = exampleOf({
  options: `${LABELS}, ${INPUT}, coordinates: "pixels"`,
  size: [64, 64],
  body: [
    "// One map at stride 8: distances [1, 4, 8, 8] and logits [1, 2, 8, 8]. Column 4, row 3: the point (32, 24).",
    "const sides = new Float32Array(4 * 64);",
    "const logits = new Float32Array(2 * 64).fill(-20);",
    "[8, 16, 8, 16].forEach((pixels, side) => (sides[side * 64 + 28] = pixels));",
    "logits[64 + 28] = 2.2; // sigmoid: 0.90",
  ],
  outputs: two(
    "bbox_pred: { data: sides, dims: [1, 4, 8, 8] }",
    "cls_score: { data: logits, dims: [1, 2, 8, 8] }",
  ),
  prints: "cat 0.90 24 8 40 40",
});

const fastestdet = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// One map, [1, 5 + 2, 4, 4]: objectness, box, classes. The cell in column 2, row 1 sees a cat.",
    "// Centre: (2 + tanh(0)) / 4 x 64 = 32. Width: sigmoid(0) x 64. Score: 0.9^0.6 x 0.8^0.4.",
    "const data = new Float32Array(7 * 16);",
    "[0.9, 0, 0, 0, 0, 0.1, 0.8].forEach((value, channel) => (data[channel * 16 + 6] = value));",
  ],
  outputs: one("[1, 7, 4, 4]"),
  prints: "cat 0.86 16 0 48 32",
});

const detr = exampleOf({
  options: LABELS,
  size: [64, 64],
  body: [
    "// 100 queries: centre and size in 0..1, and the logits of two classes and of nothing. Query 7 sees a cat.",
    "const boxes = new Float32Array(100 * 4);",
    "const logits = new Float32Array(100 * 3).map((_, i) => (i % 3 === 2 ? 10 : 0));",
    "boxes.set([0.5, 0.25, 0.3125, 0.375], 7 * 4);",
    "logits.set([0, 3, 0], 7 * 3); // softmax: exp(3) / (exp(3) + 2)",
  ],
  outputs: two(
    "pred_boxes: { data: boxes, dims: [1, 100, 4] }",
    "logits: { data: logits, dims: [1, 100, 3] }",
  ),
  prints: "cat 0.91 22 4 42 28",
});

const rfdetr = exampleOf({
  options: LABELS,
  size: [64, 64],
  body: [
    "// 100 queries: centre and size in 0..1, and the logits of two classes and of a column that nobody trained.",
    "const boxes = new Float32Array(100 * 4);",
    "const logits = new Float32Array(100 * 3).fill(-5);",
    "boxes.set([0.5, 0.25, 0.3125, 0.375], 7 * 4);",
    "logits.set([-5, 2, 3], 7 * 3); // query 7 sees a cat: 1 / (1 + exp(-2))",
  ],
  outputs: two("dets: { data: boxes, dims: [1, 100, 4] }", "labels: { data: logits, dims: [1, 100, 3] }"),
  prints: "cat 0.88 22 4 42 28",
});

const rtdetr = exampleOf({
  options: LABELS,
  size: [64, 64],
  body: [
    "// 100 queries: centre and size in 0..1, and the logits of two classes.",
    "const boxes = new Float32Array(100 * 4);",
    "const logits = new Float32Array(100 * 2).fill(-5);",
    "boxes.set([0.5, 0.25, 0.3125, 0.375], 7 * 4);",
    "logits.set([-5, 2], 7 * 2); // query 7 sees a cat: 1 / (1 + exp(-2))",
  ],
  outputs: two(
    "pred_boxes: { data: boxes, dims: [1, 100, 4] }",
    "logits: { data: logits, dims: [1, 100, 2] }",
  ),
  prints: "cat 0.88 22 4 42 28",
});

const ssd = exampleOf({
  options: `${LABELS}, ${INPUT}, priors: [0.25, 0.25, 0.75, 0.75], variances: [0.1, 0.1, 0.2, 0.2]`,
  size: [64, 64],
  body: [
    "// One prior: the middle of the picture. Centre: 0.5 + 0.1 x 1.25 x 0.5 = 0.5625. Width: exp(0) x 0.5.",
    "const boxes = Float32Array.of(1.25, 0, 0, 0);",
    "const scores = Float32Array.of(0.1, 0.18, 0.72); // background, person, cat",
  ],
  outputs: two("boxes: { data: boxes, dims: [1, 1, 4] }", "scores: { data: scores, dims: [1, 1, 3] }"),
  prints: "cat 0.72 20 16 52 48",
});

const efficientdet = exampleOf({
  options: `${LABELS}, inputSize: [128, 128]`,
  size: [128, 128],
  body: [
    "// Maps of 16, 8, 4, 2 and 1 cells a side: logits [1, h, w, 9 x 2] and offsets [1, h, w, 9 x 4] of ty, tx, th, tw.",
    "// The first prior of column 1, row 1 at stride 16 is centred at (24, 24) and has a side of 4 x 16.",
    "const tensor = (n, channels) => ({ data: new Float32Array(n * n * channels).fill(-20), dims: [1, n, n, channels] });",
    "const outputs = Object.fromEntries(",
    "  [16, 8, 4, 2, 1].flatMap((n) => [[`class_${n}`, tensor(n, 18)], [`box_${n}`, tensor(n, 36)]]),",
    ");",
    "outputs.class_8.data[9 * 18 + 1] = 2.2; // sigmoid: 0.90",
    "outputs.box_8.data.set([0.5, 0.5, Math.log(0.5), Math.log(0.5)], 9 * 36); // 32 pixels further, half as large",
  ],
  outputs: "",
  prints: "cat 0.90 40 40 72 72",
});

const detectionOutput = exampleOf({
  options: 'labels: ["background", "person", "cat"]',
  size: [64, 64],
  body: [
    "// [1, 1, 100, 7]: image, class id (0 is the background), score, corners in 0..1. An image of -1 ends the list.",
    "const data = new Float32Array(100 * 7);",
    "data.set([0, 2, 0.72, 0.25, 0.125, 0.5, 0.75, -1]);",
  ],
  outputs: one("[1, 1, 100, 7]"),
  prints: "cat 0.72 16 8 32 48",
});

const postprocess = exampleOf({
  options: `${LABELS}, roles: { boxes: "a", classIds: "b", scores: "c", count: "d" }`,
  size: [64, 64],
  body: [
    "// y_min, x_min, y_max, x_max in 0..1; class ids from the first class; scores; how many there are.",
    "const tensor = (values, ...dims) => ({ data: Float32Array.from(values), dims });",
    "const a = tensor([0.125, 0.25, 0.75, 0.5], 1, 1, 4);",
    "const [b, c, d] = [tensor([1], 1, 1), tensor([0.72], 1, 1), tensor([1], 1)];",
  ],
  outputs: "{ a, b, c, d }",
  prints: "cat 0.72 16 8 32 48",
});

const blazeface = exampleOf({
  options: 'labels: ["face"], inputSize: [128, 128]',
  size: [128, 128],
  body: [
    "// 896 priors: offsets in pixels with six keypoints, and logits. The first prior is centred at (4, 4).",
    "const boxes = new Float32Array(896 * 16);",
    "const scores = new Float32Array(896).fill(-20);",
    "boxes.set([28, 12, 20, 24]);",
    "scores[0] = 2.2; // sigmoid: 0.90",
  ],
  outputs: two(
    "regressors: { data: boxes, dims: [1, 896, 16] }",
    "classificators: { data: scores, dims: [1, 896, 1] }",
  ),
  prints: "face 0.90 22 4 42 28",
});

const ultraface = exampleOf({
  options: 'labels: ["face"], inputSize: [320, 240], boxFormat: "xyxy"',
  size: [320, 240],
  body: [
    "// 4,420 boxes that the network decoded, corners in 0..1, and scores of background and face.",
    "const boxes = new Float32Array(4420 * 4);",
    "const scores = new Float32Array(4420 * 2);",
    "boxes.set([0.25, 0.25, 0.5, 0.75]);",
    "scores.set([0.28, 0.72]);",
  ],
  outputs: two("boxes: { data: boxes, dims: [1, 4420, 4] }", "scores: { data: scores, dims: [1, 4420, 2] }"),
  prints: "face 0.72 80 60 160 180",
});

const boxes = exampleOf({
  options: `${LABELS}, ${INPUT}, boxFormat: "xyxy", roles: { boxes: "a", scores: "b", classIds: "c" }`,
  size: [64, 64],
  body: [
    "// Corners in pixels of the input, scores, class ids.",
    "const a = { data: Float32Array.of(22, 4, 42, 28), dims: [1, 1, 4] };",
    "const b = { data: Float32Array.of(0.72), dims: [1, 1] };",
    "const c = { data: Float32Array.of(1), dims: [1, 1] };",
  ],
  outputs: "{ a, b, c }",
  prints: "cat 0.72 22 4 42 28",
});

const fomo = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// Background, person and cat of 8 x 8 cells. Two cells side by side see a cat.",
    "const data = new Float32Array(8 * 8 * 3);",
    "for (let i = 0; i < data.length; i += 3) data[i] = 1;",
    "data.set([0.28, 0, 0.72, 0.4, 0, 0.6], (2 * 8 + 3) * 3);",
  ],
  outputs: one("[1, 8, 8, 3]"),
  prints: "cat 0.72 24 16 40 24",
});

const centernet = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// 16 x 16 cells of four pixels: logits of two classes, sizes and offsets in cells. Cell (8, 4) is the centre of a cat.",
    "const [hm, wh, reg] = [new Float32Array(512).fill(-9), new Float32Array(512), new Float32Array(512)];",
    "const cell = 4 * 16 + 8;",
    "hm[256 + cell] = 0.944; // sigmoid: 0.72",
    "wh.set([5], cell);",
    "wh.set([6], 256 + cell);",
    "reg[cell] = 0.5; // centre 8.5 x 4, 34 x 16 pixels",
  ],
  outputs: two(
    "hm: { data: hm, dims: [1, 2, 16, 16] }",
    "wh: { data: wh, dims: [1, 2, 16, 16] }",
    "reg: { data: reg, dims: [1, 2, 16, 16] }",
  ),
  prints: "cat 0.72 24 4 44 28",
});

const faceDetLite = exampleOf({
  options: `labels: ["face"], ${INPUT}`,
  size: [64, 64],
  body: [
    "// 8 x 8 cells of eight pixels: a logit, distances to the four sides and five points, in cells. Cell (4, 2) is a face.",
    "const map = (channels, value) => ({",
    "  data: new Float32Array(channels * 64).fill(value),",
    "  dims: [1, channels, 8, 8],",
    "});",
    "const [heatmap, bbox, landmark] = [map(1, -9), map(4, 1), map(10, 0)];",
    "heatmap.data[2 * 8 + 4] = 0.944; // sigmoid: 0.72",
    "bbox.data.fill(1.5, 64, 128); // the upper side is 1.5 cells away",
  ],
  outputs: "{ heatmap, bbox, landmark }",
  prints: "face 0.72 24 4 40 24",
});

const maskRcnn = exampleOf({
  options: `labels: ["background", "person", "cat"], ${INPUT}`,
  size: [64, 64],
  body: [
    "// Corners in pixels, class ids, scores, and a mask of 28 x 28 for each box. `mask(0)` of the detections pastes it.",
    "const boxes = { data: Float32Array.of(22, 4, 42, 28), dims: [1, 4] };",
    "const labels = { data: BigInt64Array.of(2n), dims: [1] };",
    "const scores = { data: Float32Array.of(0.72), dims: [1] };",
    "const masks = { data: new Float32Array(28 * 28).fill(0.9), dims: [1, 1, 28, 28] };",
  ],
  outputs: "{ boxes, labels, scores, masks }",
  prints: "cat 0.72 22 4 42 28",
});

const rtmdetIns = exampleOf({
  options: `${LABELS}, ${INPUT}`,
  size: [64, 64],
  body: [
    "// Corners in pixels and a score, a class id, and a mask of the input's size for each row.",
    "const dets = { data: Float32Array.of(22, 4, 42, 28, 0.72), dims: [1, 1, 5] };",
    "const labels = { data: BigInt64Array.of(1n), dims: [1, 1] };",
    "const masks = { data: new Float32Array(64 * 64), dims: [1, 1, 64, 64] };",
  ],
  outputs: "{ dets, labels, masks }",
  prints: "cat 0.72 22 4 42 28",
});

const classifier = exampleOf({
  options: 'labels: ["person", "cat"], scores: "softmax-logits", maxDetections: 1',
  size: [64, 64],
  body: [
    "// A logit for each class.",
    "const data = Float32Array.of(2, 3.45); // e^1.45 / (1 + e^1.45) = 0.81",
  ],
  outputs: one("[1, 2]"),
  prints: "cat 0.81 0 0 64 64",
});

const dbnet = exampleOf({
  options: 'labels: ["text"]',
  size: [64, 64],
  body: [
    "// A line of text, 41 x 9 pixels. The box grows by 40 x 8 x 1.5 / 96 = 5 pixels on each side.",
    "const data = new Float32Array(64 * 64);",
    "for (let y = 24; y <= 32; y++) data.fill(0.72, y * 64 + 12, y * 64 + 53);",
  ],
  outputs: one("[1, 1, 64, 64]"),
  prints: "text 0.72 7 19 57 37",
});

const finished = (row: readonly number[], more = "", dims = "[1, ROW]") =>
  exampleOf({
    options: `${LABELS}, ${INPUT}`,
    size: [64, 64],
    body: [`const rows = Float32Array.of(${row.join(", ")});`],
    outputs: `{ rows: { data: rows, dims: ${dims.replace("ROW", String(row.length))} }${more} }`,
    prints: "cat 0.72 22 4 42 28",
  });

const counted = (format: string, count: string, box: readonly number[]) =>
  exampleOf({
    options: `${LABELS}, ${INPUT}`,
    size: [64, 64],
    body: [
      "// Two places, of which the count says that one is taken.",
      `const boxes = { data: Float32Array.of(${box.join(", ")}, 9, 9, 9, 9), dims: [1, 2, 4] }; // ${format}`,
      "const scores = { data: Float32Array.of(0.72, 0.9), dims: [1, 2] };",
      "const classes = { data: Int32Array.of(1, 7), dims: [1, 2] };",
      "const count = { data: Int32Array.of(1), dims: [1, 1] };",
    ],
    outputs: `{ ${count}: count, boxes, scores, classes }`,
    prints: "cat 0.72 22 4 42 28",
  });

const hailo = exampleOf({
  options: LABELS,
  size: [64, 64],
  body: [
    "// No person, then one cat: y_min, x_min, y_max, x_max, score. Room for two boxes of each class.",
    "const data = new Float32Array(2 * (1 + 5 * 2));",
    "data.set([0, 1, 0.0625, 0.34375, 0.4375, 0.65625, 0.72]);",
  ],
  outputs: one("[1, 22]"),
  prints: "cat 0.72 22 4 42 28",
});

const BY_FAMILY: { readonly [F in Exclude<Family, PoseFamily>]: (family: Family) => string } = {
  yolov2: softmaxed,
  yolov3: exponential(""),
  yolov4: exponential(", scaleXY: [1.05]"),
  yolov5: squared,
  yolov7: squared,
  yolov6r1: points("0.80", "Score: 0.8 of the class."),
  yolox: points("0.72", "Score: 0.9 x 0.8."),
  yolov6: classRows,
  yolov8: classRows,
  yolov9: classRows,
  yolov10: endToEnd,
  yolo11: classRows,
  yolo12: classRows,
  yolov13: classRows,
  yolo26: endToEnd,
  nanodet,
  picodet,
  ppyoloe: cornersAndScores,
  rtmdet,
  "damo-yolo": cornersAndScores,
  "yolo-nas": cornersAndScores,
  fastestdet,
  rfdetr,
  rtdetr,
  dfine: rtdetr,
  deim: rtdetr,
  deimv2: rtdetr,
  detr,
  ssd,
  efficientdet,
  "ssd-detection-output": detectionOutput,
  "tflite-postprocess": postprocess,
  blazeface,
  ultraface,
  mmdeploy: finished(
    [22, 4, 42, 28, 0.72],
    ", labels: { data: BigInt64Array.of(1n), dims: [1, 1] }",
    "[1, 1, ROW]",
  ),
  "paddle-nms": finished([1, 0.72, 22, 4, 42, 28], ", count: { data: Int32Array.of(1), dims: [1] }"),
  "efficient-nms": counted("x_min, y_min, x_max, y_max", "num_dets", [22, 4, 42, 28]),
  "hailo-nms": hailo,
  imx500: counted("y_min, x_min, y_max, x_max", "n_valid", [4, 22, 28, 42]),
  boxes,
  fomo,
  centernet,
  "face-det-lite": faceDetLite,
  "mask-rcnn": maskRcnn,
  "rtmdet-ins": rtmdetIns,
  classifier,
  dbnet,
};

/** The code of each family's example. */
export const EXAMPLES = Object.fromEntries(
  Object.entries(BY_FAMILY).map(([family, make]) => [family, make(family as Family)]),
) as { readonly [F in Exclude<Family, PoseFamily>]: string };
