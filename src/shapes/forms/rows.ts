/** Forms with a row for each cell of the input, or for three anchors of each cell: nothing is suppressed yet. */
import type { Family } from "../../core/family.ts";
import type { FormRow } from "../form.ts";

/** Families whose rows are boxes and classes. */
const ULTRALYTICS = [
  "yolov8",
  "yolo11",
  "yolov9",
  "yolov10",
  "yolo12",
  "yolov13",
  "yolo26",
  "yolov6",
] as const satisfies readonly Family[];

/** The same without those that have no distributions. */
export const DISTRIBUTED = ULTRALYTICS.slice(0, 6);

export const ANCHORED = ["yolov5", "yolov7", "yolov3", "yolov4"] as const satisfies readonly Family[];

/** Families that decode corners themselves, and give scores in a tensor of their own. */
const CORNERS = ["yolo-nas", "ppyoloe", "picodet", "damo-yolo"] as const satisfies readonly Family[];

const PROTOTYPES = { see: "map", channels: ["M"], apart: true } as const;

const BOX_ROWS: readonly FormRow[] = [
  {
    families: ULTRALYTICS,
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [4, "C"], order: "planes" } },
    usual: 2,
    example: "output0:1x84x8400",
  },
  {
    // Transposed by a converter, or PP-YOLOE's corners.
    families: [...ULTRALYTICS, "ppyoloe"],
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [4, "C"], order: "rows" } },
    example: "output:1x8400x84",
  },
  {
    families: ["yolox", "yolov6"],
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [5, "C"], order: "rows" } },
    usual: 1,
    example: "output:1x8400x85",
  },
  {
    // YOLOv6 writes an objectness of 1.
    families: ["yolov6"],
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [5, "C"], order: "rows", name: /^outputs$/ } },
    isNamed: true,
    usual: 0,
    example: "outputs:1x8400x85",
  },
  {
    // Luxonis's exporter of YOLO26.
    families: ["yolo26"],
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [5, "C"], order: "rows", name: /yolo_?v?26/i } },
    isNamed: true,
    example: "output_yolo26:1x8400x85",
  },
  {
    // The DeepStream exporters concatenate corners, best score and class id of every cell. Two classes of YOLOv8 lie
    // as planes.
    families: ["yolov8", "yolo11", "yolov9", "yolov10", "yolo12", "yolov13", "yolo26"],
    rows: "cells",
    classes: null,
    parts: { boxes: { see: "rows", channels: [6], order: "rows" } },
    options: { reading: "end-to-end" },
    usual: 3,
    example: "output:1x8400x6",
  },
  {
    families: ANCHORED,
    rows: "anchors",
    parts: { boxes: { see: "rows", channels: [5, "C"] } },
    usual: 2,
    // YOLOP's maps of the road.
    beside: /(^|_)seg$|lane_line|drive_area/i,
    example: "output0:1x25200x85",
  },
  {
    families: DISTRIBUTED,
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [64, "C"] } },
    example: "output:1x8400x144",
  },
  {
    families: DISTRIBUTED,
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [64] }, scores: { see: "rows", channels: ["C"] } },
    usual: 3,
    example: "boxes:1x2100x64 scores:1x2100x17",
  },
  {
    families: ["nanodet", "picodet"],
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [32, "C"], order: "rows" } },
    usual: 1,
    example: "output:1x2125x112",
  },
  {
    families: ["ppyoloe", "yolov6"],
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [68] }, scores: { see: "rows", channels: ["C"] } },
    usual: 2,
    example: "boxes:1x8400x68 scores:1x8400x80",
  },
  {
    families: CORNERS,
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [4] }, scores: { see: "rows", channels: ["C"] } },
    usual: 3,
    example: "tmp_17:1x8400x4 concat_14.tmp_0:1x80x8400",
  },
  {
    // pytorch-YOLOv4 and its kin decode corners of each anchor.
    families: ["boxes"],
    rows: "anchors",
    parts: { boxes: { see: "rows", channels: [4] }, scores: { see: "rows", channels: ["C"] } },
    options: { coordinates: "normalised" },
    usual: 1,
    example: "boxes:1x10647x1x4 confs:1x10647x80",
  },
  {
    // Boxes, best scores and class ids of every cell: DeepStream's and Qualcomm's exporters.
    families: ["boxes"],
    rows: "cells",
    classes: null,
    parts: {
      boxes: { see: "rows", channels: [4], name: /box/i, role: "boxes" },
      scores: { see: "rows", channels: [], name: /score|conf/i, role: "scores" },
      classIds: { see: "rows", channels: [], name: /class|label|idx/i, role: "classIds" },
    },
    isNamed: true,
    usual: 3,
    example: "boxes:1x8400x4 scores:1x8400x1 classes:1x8400x1",
  },
];

/** The same forms with what a task adds after the classes, or in tensors of its own. */
const TASK_ROWS: readonly FormRow[] = [
  {
    families: ULTRALYTICS,
    task: "pose",
    rows: "cells",
    classes: 1,
    points: [[17, 3]],
    parts: { boxes: { see: "rows", channels: [5, "P"] } },
    usual: 5,
    example: "output0:1x56x8400",
  },
  {
    families: ULTRALYTICS,
    task: "pose",
    rows: "cells",
    classes: 1,
    parts: { boxes: { see: "rows", channels: [5, "P"], order: "planes" } },
    usual: -1,
    example: "output0:1x20x8400",
  },
  {
    families: ULTRALYTICS,
    task: "oriented",
    rows: "cells",
    parts: { boxes: { see: "rows", channels: [4, "C", 1], order: "planes" } },
    usual: 1,
    example: "output0:1x20x21504",
  },
  {
    families: ULTRALYTICS,
    task: "segment",
    rows: "cells",
    parts: { prototypes: PROTOTYPES, boxes: { see: "rows", channels: [4, "C", "M"] } },
    usual: 3,
    example: "output0:1x116x8400 output1:1x32x160x160",
  },
  {
    families: ULTRALYTICS,
    task: "segment",
    rows: "cells",
    parts: {
      prototypes: PROTOTYPES,
      coefficients: { see: "rows", channels: ["M"] },
      boxes: { see: "rows", channels: [4, "C"] },
    },
    usual: 2,
    example: "boxes:1x84x8400 coefficients:1x32x8400 output1:1x32x160x160",
  },
  {
    families: ["yolo26"],
    task: "segment",
    rows: "cells",
    parts: {
      prototypes: PROTOTYPES,
      coefficients: { see: "rows", channels: ["M"] },
      boxes: { see: "rows", channels: [5, "C"], name: /yolo_?v?26/i },
    },
    isNamed: true,
    usual: 5,
    example: "output_yolo26:1x8400x85 output_masks:1x8400x32 protos_output:1x32x160x160",
  },
  {
    families: ["yolo26"],
    task: "pose",
    rows: "cells",
    parts: {
      boxes: { see: "rows", channels: [5, "C"], name: /yolo_?v?26/i },
      points: { see: "rows", channels: ["P"] },
    },
    isNamed: true,
    usual: 2,
    example: "output_yolo26:1x8400x6 kpt_output:1x8400x51",
  },
  {
    families: ["yolov5", "yolov7"],
    task: "segment",
    rows: "anchors",
    parts: { prototypes: PROTOTYPES, boxes: { see: "rows", channels: [5, "C", "M"] } },
    usual: 3,
    example: "output0:1x25200x117 output1:1x32x160x160",
  },
  {
    families: ["yolov7", "yolov5"],
    task: "pose",
    rows: "anchors",
    classes: 1,
    points: [[17, 3]],
    parts: { boxes: { see: "rows", channels: [6, "P"] } },
    usual: 5,
    example: "output:1x25200x57",
  },
  {
    families: ["yolov5-face"],
    rows: "anchors",
    classes: 1,
    parts: { boxes: { see: "rows", channels: [16], order: "rows" } },
    usual: 1,
    example: "output:1x25200x16",
  },
  {
    // Deci's YOLO-NAS-Pose: boxes, scores, points and their scores.
    families: ["yolo-nas"],
    task: "pose",
    rows: "cells",
    classes: 1,
    parts: {
      boxes: { see: "rows", channels: [4] },
      scores: { see: "rows", channels: [] },
      points: { see: "rows", channels: ["P"], rank: 4 },
      pointScores: { see: "rows", channels: ["X"] },
    },
    points: [
      [17, 2],
      [5, 2],
      [20, 2],
    ],
    usual: 4,
    example: "boxes:1x8400x4 scores:1x8400x1 joints:1x8400x17x2 joint_scores:1x8400x17",
  },
];

export const ROW_FORMS: readonly FormRow[] = [...BOX_ROWS, ...TASK_ROWS];
