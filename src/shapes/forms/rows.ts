/** Forms with one row for each cell of the input, or for each of three anchors of a cell. Nothing is suppressed yet. */
import type { Family } from "../../core/family.ts";
import type { FormRow } from "../form.ts";
import { BOX_CLASSES, BOX_OBJECTNESS_CLASSES, FINISHED } from "../ways.ts";
import { form, inPlanes, inRows, PROTOTYPES, ROAD, rows } from "./parts.ts";

/** Families whose rows hold the box and the class scores. */
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

/** Families of `ULTRALYTICS` whose distances are distributions over bins, not plain numbers. */
export const DISTRIBUTED = ULTRALYTICS.slice(0, 6);

export const ANCHORED = ["yolov5", "yolov7", "yolov3", "yolov4"] as const satisfies readonly Family[];

/** Families whose networks output decoded corners, with the scores in a second tensor. */
const CORNERS = ["yolo-nas", "ppyoloe", "picodet", "damo-yolo"] as const satisfies readonly Family[];

const BOX_ROWS: readonly FormRow[] = [
  form("cells", ULTRALYTICS, { boxes: inPlanes([BOX_CLASSES]) }, 2, "output0:1x84x8400"),
  // Rows that a converter transposed, or PP-YOLOE's corners.
  form("cells", [...ULTRALYTICS, "ppyoloe"], { boxes: inRows([BOX_CLASSES]) }, 0, "output:1x8400x84"),
  form("cells", ["yolox", "yolov6"], { boxes: inRows([BOX_OBJECTNESS_CLASSES]) }, 1, "output:1x8400x85"),
  // YOLOv6's objectness is always 1.
  form(
    "cells",
    ["yolov6"],
    { boxes: inRows([BOX_OBJECTNESS_CLASSES], { name: /^outputs$/ }) },
    0,
    "outputs:1x8400x85",
    {
      isNamed: true,
    },
  ),
  // YOLO26 from Luxonis's exporter.
  form(
    "cells",
    ["yolo26"],
    { boxes: inRows([BOX_OBJECTNESS_CLASSES], { name: /yolo_?v?26/i }) },
    0,
    "output_yolo26:1x8400x85",
    { isNamed: true },
  ),
  // DeepStream exporters concatenate corners, best score and class id of every cell. YOLOv8 with two classes has the
  // same channel count, but stores its channels as planes.
  form(
    "cells",
    ["yolov8", "yolo11", "yolov9", "yolov10", "yolo12", "yolov13", "yolo26"],
    { boxes: inRows([FINISHED]) },
    3,
    "output:1x8400x6",
    { classes: null, options: { reading: "end-to-end" } },
  ),
  form("anchors", ANCHORED, { boxes: rows([BOX_OBJECTNESS_CLASSES]) }, 2, "output0:1x25200x85", {
    beside: ROAD,
  }),
  form("cells", DISTRIBUTED, { boxes: rows([64, "C"]) }, 0, "output:1x8400x144"),
  form(
    "cells",
    DISTRIBUTED,
    { boxes: rows([64]), scores: rows(["C"]) },
    3,
    "boxes:1x2100x64 scores:1x2100x17",
  ),
  form("cells", ["nanodet", "picodet"], { boxes: inRows([32, "C"]) }, 1, "output:1x2125x112", {
    kind: "cells to stride 64",
  }),
  form(
    "cells",
    ["ppyoloe", "yolov6"],
    { boxes: rows([68]), scores: rows(["C"]) },
    2,
    "boxes:1x8400x68 scores:1x8400x80",
  ),
  form(
    "cells",
    CORNERS,
    { boxes: rows([4]), scores: rows(["C"]) },
    3,
    "tmp_17:1x8400x4 concat_14.tmp_0:1x80x8400",
    { isWhole: true },
  ),
  // The network was cut before its last layer, which joins boxes and scores.
  form(
    "cells",
    ULTRALYTICS,
    { boxes: inPlanes([4]), scores: inPlanes(["C"]) },
    1,
    "boxes:1x4x8400 scores:1x80x8400",
  ),
  // pytorch-YOLOv4 and its forks output the decoded corners of each anchor.
  form(
    "anchors",
    ["boxes"],
    { boxes: rows([4]), scores: rows(["C"]) },
    1,
    "boxes:1x10647x1x4 confs:1x10647x80",
    { options: { coordinates: "normalised" } },
  ),
  // The boxes of pytorch-YOLOv4 have one dimension more than rows need.
  form(
    "anchors",
    ["boxes"],
    { boxes: inRows([4], { rank: 4, name: /box/i }), scores: inRows(["C"], { rank: 3 }) },
    4,
    "boxes:1x10647x1x4 confs:1x10647x80",
    { options: { coordinates: "normalised" } },
  ),
  // DeepStream's and Qualcomm's exporters output box, best score and class id of every cell, or of every anchor.
  ...(["cells", "anchors"] as const).map((count) =>
    form(
      count,
      ["boxes"],
      {
        boxes: rows([4], { name: /box/i, role: "boxes" }),
        scores: rows([], { name: /score|conf/i, role: "scores" }),
        classIds: rows([], { name: /class|label|idx/i, role: "classIds" }),
      },
      3,
      count === "cells"
        ? "boxes:1x8400x4 scores:1x8400x1 classes:1x8400x1"
        : "boxes:1x25200x4 scores:1x25200 class_idx:1x25200",
      { classes: null, isNamed: true },
    ),
  ),
  form(
    "cells",
    ["boxes"],
    {
      boxes: inRows([4], { role: "boxes" }),
      scores: rows([], { role: "scores" }),
      classIds: rows([], { role: "classIds" }),
    },
    3,
    "a:1x8400x4 b:1x8400 c:1x8400",
    { classes: null, isInOrder: true, isWhole: true },
  ),
];

/** Forms of `BOX_ROWS` with the channels that a task adds, after the classes or in other tensors. */
const TASK_ROWS: readonly FormRow[] = [
  // Networks for ncnn, whose last layers were removed.
  form(
    "cells",
    DISTRIBUTED,
    { boxes: inRows([64, "C"]), points: inRows(["P"]) },
    4,
    "out0:8400x65 out1:8400x51",
    { task: "pose", options: { keypointCoordinates: "strides", keypointScores: "logits" } },
  ),
  form(
    "cells",
    DISTRIBUTED,
    { boxes: inRows([64, "C"]), angles: rows([]) },
    3,
    "out0:21504x79 out1:21504x1",
    {
      task: "oriented",
      options: { angleForm: "logits" },
    },
  ),
  form(
    "cells",
    DISTRIBUTED,
    { prototypes: PROTOTYPES, coefficients: inRows(["M"]), boxes: inRows([64, "C"]) },
    3,
    "out0:8400x144 out1:8400x32 out2:32x160x160",
    { task: "segment" },
  ),
  // Keypoints of Ultralytics' own data sets: people (17), hands (21) and dogs (24).
  form("cells", ULTRALYTICS, { boxes: rows([BOX_CLASSES, "P"]) }, 5, "output0:1x56x8400", {
    task: "pose",
    classes: 1,
    points: [
      [17, 3],
      [21, 3],
      [24, 3],
    ],
  }),
  form("cells", ULTRALYTICS, { boxes: inPlanes([BOX_CLASSES, "P"]) }, -1, "output0:1x20x8400", {
    task: "pose",
    classes: 1,
  }),
  form("cells", ULTRALYTICS, { boxes: inPlanes([BOX_CLASSES, 1]) }, 1, "output0:1x20x21504", {
    task: "oriented",
  }),
  form(
    "cells",
    ULTRALYTICS,
    { prototypes: PROTOTYPES, boxes: inPlanes([BOX_CLASSES, "M"]) },
    3,
    "output0:1x116x8400 output1:1x32x160x160",
    { task: "segment" },
  ),
  form(
    "cells",
    ULTRALYTICS,
    { prototypes: PROTOTYPES, boxes: inRows([BOX_CLASSES, "M"]) },
    2,
    "Identity:1x8400x116 Identity_1:1x160x160x32",
    { task: "segment" },
  ),
  // Only the first output of a network with masks is given. The prototypes are in another output.
  form("cells", ULTRALYTICS, { boxes: inPlanes([BOX_CLASSES, 32]) }, 0, "output0:1x116x8400", {
    task: "segment",
    kind: "masks alone",
  }),
  form(
    "cells",
    ULTRALYTICS,
    {
      prototypes: PROTOTYPES,
      coefficients: rows(["M"]),
      boxes: rows([BOX_CLASSES]),
    },
    2,
    "boxes:1x84x8400 coefficients:1x32x8400 output1:1x32x160x160",
    { task: "segment" },
  ),
  // Boxes, scores and keypoints in three tensors, from a network that was cut before its last layer.
  form(
    "cells",
    ULTRALYTICS,
    { boxes: rows([4]), scores: rows(["C"]), points: rows(["P"]) },
    3,
    "boxes:1x8400x4 scores:1x8400x1 points:1x8400x51",
    {
      task: "pose",
      points: [
        [17, 3],
        [5, 3],
        [21, 3],
      ],
    },
  ),
  // Qualcomm's networks with masks: corners, best scores, coefficients and class ids.
  form(
    "cells",
    ["boxes"],
    {
      prototypes: PROTOTYPES,
      coefficients: rows(["M"], { name: /coef/i }),
      boxes: rows([4], { name: /^boxes$/i, role: "boxes" }),
      scores: rows([], { name: /^scores$/i, role: "scores" }),
      classIds: rows([], { name: /class|label/i, role: "classIds" }),
    },
    4,
    "boxes:1x8400x4 scores:1x8400 mask_coeffs:1x8400x32 class_idx:1x8400 mask_protos:1x32x160x160",
    { task: "segment", classes: null, isNamed: true, isWhole: true },
  ),
  // Qualcomm's FastSAM: corners, scores and coefficients.
  form(
    "cells",
    ["boxes"],
    {
      prototypes: PROTOTYPES,
      coefficients: rows(["M"], { name: /coef|mask/i }),
      boxes: rows([4], { name: /^boxes$/i }),
      scores: rows(["C"], { name: /^scores$/i }),
    },
    3,
    "boxes:1x8400x4 scores:1x8400 mask_coeffs:1x8400x32 mask_protos:1x32x160x160",
    { task: "segment", isNamed: true, isWhole: true },
  ),
  form(
    "cells",
    ["yolo26"],
    {
      prototypes: PROTOTYPES,
      coefficients: rows(["M"]),
      boxes: rows([BOX_OBJECTNESS_CLASSES], { name: /yolo_?v?26/i }),
    },
    5,
    "output_yolo26:1x8400x85 output_masks:1x8400x32 protos_output:1x32x160x160",
    { task: "segment", isNamed: true },
  ),
  form(
    "cells",
    ["yolo26"],
    {
      boxes: rows([BOX_OBJECTNESS_CLASSES], { name: /yolo_?v?26/i }),
      points: rows(["P"]),
    },
    2,
    "output_yolo26:1x8400x6 kpt_output:1x8400x51",
    { task: "pose", isNamed: true },
  ),
  form(
    "anchors",
    ["yolov5", "yolov7"],
    { prototypes: PROTOTYPES, boxes: rows([BOX_OBJECTNESS_CLASSES, "M"]) },
    3,
    "output0:1x25200x117 output1:1x32x160x160",
    { task: "segment" },
  ),
  form(
    "anchors",
    ["yolov7", "yolov5"],
    { boxes: rows([BOX_OBJECTNESS_CLASSES, "P"]) },
    5,
    "output:1x25200x57",
    {
      task: "pose",
      classes: 1,
      points: [[17, 3]],
    },
  ),
  // YOLOv7-face: five keypoints, each with a confidence.
  form("anchors", ["yolov7"], { boxes: rows([BOX_OBJECTNESS_CLASSES, "P"]) }, 0, "output:1x25200x21", {
    task: "pose",
    classes: 1,
    points: [[5, 3]],
  }),
  form("anchors", ["yolov5-face"], { boxes: inRows([16]) }, 3, "output:1x25200x16", { classes: 1 }),
  // Deci's YOLO-NAS-Pose: boxes, scores, keypoints, and the scores of the keypoints.
  form(
    "cells",
    ["yolo-nas"],
    {
      boxes: rows([4]),
      scores: rows([]),
      points: rows(["P"], { rank: 4 }),
      pointScores: rows(["X"]),
    },
    4,
    "boxes:1x8400x4 scores:1x8400x1 joints:1x8400x17x2 joint_scores:1x8400x17",
    {
      task: "pose",
      classes: 1,
      points: [
        [17, 2],
        [5, 2],
        [20, 2],
      ],
    },
  ),
];

export const ROW_FORMS: readonly FormRow[] = [...BOX_ROWS, ...TASK_ROWS];
