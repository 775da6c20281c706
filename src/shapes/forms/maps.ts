/** Forms with a tensor, or several, for each feature map: the decoder computes the boxes. */
import type { Family } from "../../core/family.ts";
import type { FormRow, PartRow } from "../form.ts";
import { ANCHORED, DISTRIBUTED } from "./rows.ts";

/** Families that exporters of NN Archives write as four distances, the best score and the classes. */
const PLAIN_DISTANCES = [
  "yolov8",
  "yolo11",
  "yolov9",
  "yolov10",
  "yolo12",
  "yolov13",
  "yolov6",
] as const satisfies readonly Family[];

const map = (channels: PartRow["channels"], more: Partial<PartRow> = {}): PartRow => ({
  see: "map",
  channels,
  perLevel: true,
  ...more,
});
const rows = (channels: PartRow["channels"], more: Partial<PartRow> = {}): PartRow => ({
  see: "rows",
  channels,
  perLevel: true,
  ...more,
});
const PROTOTYPES = { see: "map", channels: ["M"], apart: true } as const;
/** rknn adds the sum of the class scores, so that a device can skip cells. */
const SUMS = map([1], { isOptional: true });

const BOX_MAPS: readonly FormRow[] = [
  {
    families: ANCHORED,
    rows: "any",
    parts: { boxes: map([5, "C"]) },
    anchors: [3, 2, 5, 6],
    levels: [2, 5],
    usual: 1,
    example: "a:1x255x80x80 b:1x255x40x40 c:1x255x20x20",
  },
  {
    families: ANCHORED,
    rows: "any",
    parts: { boxes: { ...map([5, "C"]), see: "anchors" } },
    anchors: [3],
    levels: [1, 5],
    usual: 3,
    example: "a:1x3x80x80x85 b:1x3x40x40x85 c:1x3x20x20x85",
  },
  {
    families: ["yolov2"],
    rows: "any",
    parts: { boxes: map([5, "C"]) },
    anchors: [5],
    levels: [1, 1],
    usual: -1,
    example: "output:1x425x13x13",
  },
  {
    families: ["fastestdet"],
    rows: "any",
    parts: { boxes: map([5, "C"]) },
    levels: [1, 1],
    usual: -1,
    example: "758:1x85x22x22",
  },
  {
    families: DISTRIBUTED,
    rows: "any",
    parts: { boxes: map([64, "C"]) },
    usual: 1,
    example: "a:1x144x80x80 b:1x144x40x40 c:1x144x20x20",
  },
  {
    families: DISTRIBUTED,
    rows: "any",
    parts: { boxes: map([64]), scores: map(["C"]), sums: SUMS },
    usual: 4,
    example: "b8:1x64x80x80 c8:1x80x80x80 b16:1x64x40x40 c16:1x80x40x40 b32:1x64x20x20 c32:1x80x20x20",
  },
  {
    families: ["yolov6", "ppyoloe"],
    rows: "any",
    parts: { boxes: map([68]), scores: map(["C"]), sums: SUMS },
    usual: 4,
    example: "b8:1x68x80x80 c8:1x80x80x80 b16:1x68x40x40 c16:1x80x40x40 b32:1x68x20x20 c32:1x80x20x20",
  },
  {
    families: ["yolox", "yolov6r1"],
    rows: "any",
    parts: { boxes: map([5, "C"]) },
    levels: [2, 4],
    example: "output:1x85x80x80 788:1x85x40x40 output.1:1x85x20x20",
  },
  {
    families: PLAIN_DISTANCES,
    rows: "any",
    parts: { boxes: map([5, "C"], { name: /_yolo/i }) },
    isNamed: true,
    levels: [2, 4],
    usual: -1,
    example: "output1_yolov8:1x85x80x80 output2_yolov8:1x85x40x40 output3_yolov8:1x85x20x20",
  },
  {
    families: ["yolox"],
    rows: "any",
    parts: { boxes: map([4]), objectness: map([1]), scores: map(["C"]) },
    usual: 3,
    example:
      "reg_8:1x52x52x4 obj_8:1x52x52x1 cls_8:1x52x52x80 reg_16:1x26x26x4 obj_16:1x26x26x1 cls_16:1x26x26x80",
  },
  {
    families: ["rtmdet", "yolov6"],
    rows: "any",
    parts: { boxes: map([4]), scores: map(["C"]) },
    usual: 3,
    example: "a:1x80x80x80 b:1x80x40x40 c:1x80x20x20 d:1x4x80x80 e:1x4x40x40 f:1x4x20x20",
  },
  {
    families: ["picodet", "nanodet"],
    rows: "any",
    parts: { boxes: rows([32]), scores: rows(["C"]) },
    levels: [4, 4],
    usual: 3,
    example:
      "s8:1x1600x80 s16:1x400x80 s32:1x100x80 s64:1x25x80 b8:1x1600x32 b16:1x400x32 b32:1x100x32 b64:1x25x32",
  },
  {
    families: ["nanodet"],
    rows: "any",
    parts: { boxes: rows([32], { name: /dis_?/ }), scores: rows(["C"], { name: /cls_?/ }) },
    levels: [3, 3],
    usual: 3,
    example:
      "cls_8:1x1600x80 dis_8:1x1600x32 cls_16:1x400x80 dis_16:1x400x32 cls_32:1x100x80 dis_32:1x100x32",
  },
  {
    families: ["nanodet", "picodet"],
    rows: "any",
    parts: { boxes: map([32]), scores: map(["C"]) },
    usual: 3,
    example: "s8:1x80x40x40 b8:1x32x40x40 s16:1x80x20x20 b16:1x32x20x20 s32:1x80x10x10 b32:1x32x10x10",
  },
  {
    // OpenCV's region layers: a row for each anchor of each cell, scores multiplied by the objectness already.
    families: ["yolov4", "yolov3"],
    perCell: 3,
    rows: "any",
    parts: { boxes: rows([5, "C"], { rank: 2 }) },
    options: { coordinates: "normalised" },
    usual: 1,
    example: "region_yolo_121:300x85 region_yolo_130:1200x85",
  },
  {
    families: ["efficientdet"],
    rows: "any",
    parts: { boxes: map([36]), scores: map(["X"]) },
    levels: [5, 5],
    usual: 1,
    example: "c3:1x810x64x64 b3:1x36x64x64 c4:1x810x32x32 b4:1x36x32x32",
  },
];

/** The same forms with what a task adds. */
const TASK_MAPS: readonly FormRow[] = [
  {
    families: PLAIN_DISTANCES,
    task: "segment",
    rows: "any",
    parts: { prototypes: PROTOTYPES, coefficients: map(["M"]), boxes: map([5, "C"]) },
    usual: 4,
    example: "o1_yolov8:1x85x80x80 o2_yolov8:1x85x40x40 m1:1x32x80x80 m2:1x32x40x40 protos:1x32x160x160",
  },
  {
    families: DISTRIBUTED,
    task: "segment",
    rows: "any",
    parts: {
      prototypes: PROTOTYPES,
      coefficients: map(["M"]),
      boxes: map([64]),
      scores: map(["C"]),
      sums: SUMS,
    },
    usual: 5,
    example:
      "b8:1x64x80x80 c8:1x80x80x80 m8:1x32x80x80 b16:1x64x40x40 c16:1x80x40x40 m16:1x32x40x40 p:1x32x160x160",
  },
  {
    families: DISTRIBUTED,
    task: "segment",
    rows: "any",
    parts: { prototypes: PROTOTYPES, coefficients: map(["M"]), boxes: map([64, "C"]) },
    usual: 4,
    example: "a:1x144x80x80 b:1x144x40x40 m8:1x32x80x80 m16:1x32x40x40 p:1x32x160x160",
  },
  {
    families: ANCHORED,
    task: "segment",
    rows: "any",
    parts: { prototypes: PROTOTYPES, boxes: map([5, "C", "M"]) },
    anchors: [3],
    usual: 2,
    example: "a:1x351x80x80 b:1x351x40x40 c:1x351x20x20 p:1x32x160x160",
  },
  {
    families: DISTRIBUTED,
    task: "pose",
    rows: "any",
    parts: { boxes: map([64, "C"]), points: { see: "rows", channels: ["P"], apart: true } },
    usual: 3,
    example: "output0:1x65x80x80 output1:1x65x40x40 output2:1x65x20x20 output3:1x17x3x8400",
  },
  {
    families: DISTRIBUTED,
    task: "pose",
    rows: "any",
    parts: { boxes: map([64]), scores: map(["C"]), points: map(["P"]), sums: SUMS },
    usual: 4,
    example: "b8:1x64x80x80 c8:1x1x80x80 k8:1x51x80x80 b16:1x64x40x40 c16:1x1x40x40 k16:1x51x40x40",
  },
  {
    families: DISTRIBUTED,
    task: "pose",
    rows: "any",
    parts: { boxes: map([64, "C"]), points: map(["P"]) },
    usual: 3,
    example: "b8:1x65x80x80 k8:1x51x80x80 b16:1x65x40x40 k16:1x51x40x40",
  },
  {
    families: PLAIN_DISTANCES,
    task: "pose",
    rows: "any",
    parts: { boxes: map([5, "C"]), points: { see: "rows", channels: ["P"], perLevel: true } },
    usual: 4,
    example: "output1_yolov8:1x6x80x80 output2_yolov8:1x6x40x40 kpt_output1:1x51x6400 kpt_output2:1x51x1600",
  },
  {
    families: PLAIN_DISTANCES,
    task: "pose",
    rows: "any",
    parts: { boxes: map([5, "C"]), points: map(["P"]) },
    usual: 2,
    example: "output1_yolov8:1x6x80x80 output2_yolov8:1x6x40x40 k1:1x51x80x80 k2:1x51x40x40",
  },
  {
    families: DISTRIBUTED,
    task: "oriented",
    rows: "any",
    parts: { boxes: map([64, "C"]), angles: { see: "rows", channels: [1], apart: true } },
    usual: 3,
    example: "output0:1x79x80x80 output1:1x79x40x40 output2:1x79x20x20 output3:1x1x8400",
  },
  {
    families: DISTRIBUTED,
    task: "oriented",
    rows: "any",
    parts: { boxes: map([64, "C"]), angles: map([1]) },
    usual: 3,
    example: "b8:1x79x80x80 a8:1x1x80x80 b16:1x79x40x40 a16:1x1x40x40",
  },
  {
    families: PLAIN_DISTANCES,
    task: "oriented",
    rows: "any",
    parts: {
      boxes: map([5, "C"], { name: /_yolo/i }),
      angles: { see: "rows", channels: [1], perLevel: true, name: /angle/i },
    },
    isNamed: true,
    usual: 4,
    example: "output1_yolov8:1x20x80x80 output2_yolov8:1x20x40x40 angle1:1x1x6400 angle2:1x1x1600",
  },
  {
    families: ["centernet"],
    kind: "centres",
    rows: "any",
    parts: {
      centres: map(["C"], { name: /^hm$|heat/i, role: "scores" }),
      sizes: map([2], { name: /^wh$|width|size/i, role: "boxes" }),
      offsets: map([2], { name: /^reg|off/i, role: "boxes" }),
    },
    levels: [1, 1],
    usual: 2,
    example: "hm:1x80x128x128 wh:1x2x128x128 reg:1x2x128x128",
  },
  {
    families: ["face-det-lite"],
    kind: "centres",
    rows: "any",
    classes: 1,
    parts: { centres: map([1]), sides: map([4]), points: map([10]) },
    levels: [1, 1],
    usual: 3,
    example: "heatmap:1x1x60x80 bbox:1x4x60x80 landmark:1x10x60x80",
  },
  {
    families: ["fomo"],
    kind: "classes of cells",
    rows: "any",
    parts: { cells: map([1, "C"]) },
    levels: [1, 1],
    usual: 1,
    example: "Softmax:1x12x12x3",
  },
];

export const MAP_FORMS: readonly FormRow[] = [...BOX_MAPS, ...TASK_MAPS];
