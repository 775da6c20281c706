/**
 * Writes docs/families: one page for each family, made from its row in src/core/families/. `npm run families` writes
 * the pages; `-- --check` compares. The compiler reports a family without an entry in this file.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { FAMILIES, TRAITS, titleOf } from "../src/core/families.ts";
import type { ExportName, Family, FamilyTraits, HeadRule, PoseFamily } from "../src/core/family.ts";
import { columnsText, rowOrder } from "../src/core/row-orders.ts";
import { EXAMPLES } from "./family-examples.ts";
import { preparation } from "./family-preparation.ts";
import { sourceLines } from "./family-sources.ts";
import { POINT_FAMILIES, pointPageOf, pointRow } from "./point-families.ts";

/** A family whose page this file makes. point-families.ts makes the pages of families with keypoints alone. */
type BoxFamily = Exclude<Family, PoseFamily>;

const KIN_BOXES =
  "With its post-processor the network gives boxes in units of its second input, " +
  "`orig_target_sizes` (width, height). `createDecoder` takes them for pixels of the photo, which " +
  'the frame describes: `coordinates: "pixels"` if it was the size of the input. `createDetector` ' +
  "feeds the size of the input.";

/** The networks of a family, and notes for its users. */
const NETWORKS: { readonly [F in BoxFamily]: readonly [networks: string, ...notes: string[]] } = {
  yolov2: ["YOLOv2 and tiny-YOLOv2"],
  yolov3: ["YOLOv3, YOLOv3-tiny and Yolo-Fastest"],
  yolov4: ["YOLOv4 and YOLOv4-tiny", "`scaleXY`: `scale_x_y` of each map, from the network's .cfg file."],
  yolov5: [
    "YOLOv5 and YOLO-P",
    "Ultralytics exports YOLOv5 as YOLOv5u today. That is the family [yolov8](yolov8.md).",
  ],
  yolov7: ["YOLOv7"],
  yolov6r1: ["the first release of YOLOv6", 'In config files, "yolov6" means this release.'],
  yolox: ["YOLOX", '`boxFormat: "cxcywh"` if the network decodes its boxes (`decode_in_inference`).'],
  yolov6: ["YOLOv6, releases 2, 3 and 4, and Gold-YOLO"],
  yolov8: ["YOLOv8, and YOLOv5u and YOLOv3u as Ultralytics exports them"],
  yolov9: ["YOLOv9"],
  yolov10: ["YOLOv10"],
  yolo11: ["YOLO11"],
  yolo12: ["YOLO12"],
  yolov13: ["YOLOv13"],
  yolo26: ["YOLO26"],
  nanodet: [
    "NanoDet and NanoDet-Plus",
    "NanoDet-Plus is known by its four maps, at strides 8, 16, 32 and 64.",
  ],
  picodet: [
    "PicoDet of PaddleDetection",
    "Raw: eight tensors, four of scores and four of distributions, at strides 8, 16, 32 and 64.",
    'Its demos of 2021 feed BGR: `prepare: { order: "BGR", mean: [103.53, 116.28, 123.675], std: [57.375, 57.12, 58.395] }`.',
  ],
  ppyoloe: [
    "PP-YOLOE and PP-YOLOE+ of PaddleDetection",
    "PP-YOLOE+ wants `prepare: { mean: 0, std: 255 }`.",
    "Exported with `exclude_nms`, boxes are divided by the input `scale_factor`. A factor of 1, 1, " +
      "which `createDetector` feeds, makes them pixels of the network's input.",
    "A sum of the scores beside them, as in rknn's exports, is left alone.",
  ],
  rtmdet: [
    "RTMDet of OpenMMLab",
    "The maps of mmdetection and mmdeploy hold pixels, those of mmyolo (`--model-only`) strides. The " +
      'values of the first frame tell; `coordinates: "pixels"` or `"strides"` says so beforehand.',
    "Distances begin at the left upper corner of a cell.",
  ],
  "damo-yolo": [
    "DAMO-YOLO",
    "With four classes nothing tells boxes from scores: say `roles: { boxes, scores }`.",
    "Trained on RGB. The video part of its demo feeds BGR, which gives lower scores.",
  ],
  "yolo-nas": [
    "YOLO-NAS of super-gradients, exported with suppression (flat or by batch) or without",
    "super-gradients brings the long side to 636 pixels and centres that in 640, which is a `margin` " +
      "of 4. Decode with the frame of `prepare`, which says so.",
    'The usual export takes bytes and divides them itself: pass `prepare: { type: "u8", std: 1 }`.',
  ],
  fastestdet: ["FastestDet"],
  rfdetr: [
    "RF-DETR and LW-DETR",
    "One query may give several detections: the best pairs of query and class count, as many as there " +
      "are queries. `rules: { multiLabel: false }` takes the best class of each query.",
    "C + 1 columns: the last one was never trained, and is left out. `background: 0` leaves out the first instead.",
    "Weights of COCO have 91 columns, and class ids are COCO's own, 1 to 90. Pass `labels: COCO80` or `COCO91` of `boxwright`.",
    "An NN Archive with `RFDETRParser` has boxes and logits in this order, a class for each column, " +
      "and the best class of each query.",
    "Task `segment` reads `masks [N,Q,h,w]`, a map of logits for each query. `mask()` resizes it " +
      "straight to the photo, and the box does not cut it. A named `rule` cuts as for prototypes: " +
      '`labelMap(found, { size: "network", rule: "proto" })` is what `RFDETRParser` gives.',
    "Task `pose` with `keypoints: [K, 3]` reads `keypoints [N,Q,S x K,8]`, the points of each of S " +
      "classes. `fused_confidence` is the score that `predict()` gives. Older files have a class " +
      "without points first: `background: 0`.",
  ],
  rtdetr: [
    "RT-DETR 1 to 4",
    "One query may give several detections: the best pairs of query and class count. Ultralytics' " +
      "export in one tensor gives the best class of each query.",
    KIN_BOXES,
    'Ultralytics resizes by OpenCV: `prepare: { resample: "bilinear" }`.',
  ],
  dfine: ["D-FINE", KIN_BOXES],
  deim: ["DEIM", KIN_BOXES],
  deimv2: [
    "DEIMv2",
    KIN_BOXES,
    'Sizes S to X (DINOv3) want `prepare: { resize: "stretch", mean: [123.675, 116.28, 103.53], std: ' +
      '[58.395, 57.12, 57.375] }`, smaller ones (HGNetv2) `{ resize: "stretch", mean: 0, std: 255 }`.',
  ],
  detr: [
    "DETR",
    'DETR has a class for "nothing" after the others. Without it the columns are read as those of [RT-DETR](rtdetr.md).',
    "RF-DETR has C + 1 columns too. DETR's are taken for DETR's if the name of the output has " +
      '"logits" in it, or with `scores: "softmax-logits"`.',
  ],
  ssd: [
    "SSD networks that leave priors and suppression to the caller",
    "TensorFlow: `scales: [10, 10, 5, 5]` with priors y, x, h, w. Caffe and PyTorch: `variances: " +
      "[0.1, 0.1, 0.2, 0.2]` with corners.",
    "`ssdMobilenetAnchors`, `ssdAnchors` and `caffePriors` make the priors of standard networks.",
    "Caffe and PyTorch prepare pictures in other ways: pass `prepare`.",
  ],
  efficientdet: [
    "EfficientDet without post-processing",
    "The priors of D0 to D6 are built in. `efficientdetPriors` makes those of D7, D7x, Lite and of " +
      "mmdetection's order of ratios: pass them as `priors`.",
    'The authors suppress with soft-NMS: `suppression: "soft-gaussian"`.',
    "The authors pad with 0 after mean and std, so `pad` is the mean. " +
      "Lite wants `prepare: { mean: 127, std: 128, pad: 127 }`.",
    "TFLite files of Lite end in TFLite_Detection_PostProcess: [tflite-postprocess](tflite-postprocess.md).",
  ],
  "ssd-detection-output": [
    "SSD networks that end in Caffe's or OpenVINO's DetectionOutput",
    "Class ids count the background, so `labels` begin with its name.",
  ],
  "tflite-postprocess": [
    "SSD networks that end in TFLite_Detection_PostProcess",
    "`roles` if the names of the outputs do not tell which is which.",
  ],
  blazeface: ["BlazeFace of MediaPipe", "Its priors are built in: 896 for 128x128."],
  ultraface: [
    "UltraFace, RFB-320 and slim-320",
    '`variances: [0.1, 0.1, 0.2, 0.2]` for raw offsets, or `boxFormat: "xyxy"` if the network decodes its boxes.',
  ],
  mmdeploy: [
    "any detector that MMDeploy exported",
    "Rows of zeros after the detections are no detections.",
    "The file does not state how its network wants the picture. The preparation above is a default: " +
      "pass that of the network as the option `prepare`.",
  ],
  "paddle-nms": [
    "PP-YOLOE, PicoDet, RT-DETR and others of PaddleDetection, with NMS inside",
    "The network divides boxes by its input `scale_factor`. `createDecoder` takes them for pixels of " +
      'the photo, which the frame describes: `coordinates: "pixels"` if it was 1, 1. `createDetector` feeds 1, 1.',
    "Rows of all images follow each other, and the second output says how many each image has: `decodeBatch`.",
  ],
  "efficient-nms": [
    "networks that end in TensorRT's EfficientNMS: YOLOv7, YOLOv8, DAMO-YOLO, mmyolo, DeepStream",
    "Rows past the count hold old memory, and are not read.",
  ],
  "hailo-nms": [
    "networks that HailoRT suppressed: by class, by score, or in TensorFlow's form",
    "`classes` says where a buffer by class ends. Class ids begin at 0; tappas adds 1.",
    "Records with masks (`NMS_WITH_BYTE_MASK`) are refused: ask HailoRT for another format of the output.",
  ],
  imx500: [
    "networks of the Sony IMX500, as picamera2 hands them over",
    'The file\'s `network_intrinsics` say the rest: `boxFormat: "xyxy"` if `bbox_order` is "xy", ' +
      '`coordinates: "normalised"` if `bbox_normalization` is false.',
  ],
  boxes: [
    "networks that give finished boxes, scores and class ids",
    "`roles` says which tensor is which.",
    '`inputSize` for boxes in pixels of the input, or `coordinates: "normalised"`.',
  ],
  fomo: [
    "FOMO of Edge Impulse, f32 and i8",
    '`cellGroups: "enclosing"` gives the box around all cells that touch. By default cells are ' +
      "grouped as the SDK of Edge Impulse does, whose boxes do not widen to the left and upwards.",
    "Only the centre of a box has a meaning. The threshold is 0.5 unless you say another, and a cell at the threshold passes.",
    "Many networks take grey pictures: `prepare` makes RGB. Take one channel of them.",
  ],
  centernet: [
    "CenterNet (Objects as Points)",
    '`roles: { scores: "hm", boxes: ["wh", "reg"] }` if the outputs have other names. Without names ' +
      "they are taken in this order.",
    "A network without `reg` has its centres in the middle of the cells. The threshold is 0.3 unless you say another.",
    "The peaks of 3 x 3 cells are kept, at most `maxDetections`. CenterNet's own code takes 100.",
  ],
  "face-det-lite": [
    "face_det_lite of Qualcomm AI Hub",
    "`keypoints` of a detection are five points, in the order of the network.",
    "Threshold and IoU are 0.2 unless you say others. Qualcomm's app takes 0.55 and suppresses nothing.",
    "The network takes a grey picture.",
  ],
  "mask-rcnn": [
    "Mask R-CNN of torchvision and detectron2",
    "`inputSize` is the size of the picture that the network got: its boxes are in pixels of that.",
    'A detection\'s `mask(i, { rule: "torchvision" })` pastes as torchvision does; `"detectron2"` is the other rule.',
    "Class 0 is the background, so `labels` begin with its name.",
    "TensorFlow's exports have other tensors: see [limits.md](../limits.md).",
  ],
  "rtmdet-ins": [
    "RTMDet-Ins as mmdeploy exports it",
    "Boxes are in pixels of the input. Masks have the size of the input, and the box does not cut them.",
  ],
  classifier: [
    "networks that give one score for each class of the whole picture",
    "A detection is a class, its box is the whole picture. `maxDetections` is the k of the top k: 5 unless you say another.",
    '`scores: "softmax-logits"` if the network gives logits. By default its scores are probabilities.',
  ],
  dbnet: [
    "DBNet and the text detection of PaddleOCR",
    "Detections have `corners`, from the upper left one clockwise, and `angle`. Corners may lie outside of the picture.",
    '`textRule: "depthai"` reads as PPTextDetectionParser of depthai-nodes does. `maskThreshold` and ' +
      "`unclipRatio` are those of PaddleOCR, 0.3 and 1.5.",
    "The threshold is 0.6 unless you say another.",
    "Sides of the input are multiples of 32. Without `inputSize` the map has the size of the input.",
  ],
};

/** Families with a page, in table order. */
export const BOX_FAMILIES = FAMILIES.filter((family): family is BoxFamily => family in NETWORKS);

/** Sentences on how boxes of a family are made, for families that the sentences in HEADS do not describe. */
const OWN_HEADS: { readonly [F in BoxFamily]?: string } = {
  fomo: "Cells that touch are one object.",
  centernet: "A peak of a map is a centre, other maps give the size.",
  "face-det-lite": "A peak of a map gives distances to the left, top, right and bottom.",
  classifier: "The box is the picture.",
  dbnet: "A box surrounds pixels that belong together.",
};

const howOf = (family: BoxFamily): string => OWN_HEADS[family] ?? HEADS[TRAITS[family].head];

/** Shapes of families that FORMS does not describe. */
const OWN_FORMS: { readonly [F in BoxFamily]?: readonly (readonly [shapes: string, what: string])[] } = {
  fomo: [["`[1, h, w, C + 1]`", "the background and the classes of each cell; channels first too"]],
  centernet: [
    [
      "`[1, C, h, w]` + `[1, 2, h, w]` + `[1, 2, h, w]`",
      "centres, sizes and offsets, a quarter of the input",
    ],
  ],
  "face-det-lite": [
    [
      "`[1, 1, h, w]` + `[1, 4, h, w]` + `[1, 10, h, w]`",
      "scores, distances, and five x then five y, an eighth of the input",
    ],
  ],
  "mask-rcnn": [
    ["`[N, 4]` + `[N]` + `[N]` + `[N, 1, 28, 28]`", "corners, class ids, scores, and a mask for each box"],
    ["`[N, 4]` + `[N]` + `[N]` + `[N, 1, H, W]`", "the same with masks that the network pasted"],
  ],
  "rtmdet-ins": [
    ["`[1, N, 5]` + `[1, N]` + `[1, N, H, W]`", "corners and score, class ids, and a mask for each row"],
  ],
  dbnet: [["`[1, 1, H, W]`", "the probability that a pixel belongs to a text"]],
};

/** Shapes of exports in which the channels of a task come after the classes. */
const CLASSES_LAST: TaskForms = {
  pose: ["`[1, 4 + C + K x D, N]`", "K points of D values after the classes"],
  segment: ["`[1, 4 + C + M, N]` + `[1, M, H/4, W/4]`", "M coefficients after the classes, and prototypes"],
  oriented: ["`[1, 4 + C + 1, N]`", "the angle after the classes"],
};

type TaskForms = {
  readonly [T in "pose" | "segment" | "oriented"]?: readonly [shapes: string, what: string];
};

/** Usual export of a family's published networks for each task besides boxes: keypoints, masks, oriented boxes. */
const TASK_FORMS: { readonly [F in BoxFamily]?: TaskForms } = {
  yolov5: {
    segment: ["`[1, N, 5 + C + M]` + `[1, M, H/4, W/4]`", "M coefficients after the classes, and prototypes"],
  },
  yolov7: { pose: ["`[1, N, 5 + C + K x D]`", "K points of D values after the classes"] },
  yolov8: CLASSES_LAST,
  yolo11: CLASSES_LAST,
  yolo12: CLASSES_LAST,
  yolo26: {
    pose: ["`[1, N, 6 + K x D]`", "K points of D values after the class id"],
    segment: ["`[1, N, 6 + M]` + `[1, M, H/4, W/4]`", "M coefficients after the class id, and prototypes"],
    oriented: ["`[1, N, 7]`", "centre, size, score, class id, angle"],
  },
};

/** The page of each task. */
const TASK_PAGES = { pose: "keypoints.md", segment: "masks.md", oriented: "oriented.md" } as const;

/** Returns the table of a family's exports for other tasks; nothing if it has none. */
function taskLines(family: BoxFamily): string[] {
  const forms = TASK_FORMS[family];
  if (forms === undefined) return [];
  const tasks = (["pose", "segment", "oriented"] as const).flatMap((task) => {
    const form = forms[task];
    const page = TASK_PAGES[task];
    return form ? [`| \`"${task}"\` | ${form[0]} | ${form[1]}: [${page}](../${page}) |`] : [];
  });
  return [
    "",
    "Networks for more than boxes need the option `task`:",
    "",
    "| `task` | usual export | what it holds |",
    "|---|---|---|",
    ...tasks,
  ];
}

/** A sentence on how a head's raw maps become boxes. */
const HEADS: { readonly [H in HeadRule]: string } = {
  anchor: "A cell and an anchor make a box.",
  cell: "A cell gives the centre, and a part of the whole input gives the size.",
  point: "A cell gives the centre, and its stride times exp gives the size.",
  distance: "A cell gives distances to the left, top, right and bottom.",
  prior: "A box is an offset from a prior box.",
  plain: "The network makes the box.",
};

/** Shapes for each layout, with C classes, A anchors, N rows and maps of h x w cells. */
const FORMS: {
  readonly [E in ExportName]: (traits: FamilyTraits) => readonly [shapes: string, what: string];
} = {
  "anchor-maps": ({ oneMap }) => [
    "`[1, A x (5 + C), h, w]`",
    oneMap ? "one map" : "a map for each stride; the anchors of a map stand one after the other",
  ],
  "cell-maps": () => ["`[1, 5 + C, h, w]`", "one map: objectness, box, classes"],
  "point-maps": () => ["`[1, 5 + C, h, w]`", "a map for each stride: box, objectness, classes"],
  "point-rows": () => ["`[1, N, 5 + C]`", "the cells of all maps as rows, still relative to their cells"],
  "distance-maps": ({ bins = 16, ownBins, mayBePixels }) =>
    ownBins
      ? [
          `\`[1, N, C + ${4 * bins}]\`, or \`[1, N, ${4 * bins}]\` + \`[1, N, C]\``,
          `${bins} bins for each side`,
        ]
      : mayBePixels
        ? ["`[1, 4, h, w]` + `[1, C, h, w]`", "for each stride: four distances, and the classes"]
        : bins !== 16
          ? [
              `\`[1, ${4 * bins}, h, w]\` + \`[1, C, h, w]\``,
              `for each stride: ${bins} bins for each side, and the classes`,
            ]
          : [
              "`[1, 64, h, w]` + `[1, C, h, w]`, or `[1, 5 + C, h, w]`",
              "for each stride: a distribution for each side and the classes, or distances that the exporter computed",
            ],
  "objectness-rows": () => ["`[1, N, 5 + C]`", "decoded boxes, objectness, classes"],
  "corner-rows": () => ["`[1, N, 5 + C]`", "decoded corners, the best score, classes"],
  "class-rows": ({ decodedFormat }) => [
    "`[1, 4 + C, N]`, or `[1, 4, N]` + `[1, C, N]`",
    decodedFormat ? "decoded corners and classes" : "decoded boxes and classes",
  ],
  "end-to-end": () => ["`[1, N, 6]`", "corners, score, class id: the network has suppressed already"],
  queries: () => ["`[1, N, 4]` + `[1, N, C]` or `[1, N, C + 1]`", "boxes and classes of each query"],
  "query-columns": ({ everyColumn }) => [
    everyColumn ? "`[1, N, 4]` + `[1, N, C]`" : "`[1, N, 4]` + `[1, N, C]` or `[1, N, C + 1]`",
    "boxes of each query, and its logits",
  ],
  "query-rows": () => ["`[1, N, 4 + C]`", "boxes and probabilities of each query, as Ultralytics exports it"],
  "prior-rows": ({ keypoints }) =>
    keypoints
      ? ["`[1, N, 16]` + `[1, N, 1]`", "offsets and six keypoints, and scores, for each prior"]
      : ["`[1, N, 4]` + `[1, N, C]`", "offsets and scores for each prior"],
  "prior-maps": () => [
    "`[1, h, w, 9 x C]` + `[1, h, w, 36]`",
    "scores and offsets for each of nine priors in a cell, for each level",
  ],
  "offsets-or-boxes": () => ["`[1, N, 4]` + `[1, N, C]`", "offsets from priors or decoded boxes, and scores"],
  "detection-output": () => ["`[1, 1, N, 7]`", "image, class id, score, corners"],
  postprocess: () => ["`[1, N, 4]` + `[1, N]` + `[1, N]` + `[1]`", "boxes, class ids, scores, count"],
  "class-scores": () => ["`[1, C]`, `[1, C, 1, 1]`", "a score for each class"],
  "finished-rows": ({ finishedRows = [], finishedFormat = "xyxy", packed }) =>
    packed
      ? [
          "`[1, C (1 + 5 max)]`, `[1, 2 + 22 max]` or `[1, C, 5, max]`",
          "f32 by class, bytes by score, TensorFlow's form",
        ]
      : [
          [...new Set(finishedRows.map((name) => `\`[N, ${rowOrder(name).width}]\``))].join(", "),
          finishedRows.map((name) => columnsText(name, finishedFormat)).join("; "),
        ],
  "boxes-scores": () => [
    "`[1, N, 4]` + `[1, N, C]`, or `[1, N, 4]` + `[1, N]` + `[1, N]`",
    "boxes and scores, or boxes, scores and class ids",
  ],
};

function scoreLines(traits: FamilyTraits, forms: readonly string[]): string[] {
  const { raw, archived, softmax, objectness, background, head } = traits;
  const isMap = head !== "plain" && head !== "prior";
  const holder = isMap ? "Raw maps hold" : "Scores are";
  const usual = softmax ? "softmax" : "sigmoid";
  const applied = `, and the decoder applies the ${background === "last" ? "softmax to C + 1, the sigmoid to C" : usual}`;
  return [
    `${holder} ${raw === "logits" ? `logits${applied}` : "probabilities"}.`,
    ...(isMap && raw === "logits" ? ["Boxes that the network decoded come with probabilities."] : []),
    ...(isMap && raw === "logits" && archived === undefined
      ? ["A config file means probabilities in maps too, unless it says otherwise."]
      : []),
    ...(objectness === "gate" ? ["Objectness only gates: the score is that of the class."] : []),
    ...(objectness === "power" ? ["score = objectness^0.6 x class^0.4."] : []),
    ...(background === "first" && forms.some((form) => form.includes(" C]"))
      ? ["The first class is the background, and C counts it."]
      : []),
  ];
}

function optionLines(family: BoxFamily, traits: FamilyTraits): string[] {
  const { head, exports, classes, className, anchorUnit, endToEnd } = traits;
  const counted =
    classes === undefined
      ? "`labels`, or `classes`: how many there are."
      : `\`labels\` name the classes.${className ? ` Without them, a single class is "${className}".` : ""}`;
  return [
    `- ${counted}`,
    ...(head === "plain" ? [] : ["- `inputSize`: `[width, height]` of the network's input."]),
    ...(exports.includes("anchor-maps")
      ? [
          "- `anchors` for raw maps: a list for each map, the map with the most cells first, in " +
            `${anchorUnit ?? "pixels of the input"}.`,
        ]
      : []),
    ...(exports.includes("prior-rows") && traits.buildPriors === undefined
      ? ["- `priors`, four values for each box, and `variances` or `scales`."]
      : []),
    ...(endToEnd ? ["- Nothing is suppressed: the network gives each object once."] : []),
    ...NETWORKS[family].slice(1).map((note) => `- ${note}`),
  ];
}

/** Names of the family in files and in options. */
function nameLine(traits: FamilyTraits): string[] {
  const subtypes = traits.subtypes ?? [];
  if (subtypes.length === 0) return [];
  return [
    "",
    `An NN Archive means this family by the subtype ${subtypes.map((name) => `\`${name}\``).join(", ")}.`,
  ];
}

/** Returns the page of a family. */
export function pageOf(family: BoxFamily): string {
  const traits = TRAITS[family];
  const forms = [...traits.exports.map((name) => FORMS[name](traits)), ...(OWN_FORMS[family] ?? [])].map(
    ([shapes, what]) => `| ${shapes} | ${what} |`,
  );
  const lines = [
    `# ${titleOf(family)}`,
    "",
    `\`family: "${family}"\` is for ${NETWORKS[family][0]}. ${howOf(family)}`,
    "",
    "## What its exports look like",
    "",
    "| output tensors | what they hold |",
    "|---|---|",
    ...forms,
    "",
    ...(forms.some((form) => form.includes("C"))
      ? ["C is the count of classes. Transposed tensors are read too: shapes tell them apart."]
      : []),
    ...scoreLines(traits, forms),
    ...taskLines(family),
    ...nameLine(traits),
    ...sourceLines(family),
    "",
    "## What preparation it wants",
    "",
    preparation(traits.prepare ?? {}),
    "`decoder.prepare(image)` does this, and a model file's own statement overrides it: [prepare.md](../prepare.md).",
    "",
    "## Options",
    "",
    ...optionLines(family, traits),
    "",
    "[api.md](../api.md) has every option.",
    "",
    "## Example",
    "",
    "```js",
    EXAMPLES[family],
    "```",
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns the page that lists the families. */
export function indexPage(): string {
  const rows = BOX_FAMILIES.map(
    (family) => `| [\`${family}\`](${family}.md) | ${NETWORKS[family][0]} | ${howOf(family)} |`,
  );
  return [
    "# Families",
    "",
    "Written by `npm run families` from the rows of `src/core/families/`. Every example is run by a test.",
    "",
    "| `family` | networks | how boxes are made |",
    "|---|---|---|",
    ...rows,
    "",
    "Families whose networks all give points, of faces, hands and poses:",
    "",
    "| `family` | networks | how points are made |",
    "|---|---|---|",
    ...POINT_FAMILIES.map(pointRow),
    "",
  ].join("\n");
}

/** Every page by its file name. */
export const pages = (): Map<string, string> =>
  new Map([
    ["README.md", indexPage()],
    ...BOX_FAMILIES.map((family) => [`${family}.md`, pageOf(family)] as const),
    ...POINT_FAMILIES.map((family) => [`${family}.md`, pointPageOf(family)] as const),
  ]);

const folder = new URL("../docs/families/", import.meta.url);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const isCheck = process.argv.includes("--check");
  mkdirSync(folder, { recursive: true });
  const made = pages();
  const read = (name: string): string | undefined =>
    existsSync(new URL(name, folder)) ? readFileSync(new URL(name, folder), "utf8") : undefined;
  const stale = [...made].filter(([name, text]) => read(name) !== text).map(([name]) => name);
  const strangers = readdirSync(folder).filter((name) => !made.has(name));
  if (!isCheck) for (const [name, text] of made) writeFileSync(new URL(name, folder), text);
  if (strangers.length > 0) console.error(`docs/families: no family has ${strangers.join(", ")}`);
  if (isCheck && stale.length > 0) console.error(`docs/families: run npm run families: ${stale.join(", ")}`);
  if (strangers.length > 0 || (isCheck && stale.length > 0)) process.exitCode = 1;
}
