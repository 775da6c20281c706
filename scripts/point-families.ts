/** Pages of docs/families for families with keypoints only. */
import { POINT_FACTS } from "../src/core/pose-families.ts";
import { FAMILIES, TRAITS, titleOf } from "../src/core/families.ts";
import type { PoseFamily } from "../src/core/family.ts";
import { preparation } from "./family-preparation.ts";
import { sourceLines } from "./family-sources.ts";
import { POINT_EXAMPLES } from "./point-examples.ts";

interface PointPage {
  readonly networks: string;
  /** Description of how points are made. */
  readonly rule: string;
  /** The family's exports: shapes of the tensors and their contents. */
  readonly forms: readonly (readonly [shapes: string, what: string])[];
  /** Notes for the family's users. */
  readonly notes?: readonly string[];
}

const MEDIAPIPE_SUPPRESSION =
  'MediaPipe averages overlapping candidates: decode with `rules: { suppress: "none" }`, then call ' +
  '`suppressDetections(found, { method: "weighted", iouThreshold: 0.3 })`.';

const heatMaps = (networks: string, rule: string, more: readonly string[] = []): PointPage => ({
  networks,
  rule,
  forms: [["`[1, K, h, w]` or `[1, h, w, K]`", "a heat map for each point, a quarter of the input"]],
  notes: [
    "`keypointRefinement` takes another published rule: `none`, `centre`, `quarter`, `dark-udp`.",
    ...more,
  ],
});

const PAGES: { readonly [F in PoseFamily]: PointPage } = {
  "yolov5-face": {
    networks: "YOLOv5-face",
    rule: "Rows are decoded. In raw maps a point is raw x anchor + column x stride.",
    forms: [
      ["`[1, N, 16]`", "box, objectness, five points, class score"],
      ["`[1, A x 16, h, w]` or `[1, A, h, w, 16]`", "the same, raw, with `anchors`"],
    ],
    notes: ["YOLOv8-face is [yolov8](yolov8.md) with `keypoints: [5, 3]`, YOLOv7-face [yolov7](yolov7.md)."],
  },
  retinaface: {
    networks: "RetinaFace",
    rule: "Box and points are offsets from a prior box. Priors are built in.",
    forms: [
      [
        "`[1, N, 4]` + `[1, N, 2]` + `[1, N, 10]`",
        "offsets, scores of background and face, offsets of points",
      ],
    ],
  },
  scrfd: {
    networks: "SCRFD of InsightFace, with points",
    rule: "Distances and points are measured from the cell's left upper corner, in strides.",
    forms: [
      ["`[1, N, 1]` + `[1, N, 4]` + `[1, N, 10]`", "for each of three strides: two rows for each cell"],
    ],
    notes: ["The parser SCRFDParser of an NN Archive means this family."],
  },
  yunet: {
    networks: "YuNet of OpenCV Zoo, of 2022 and of 2023 and later",
    rule: "Points are measured from the cell's left upper corner. The score is the root of class x objectness.",
    forms: [
      [
        "`[1, N, 1]` + `[1, N, 1]` + `[1, N, 4]` + `[1, N, 10]`",
        "for each of three strides: class, objectness, box, points",
      ],
      [
        "`[P, 14]` + `[P, 2]` + `[P, 1]`",
        "of 2022: offsets from priors, scores, and the IoU that the network expects",
      ],
    ],
    notes: [
      "The parser YuNetParser of an NN Archive means this family.",
      "A plan file of it is refused: TypeScript computes its scores.",
    ],
  },
  "mediapipe-palm": {
    networks: "the palm detection of MediaPipe, with inputs of 128, 192 and 256 pixels",
    rule: "Box and points are offsets from an anchor in pixels. Anchors are built in.",
    forms: [["`[1, N, 18]` + `[1, N, 1]`", "box and seven points, and logits"]],
    notes: [MEDIAPIPE_SUPPRESSION, "[hand-landmarks](hand-landmarks.md) takes its crops."],
  },
  movenet: {
    networks: "MoveNet Lightning and Thunder",
    rule: "The network makes the points. The score is the mean of their confidences, and the box goes around them.",
    forms: [["`[1, 1, 17, 3]`", "y, x and confidence of each point, 0..1"]],
    notes: ["One person. A plan file of it is refused: TypeScript computes its score."],
  },
  "movenet-multipose": {
    networks: "MoveNet MultiPose",
    rule: "The network makes points and boxes.",
    forms: [
      ["`[1, 6, 56]`", "17 points of y, x and confidence, then y_min, x_min, y_max, x_max and a score"],
    ],
  },
  rtmo: {
    networks: "RTMO of OpenMMLab, as mmdeploy exports it",
    rule: "The network makes points and boxes, and has suppressed them.",
    forms: [
      ["`[1, N, 5]` + `[1, N, 17, 3]`", "corners and score, and x, y, probability, in pixels of the input"],
    ],
  },
  "mediapipe-person": {
    networks: "the pose detection of MediaPipe, with an input of 224 pixels",
    rule: "Box and points are offsets from an anchor in pixels. Anchors are built in. The box is that of the face.",
    forms: [["`[1, 2254, 12]` + `[1, 2254, 1]`", "box and four points, and logits"]],
    notes: [MEDIAPIPE_SUPPRESSION, "[pose-landmarks](pose-landmarks.md) takes its crops."],
  },
  rtmpose: {
    networks: "RTMPose, RTMW, DWPose and others with SimCC",
    rule: "A point is the place of the largest score over x and over y. Its confidence is the smaller of both, and may pass 1.",
    forms: [["`[1, K, 2W]` + `[1, K, 2H]`", "scores over x and over y, two for each pixel of the input"]],
    notes: [
      "A point without a score above 0 is placed outside of the crop, as mmpose does. Look at the confidence.",
    ],
  },
  hrnet: heatMaps(
    "HRNet and SimpleBaseline",
    "A point is the largest cell, a quarter of a cell towards the larger neighbour.",
    ['The parser HRNetParser of an NN Archive means this family with `keypointRefinement: "none"`.'],
  ),
  vitpose: heatMaps(
    "ViTPose (UDP)",
    "A point is the largest cell, moved by one Newton step on the logarithm of the blurred map.",
  ),
  superanimal: heatMaps("SuperAnimal of DeepLabCut", "A point is the middle of the largest cell.", [
    "The parser SuperAnimalParser of an NN Archive means this family.",
  ]),
  keypoints: {
    networks: "networks that give the points of one object as numbers",
    rule: "A point is its numbers divided by `keypointScale`, clipped to 0..1.",
    forms: [["`[1, K x 2]`, `[1, K, 2]` or the same with 3", "x and y of each point, or x, y and z"]],
    notes: [
      "`keypoints: [count, 2 | 3]` is needed. The parser KeypointParser of an NN Archive means this family.",
    ],
  },
  "face-mesh": {
    networks: "the face mesh of MediaPipe, with 468 or 478 points",
    rule: "The network makes the points, in pixels of the crop.",
    forms: [
      ["`[1, 1404]` or `[1, 1434]` + `[1, 1]`", "x, y, z of each point, and the logit of a face being there"],
    ],
    notes: ["A face detector makes the crop: [blazeface](blazeface.md), or any other."],
  },
  "hand-landmarks": {
    networks: "the hand landmarks of MediaPipe, lite and full",
    rule: "The network makes the points, in pixels of the crop.",
    forms: [
      [
        "`[1, 63]` + `[1, 1]` + `[1, 1]` + `[1, 63]`",
        "21 points, presence, which hand, and the points in metres",
      ],
    ],
    notes: [
      'Classes are "left" and "right" of the picture as it is. MediaPipe takes every picture for a ' +
        'mirrored one: `labels: ["right", "left"]` gives its names.',
      "[mediapipe-palm](mediapipe-palm.md) makes the crop.",
    ],
  },
  "pose-landmarks": {
    networks: "the pose landmarks of MediaPipe (BlazePose), lite, full and heavy",
    rule: "The network makes the points, and a heat map moves each.",
    forms: [
      [
        "`[1, 195]` + `[1, 1]` + `[1, 64, 64, 39]` + `[1, 117]`",
        "39 rows of x, y, z, visibility and presence; presence of a body; heat maps; metres",
      ],
    ],
    notes: [
      "33 of the rows are points. The mask `[1, 256, 256, 1]` of some exports is left alone.",
      "[mediapipe-person](mediapipe-person.md) makes the crop.",
    ],
  },
};

/** Families of points, in table order. */
export const POINT_FAMILIES = FAMILIES.filter((family): family is PoseFamily => family in PAGES);

/** Returns the row of a family in the list of families. */
export const pointRow = (family: PoseFamily): string =>
  `| [\`${family}\`](${family}.md) | ${PAGES[family].networks} | ${PAGES[family].rule} |`;

/** Returns the page of a family of points. */
export function pointPageOf(family: PoseFamily): string {
  const { networks, rule, forms, notes = [] } = PAGES[family];
  const { keypoints, network } = POINT_FACTS[family] ?? {};
  const isCrop = network !== undefined;
  const lines = [
    `# ${titleOf(family)}`,
    "",
    `\`family: "${family}"\` is for ${networks}. ${rule}`,
    isCrop
      ? "The network gets the crop of one object: [crops.md](../crops.md) has the crop and the way back."
      : "[keypoints.md](../keypoints.md) has what comes back.",
    "",
    "## What its exports look like",
    "",
    "| output tensors | what they hold |",
    "|---|---|",
    ...forms.map(([shapes, what]) => `| ${shapes} | ${what} |`),
    "",
    ...(forms.some(([shapes]) => shapes.includes("K"))
      ? ["K is the count of points. Transposed tensors are read too: shapes tell them apart."]
      : ["Transposed tensors are read too: shapes tell them apart."]),
    ...sourceLines(family),
    "",
    "## What preparation it wants",
    "",
    preparation(TRAITS[family].prepare ?? {}),
    isCrop
      ? "`decoder.prepare(image, { crop })` does this for a crop of `cropOf`."
      : "`decoder.prepare(image)` does this, and a model file's own statement overrides it: [prepare.md](../prepare.md).",
    "",
    "## Options",
    "",
    "- `labels` name the class: there is one, unless the table above has more." +
      (TRAITS[family].className ? ` Without them it is "${TRAITS[family].className}".` : ""),
    "- `inputSize`: `[width, height]` of the network's input.",
    ...(keypoints ? [`- The points are known: ${keypoints[0]} of them, with names.`] : []),
    ...notes.map((note) => `- ${note}`),
    "",
    "[api.md](../api.md) has every option.",
    "",
    "## Example",
    "",
    "```js",
    POINT_EXAMPLES[family],
    "```",
  ];
  return `${lines.join("\n")}\n`;
}
