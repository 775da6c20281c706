/** Forms with one or several tensors for each feature map. The decoder computes the boxes from offsets or distances. */
import type { Family } from "../../core/family.ts";
import type { FormRow } from "../form.ts";
import { BOX_OBJECTNESS_CLASSES, OBJECTNESS_BOX_CLASSES } from "../ways.ts";
import { form, levelRows, map, PROTOTYPES, ROAD, rows } from "./parts.ts";
import { ANCHORED, DISTRIBUTED } from "./rows.ts";

/** Families whose exports as NN Archives have four distances, the best score and the class scores in each cell. */
const PLAIN_DISTANCES = [
  "yolov8",
  "yolo11",
  "yolov9",
  "yolov10",
  "yolo12",
  "yolov13",
  "yolov6",
] as const satisfies readonly Family[];

/** rknn exporters add the sum of the class scores, so that a device can skip cells with a low sum. */
const SUMS = map([1], { isOptional: true });

const BOX_MAPS: readonly FormRow[] = [
  form(
    "any",
    ANCHORED,
    { boxes: map([BOX_OBJECTNESS_CLASSES]) },
    1,
    "a:1x255x80x80 b:1x255x40x40 c:1x255x20x20",
    {
      anchors: [3, 2, 5, 6],
      levels: [2, 5],
      beside: ROAD,
    },
  ),
  form(
    "any",
    ANCHORED,
    { boxes: { ...map([BOX_OBJECTNESS_CLASSES]), see: "anchors" } },
    3,
    "a:1x3x80x80x85 b:1x3x40x40x85 c:1x3x20x20x85",
    { anchors: [3], levels: [1, 5] },
  ),
  form("any", ["yolov2"], { boxes: map([BOX_OBJECTNESS_CLASSES]) }, 0, "output:1x425x13x13", {
    anchors: [5],
    levels: [1, 1],
  }),
  form("any", ["fastestdet"], { boxes: map([OBJECTNESS_BOX_CLASSES]) }, -1, "758:1x85x22x22", {
    levels: [1, 1],
  }),
  form("any", DISTRIBUTED, { boxes: map([64, "C"]) }, 1, "a:1x144x80x80 b:1x144x40x40 c:1x144x20x20", {
    levels: [2, 4],
  }),
  form(
    "any",
    DISTRIBUTED,
    { boxes: map([64]), scores: map(["C"]), sums: SUMS },
    4,
    "b8:1x64x80x80 c8:1x80x80x80 b16:1x64x40x40 c16:1x80x40x40 b32:1x64x20x20 c32:1x80x20x20",
  ),
  form(
    "any",
    ["yolov6", "ppyoloe"],
    { boxes: map([68]), scores: map(["C"]), sums: SUMS },
    4,
    "b8:1x68x80x80 c8:1x80x80x80 b16:1x68x40x40 c16:1x80x40x40 b32:1x68x20x20 c32:1x80x20x20",
  ),
  form(
    "any",
    ["yolox", "yolov6r1"],
    { boxes: map([BOX_OBJECTNESS_CLASSES]) },
    0,
    "output:1x85x80x80 788:1x85x40x40 output.1:1x85x20x20",
    { levels: [2, 4] },
  ),
  form(
    "any",
    PLAIN_DISTANCES,
    { boxes: map([BOX_OBJECTNESS_CLASSES], { name: /_yolo/i }) },
    -1,
    "output1_yolov8:1x85x80x80 output2_yolov8:1x85x40x40 output3_yolov8:1x85x20x20",
    { isNamed: true, levels: [2, 4] },
  ),
  form(
    "any",
    ["yolox"],
    { boxes: map([4]), objectness: map([1]), scores: map(["C"]) },
    3,
    "reg_8:1x52x52x4 obj_8:1x52x52x1 cls_8:1x52x52x80 reg_16:1x26x26x4 obj_16:1x26x26x1 cls_16:1x26x26x80",
  ),
  form(
    "any",
    ["yolov6"],
    { boxes: map([4]), scores: map(["C"]), sums: map([1]) },
    4,
    "b8:1x4x80x80 c8:1x80x80x80 s8:1x1x80x80 b16:1x4x40x40 c16:1x80x40x40 s16:1x1x40x40",
    { kind: "sums after scores" },
  ),
  // Name of the layers of YOLO26's head that needs no suppression.
  form(
    "any",
    ["yolo26"],
    { boxes: map([4], { name: /one2one_cv2/ }), scores: map(["C"], { name: /one2one_cv3/ }) },
    3,
    "one2one_cv2.0:1x4x80x80 one2one_cv2.1:1x4x40x40 one2one_cv3.0:1x80x80x80 one2one_cv3.1:1x80x40x40",
    { isNamed: true },
  ),
  form(
    "any",
    ["rtmdet", "yolov6"],
    { boxes: map([4]), scores: map(["C"]) },
    3,
    "a:1x80x80x80 b:1x80x40x40 c:1x80x20x20 d:1x4x80x80 e:1x4x40x40 f:1x4x20x20",
  ),
  form(
    "any",
    ["picodet", "nanodet"],
    { boxes: levelRows([32]), scores: levelRows(["C"]) },
    3,
    "s8:1x1600x80 s16:1x400x80 s32:1x100x80 s64:1x25x80 b8:1x1600x32 b16:1x400x32 b32:1x100x32 b64:1x25x32",
    { levels: [4, 4] },
  ),
  form(
    "any",
    ["nanodet"],
    { boxes: levelRows([32], { name: /dis_?/ }), scores: levelRows(["C"], { name: /cls_?/ }) },
    3,
    "cls_8:1x1600x80 dis_8:1x1600x32 cls_16:1x400x80 dis_16:1x400x32 cls_32:1x100x80 dis_32:1x100x32",
    { levels: [3, 3] },
  ),
  form(
    "any",
    ["nanodet", "picodet"],
    { boxes: map([32]), scores: map(["C"]) },
    3,
    "s8:1x80x40x40 b8:1x32x40x40 s16:1x80x20x20 b16:1x32x20x20 s32:1x80x10x10 b32:1x32x10x10",
  ),
  // OpenCV's region layers: one row for each anchor of each cell. The scores are already multiplied by objectness.
  form(
    "any",
    ["yolov4", "yolov3"],
    { boxes: levelRows([BOX_OBJECTNESS_CLASSES], { rank: 2 }) },
    1,
    "region_yolo_121:300x85 region_yolo_130:1200x85",
    { perCell: 3, options: { coordinates: "normalised", rules: { score: "class" } } },
  ),
  form(
    "any",
    ["efficientdet"],
    { boxes: map([36]), scores: map(["X"]) },
    1,
    "c3:1x810x64x64 b3:1x36x64x64 c4:1x810x32x32 b4:1x36x32x32",
    { levels: [5, 5], classesIn: (channels) => (channels % 9 === 0 ? channels / 9 : null) },
  ),
];

/** Forms of `BOX_MAPS` with the channels that a task adds, and forms of heat maps. */
const TASK_MAPS: readonly FormRow[] = [
  form(
    "any",
    PLAIN_DISTANCES,
    { prototypes: PROTOTYPES, coefficients: map(["M"]), boxes: map([BOX_OBJECTNESS_CLASSES]) },
    4,
    "o1_yolov8:1x85x80x80 o2_yolov8:1x85x40x40 m1:1x32x80x80 m2:1x32x40x40 protos:1x32x160x160",
    { task: "segment" },
  ),
  form(
    "any",
    DISTRIBUTED,
    {
      prototypes: PROTOTYPES,
      coefficients: map(["M"]),
      boxes: map([64]),
      scores: map(["C"]),
      sums: SUMS,
    },
    5,
    "b8:1x64x80x80 c8:1x80x80x80 m8:1x32x80x80 b16:1x64x40x40 c16:1x80x40x40 m16:1x32x40x40 p:1x32x160x160",
    { task: "segment" },
  ),
  form(
    "any",
    DISTRIBUTED,
    { prototypes: PROTOTYPES, coefficients: map(["M"]), boxes: map([64, "C"]) },
    4,
    "a:1x144x80x80 b:1x144x40x40 m8:1x32x80x80 m16:1x32x40x40 p:1x32x160x160",
    { task: "segment" },
  ),
  form(
    "any",
    ANCHORED,
    { prototypes: PROTOTYPES, boxes: map([BOX_OBJECTNESS_CLASSES, "M"]) },
    2,
    "a:1x351x80x80 b:1x351x40x40 c:1x351x20x20 p:1x32x160x160",
    { task: "segment", anchors: [3] },
  ),
  // rknn exporters write the mask coefficients of the three anchors to separate maps.
  form(
    "any",
    ANCHORED,
    { prototypes: PROTOTYPES, coefficients: map(["M", "M", "M"]), boxes: map([BOX_OBJECTNESS_CLASSES]) },
    4,
    "a:1x255x80x80 m8:1x96x80x80 b:1x255x40x40 m16:1x96x40x40 c:1x255x20x20 m32:1x96x20x20 p:1x32x160x160",
    { task: "segment", anchors: [3] },
  ),
  // A face box and its keypoints in one map, as in forks of YOLOv8 for faces.
  form("any", DISTRIBUTED, { boxes: map([64, "C", "P"]) }, 3, "a:1x80x80x80 b:1x80x40x40 c:1x80x20x20", {
    task: "pose",
    classes: 1,
    levels: [3, 4],
    points: [
      [5, 3],
      [17, 3],
    ],
  }),
  form(
    "any",
    DISTRIBUTED,
    { boxes: map([64, "C"]), points: rows(["P"], { apart: true }) },
    3,
    "output0:1x65x80x80 output1:1x65x40x40 output2:1x65x20x20 output3:1x17x3x8400",
    { task: "pose" },
  ),
  form(
    "any",
    DISTRIBUTED,
    { boxes: map([64]), scores: map(["C"]), points: map(["P"]), sums: SUMS },
    4,
    "b8:1x64x80x80 c8:1x1x80x80 k8:1x51x80x80 b16:1x64x40x40 c16:1x1x40x40 k16:1x51x40x40",
    { task: "pose" },
  ),
  form(
    "any",
    DISTRIBUTED,
    { boxes: map([64, "C"]), points: map(["P"]) },
    3,
    "b8:1x65x80x80 k8:1x51x80x80 b16:1x65x40x40 k16:1x51x40x40",
    { task: "pose" },
  ),
  form(
    "any",
    PLAIN_DISTANCES,
    { boxes: map([BOX_OBJECTNESS_CLASSES]), points: levelRows(["P"]) },
    4,
    "output1_yolov8:1x6x80x80 output2_yolov8:1x6x40x40 kpt_output1:1x51x6400 kpt_output2:1x51x1600",
    { task: "pose" },
  ),
  form(
    "any",
    PLAIN_DISTANCES,
    { boxes: map([BOX_OBJECTNESS_CLASSES]), points: map(["P"]) },
    2,
    "output1_yolov8:1x6x80x80 output2_yolov8:1x6x40x40 k1:1x51x80x80 k2:1x51x40x40",
    { task: "pose" },
  ),
  form(
    "any",
    DISTRIBUTED,
    { boxes: map([64, "C"]), angles: rows([1], { apart: true }) },
    3,
    "output0:1x79x80x80 output1:1x79x40x40 output2:1x79x20x20 output3:1x1x8400",
    // The network's rknn export applies the sigmoid to the angle.
    { task: "oriented", options: { angleForm: "fractions" } },
  ),
  form(
    "any",
    DISTRIBUTED,
    { boxes: map([64, "C"]), angles: map([1]) },
    3,
    "b8:1x79x80x80 a8:1x1x80x80 b16:1x79x40x40 a16:1x1x40x40",
    { task: "oriented" },
  ),
  form(
    "any",
    PLAIN_DISTANCES,
    {
      boxes: map([BOX_OBJECTNESS_CLASSES], { name: /_yolo/i }),
      angles: levelRows([1], { name: /angle/i }),
    },
    4,
    "output1_yolov8:1x20x80x80 output2_yolov8:1x20x40x40 angle1:1x1x6400 angle2:1x1x1600",
    { task: "oriented", isNamed: true },
  ),
  form(
    "any",
    ["centernet"],
    {
      centres: map(["C"], { name: /^hm$|heat/i, role: "scores" }),
      sizes: map([2], { name: /^wh$|width|size/i, role: "boxes" }),
      offsets: map([2], { name: /^reg|off/i, role: "boxes" }),
    },
    2,
    "hm:1x80x128x128 wh:1x2x128x128 reg:1x2x128x128",
    { kind: "centres", levels: [1, 1] },
  ),
  form(
    "any",
    ["face-det-lite"],
    { centres: map([1]), sides: map([4]), points: map([10]) },
    3,
    "heatmap:1x1x60x80 bbox:1x4x60x80 landmark:1x10x60x80",
    { kind: "centres", classes: 1, levels: [1, 1] },
  ),
  form("any", ["fomo"], { cells: map([1, "C"]) }, 1, "Softmax:1x12x12x3", {
    kind: "classes of cells",
    levels: [1, 1],
  }),
];

export const MAP_FORMS: readonly FormRow[] = [...BOX_MAPS, ...TASK_MAPS];
