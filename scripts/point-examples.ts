/**
 * The example on the page of each family of points: one object in otherwise empty tensors. Its points are computed by
 * hand from the published formula. The last line of an example is its output.
 */
import type { PoseFamily } from "../src/core/family.ts";
import { aroundFields } from "./family-examples.ts";

interface PointExample {
  /** Options besides `family`, as source text. */
  readonly options: string;
  /** Width and height of the picture in pixels. */
  readonly size: readonly [number, number];
  /** Lines of source text that make the tensors. */
  readonly body: readonly string[];
  /** Source text of the argument of `decode`. */
  readonly outputs: string;
  /** Indices of the points that the example prints. */
  readonly points: readonly [number, number];
  readonly prints: string;
}

function codeOf(family: PoseFamily, example: PointExample): string {
  const { options, size, body, outputs, points, prints } = example;
  const fields = [`family: "${family}"`, options].filter((text) => text !== "").join(", ");
  return [
    'import { createDecoder, toPixels } from "boxwright";',
    "",
    aroundFields("const decoder = await createDecoder(", fields, ");"),
    "",
    ...body,
    "",
    `for (const found of decoder.decode(${outputs})) {`,
    `  const { keypoints } = toPixels(found, ${size.join(", ")});`,
    `  const places = [keypoints[${points[0]}], keypoints[${points[1]}]].map(({ x, y }) => ` +
      `\`\${Math.round(x)},\${Math.round(y)}\`);`,
    '  console.log(found.label, found.confidence.toFixed(2), places.join(" "));',
    "}",
    `// ${prints}`,
  ].join("\n");
}

const tensor =
  "const tensor = (...dims) => ({ data: new Float32Array(dims.reduce((n, d) => n * d)), dims });";
const FACE = 'labels: ["face"], inputSize: [64, 64]';
const CROP = 'labels: ["person"], inputSize: [192, 256]';

const mediapipe = (label: string, size: number, rows: number, values: number): PointExample => ({
  options: `labels: ["${label}"], inputSize: [${size}, ${size}]`,
  size: [size, size],
  body: [
    tensor,
    `// ${rows} anchors: offsets of box and points in pixels, and logits. The first anchor is centred at (4, 4).`,
    `const [boxes, scores] = [tensor(1, ${rows}, ${values}), tensor(1, ${rows}, 1)];`,
    "scores.data.fill(-20);",
    "boxes.data.set([28, 12, 20, 24, 28, 20, 20, 4]); // centre, size, first and second point",
    "scores.data[0] = 2.2; // sigmoid: 0.90",
  ],
  outputs: "{ regressors: boxes, classificators: scores }",
  points: [0, 1],
  prints: `${label} 0.90 32,24 24,8`,
});

const heatMap = (what: readonly string[], prints: string): PointExample => ({
  options: CROP,
  size: [192, 256],
  body: [
    tensor,
    "// A map of 64 rows and 48 columns for each of two points. The picture is the crop of one person.",
    "const maps = tensor(1, 2, 64, 48);",
    ...what,
  ],
  outputs: "{ heatmaps: maps }",
  points: [0, 1],
  prints,
});

const EXAMPLES: { readonly [F in PoseFamily]: PointExample } = {
  "yolov5-face": {
    options: FACE,
    size: [64, 64],
    body: [
      tensor,
      "// Rows of three anchors in 84 cells: box, objectness, five points, class score. One row sees a face.",
      "const rows = tensor(1, 252, 16);",
      "rows.data.set([32, 16, 20, 24, 0.9, 26, 12, 38, 12, 32, 17, 27, 22, 37, 22, 0.8], 10 * 16);",
    ],
    outputs: "{ output0: rows }",
    points: [0, 1],
    prints: "face 0.72 26,12 38,12",
  },
  retinaface: {
    options: FACE,
    size: [64, 64],
    body: [
      tensor,
      "// Two priors in each of 84 cells: offsets of boxes and points, and scores of background and face.",
      "const [boxes, scores, points] = [tensor(1, 168, 4), tensor(1, 168, 2), tensor(1, 168, 10)];",
      "// Row 56 is the prior of 16 pixels around (36, 28). A point is offset x 0.1 x 16 away.",
      "scores.data.set([0.28, 0.72], 56 * 2);",
      "points.data.set([-2.5, -2.5, 2.5, -2.5], 56 * 10);",
    ],
    outputs: "{ boxes, scores, points }",
    points: [0, 1],
    prints: "face 0.72 32,24 40,24",
  },
  scrfd: {
    options: FACE,
    size: [64, 64],
    body: [
      tensor,
      "// Two rows for each cell of 8x8, 4x4 and 2x2: scores, distances and points in strides.",
      "const of = (values) => [128, 32, 8].map((rows) => tensor(1, rows, values));",
      "const [scores, boxes, points] = [of(1), of(4), of(10)];",
      "// Row 56 at stride 8 is column 4, row 3: the point (32, 24).",
      "scores[0].data[56] = 0.72;",
      "boxes[0].data.set([1, 1, 1, 1], 56 * 4);",
      "points[0].data.set([-0.5, -0.5, 0.5, -0.5], 56 * 10);",
    ],
    outputs: "[...scores, ...boxes, ...points]",
    points: [0, 1],
    prints: "face 0.72 28,20 36,20",
  },
  yunet: {
    options: FACE,
    size: [64, 64],
    body: [
      tensor,
      "// Class score, objectness, box and points of each cell of 8x8, 4x4 and 2x2.",
      "const of = (name, values) => [8, 16, 32].map((s) => [`${name}_${s}`, tensor(1, (64 / s) ** 2, values)]);",
      'const parts = [...of("cls", 1), ...of("obj", 1), ...of("bbox", 4), ...of("kps", 10)];',
      "const outputs = Object.fromEntries(parts);",
      "// Cell 28 at stride 8 is column 4, row 3: its corner is (32, 24). The score is the root of 0.9 x 0.576.",
      "outputs.cls_8.data[28] = 0.9;",
      "outputs.obj_8.data[28] = 0.576;",
      "outputs.kps_8.data.set([-0.5, -0.5, 0.5, -0.5], 28 * 10);",
    ],
    outputs: "outputs",
    points: [0, 1],
    prints: "face 0.72 28,20 36,20",
  },
  "mediapipe-palm": mediapipe("palm", 192, 2016, 18),
  "mediapipe-person": mediapipe("person", 224, 2254, 12),
  movenet: {
    options: 'labels: ["person"], inputSize: [192, 192]',
    size: [192, 192],
    body: [
      tensor,
      "// 17 points: y, x in 0..1 and a confidence. The score is the mean of the confidences.",
      "const points = tensor(1, 1, 17, 3);",
      "for (let k = 0; k < 17; k++) points.data.set([0.25, 0.5, 0.72], k * 3);",
      "points.data.set([0.125, 0.5], 0);",
    ],
    outputs: "{ output_0: points }",
    points: [0, 1],
    prints: "person 0.72 96,24 96,48",
  },
  "movenet-multipose": {
    options: 'labels: ["person"], inputSize: [256, 256]',
    size: [256, 256],
    body: [
      tensor,
      "// Six people: 17 points of y, x and confidence, then y_min, x_min, y_max, x_max and a score. One is there.",
      "const people = tensor(1, 6, 56);",
      "for (let k = 0; k < 17; k++) people.data.set([0.25, 0.5, 0.9], k * 3);",
      "people.data.set([0.125, 0.5], 0);",
      "people.data.set([0.1, 0.4, 0.3, 0.6, 0.72], 51);",
    ],
    outputs: "{ output_0: people }",
    points: [0, 1],
    prints: "person 0.72 128,32 128,64",
  },
  rtmo: {
    options: 'labels: ["person"], inputSize: [640, 640]',
    size: [640, 640],
    body: [
      tensor,
      "// Corners and a score, and 17 points of x, y and probability, in pixels of the input.",
      "const [dets, keypoints] = [tensor(1, 1, 5), tensor(1, 1, 17, 3)];",
      "dets.data.set([100, 50, 300, 450, 0.72]);",
      "keypoints.data.set([200, 80, 0.9, 210, 70, 0.8]);",
    ],
    outputs: "{ dets, keypoints }",
    points: [0, 1],
    prints: "person 0.72 200,80 210,70",
  },
  rtmpose: {
    options: CROP,
    size: [192, 256],
    body: [
      tensor,
      "// Scores over x and y in half pixels, for each of two points. The picture is the crop of one person.",
      "const [x, y] = [tensor(1, 2, 384), tensor(1, 2, 512)];",
      "x.data[0 * 384 + 192] = 0.72; // 96",
      "y.data[0 * 512 + 128] = 0.8; // 64; the smaller score counts",
      "x.data[1 * 384 + 100] = 0.72;",
      "y.data[1 * 512 + 40] = 0.72;",
    ],
    outputs: "{ simcc_x: x, simcc_y: y }",
    points: [0, 1],
    prints: "person 0.72 96,64 50,20",
  },
  hrnet: heatMap(
    [
      "maps.data.set([0.72, 0.5], 16 * 48 + 24); // a quarter of a cell to the right: 24.25 x 4",
      "maps.data[64 * 48 + 8 * 48 + 12] = 0.72;",
    ],
    "person 0.72 97,64 48,32",
  ),
  vitpose: heatMap(
    [
      "maps.data[16 * 48 + 24] = 0.72; // 24 / 47 x 192, 16 / 63 x 256",
      "maps.data[64 * 48 + 8 * 48 + 12] = 0.72;",
    ],
    "person 0.72 98,65 49,33",
  ),
  superanimal: {
    options: 'labels: ["animal"], inputSize: [256, 256]',
    size: [256, 256],
    body: [
      tensor,
      "// A map of 64 x 64 cells for each of two points, channels last. A point is the middle of its cell.",
      "const maps = tensor(1, 64, 64, 2);",
      "maps.data[(8 * 64 + 16) * 2] = 0.72; // (16 + 0.5) x 4",
      "maps.data[(20 * 64 + 30) * 2 + 1] = 0.72;",
    ],
    outputs: "{ heatmaps: maps }",
    points: [0, 1],
    prints: "animal 0.72 66,34 122,82",
  },
  keypoints: {
    options: 'labels: ["object"], keypoints: [2, 2], keypointScale: 64, inputSize: [64, 64]',
    size: [64, 64],
    body: ["// x and y of each point in pixels of the input.", "const data = Float32Array.of(16, 8, 48, 8);"],
    outputs: "{ output0: { data, dims: [1, 4] } }",
    points: [0, 1],
    prints: "object 1.00 16,8 48,8",
  },
  "face-mesh": {
    options: 'labels: ["face"], inputSize: [192, 192]',
    size: [192, 192],
    body: [
      tensor,
      "// x, y and z of 468 points in pixels of the crop, and the logit of a face being there.",
      "const [points, flag] = [tensor(1, 1404), tensor(1, 1)];",
      "points.data.set([96, 120, 0, 96, 100, -9]);",
      "flag.data[0] = 2.2; // sigmoid: 0.90",
    ],
    outputs: "{ points, flag }",
    points: [0, 1],
    prints: "face 0.90 96,120 96,100",
  },
  "hand-landmarks": {
    options: "inputSize: [224, 224]",
    size: [224, 224],
    body: [
      tensor,
      "// x, y and z of 21 points in pixels of the crop, presence, which hand (above 0.5: the right one), and metres.",
      "const outputs = [tensor(1, 63), tensor(1, 1), tensor(1, 1), tensor(1, 63)];",
      "outputs[0].data.set([112, 200, 0, 140, 180, 0]);",
      "outputs[1].data[0] = 0.9;",
      "outputs[2].data[0] = 0.8;",
    ],
    outputs: "outputs",
    points: [0, 1],
    prints: "right 0.90 112,200 140,180",
  },
  "pose-landmarks": {
    options: 'labels: ["person"], inputSize: [256, 256]',
    size: [256, 256],
    body: [
      tensor,
      "// 39 rows of x, y, z in pixels of the crop, visibility and presence (raw); presence of a body; heat; metres.",
      "const outputs = [tensor(1, 195), tensor(1, 1), tensor(1, 64, 64, 39), tensor(1, 117)];",
      "outputs[0].data.set([128, 40, 0, 5, 5, 132, 36, 0, 5, 5]);",
      "outputs[1].data[0] = 0.9;",
      "outputs[2].data.fill(-20); // no cell is sure enough to move a point",
    ],
    outputs: "outputs",
    points: [0, 1],
    prints: "person 0.90 128,40 132,36",
  },
};

/** The code of each family's example. */
export const POINT_EXAMPLES = Object.fromEntries(
  Object.entries(EXAMPLES).map(([family, example]) => [family, codeOf(family as PoseFamily, example)]),
) as { readonly [F in PoseFamily]: string };
