/** Forms with a row for each detection, each query or each prior. */
import type { FormRow, PartRow } from "../form.ts";

const rows = (channels: PartRow["channels"], more: Partial<PartRow> = {}): PartRow => ({
  see: "rows",
  channels,
  ...more,
});
const inRows = (channels: PartRow["channels"], more: Partial<PartRow> = {}): PartRow =>
  rows(channels, { order: "rows", ...more });
const PROTOTYPES = { see: "map", channels: ["M"], apart: true } as const;
const COUNT: PartRow = { see: "rows", channels: [], apart: true, name: /num|count|tile|nms|_3$|:3$|\[:\]$/i };
const END_TO_END = [
  "yolo26",
  "yolov10",
  "yolov8",
  "yolo11",
  "yolov9",
  "yolo12",
  "yolov13",
  "yolov6",
] as const;
const RTDETR = ["rtdetr", "dfine", "deim", "deimv2"] as const;
const BOXES_NAME = /box/i;
const LOGITS_NAME = /logit|score|class|label|conf/i;

/** Most detections of a class that HailoRT's compiler is told, the usual number first. */
const HAILO_ROOMS = [100, 80, 50, 200, 300];

/** Returns the count of classes of a buffer of HailoRT; `null` if its length does not tell. */
function hailoClasses(length: number, type: string | null): number | null {
  if (type !== "f32" && type !== "f16") return null;
  const room = HAILO_ROOMS.find((most) => length % (1 + 5 * most) === 0);
  return room === undefined ? null : length / (1 + 5 * room);
}

/** Lists that the network finished. */
const FINISHED: readonly FormRow[] = [
  {
    families: END_TO_END,
    rows: "list",
    classes: null,
    parts: { rows: inRows([6], { rank: 3 }) },
    usual: 3,
    example: "output0:1x300x6",
  },
  {
    families: ["paddle-nms", "ppyoloe", "picodet"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([6], { rank: 2 }) },
    usual: 1,
    example: "multiclass_nms3_0.tmp_0:100x6",
  },
  {
    families: ["paddle-nms", "ppyoloe", "picodet"],
    rows: "list",
    classes: null,
    parts: {
      rows: inRows([6], { name: /nms|tmp|fetch|concat|reshape|scale_0/i }),
      count: { ...COUNT, name: /nms|tmp|fetch|num|count|scale_1/i },
    },
    usual: 5,
    example: "multiclass_nms3_0.tmp_0:100x6 multiclass_nms3_0.tmp_2:1",
  },
  {
    families: ["boxes"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([6], { rank: 2 }) },
    options: { reading: "end-to-end" },
    usual: 0,
    example: "output:100x6",
  },
  {
    families: ["yolov7"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([7], { rank: 2 }) },
    usual: 2,
    example: "output:100x7",
  },
  {
    families: ["ssd-detection-output"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([7], { rank: 4 }) },
    usual: 4,
    example: "detection_out:1x1x100x7",
  },
  {
    families: ["ssd-detection-output"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([7], { rank: 2, name: /do|detection/i }) },
    usual: 1,
    example: "reshape_do_2d:100x7",
  },
  {
    families: ["efficientdet"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([7], { rank: 3, name: /detection/i }) },
    usual: 1,
    example: "detections:1x100x7",
  },
  {
    families: ["boxes"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([7], { rank: 2 }) },
    usual: 0,
    example: "output:100x7",
  },
  {
    families: ["yolo26", "yolov8", "yolo11"],
    task: "oriented",
    rows: "list",
    classes: null,
    parts: { rows: inRows([7], { rank: 3 }) },
    usual: 3,
    example: "output0:1x300x7",
  },
  {
    families: ["yolo26", "yolov10", "yolov8", "yolo11"],
    task: "segment",
    rows: "list",
    classes: null,
    parts: { prototypes: PROTOTYPES, rows: inRows([6, "M"]) },
    usual: 4,
    example: "output0:1x300x38 output1:1x32x160x160",
  },
  {
    families: ["yolo26", "yolov8", "yolo11"],
    task: "pose",
    rows: "list",
    classes: null,
    parts: { rows: inRows([6, "P"], { rank: 3 }) },
    usual: 2,
    example: "output0:1x300x57",
  },
  {
    families: ["mmdeploy"],
    rows: "list",
    classes: null,
    parts: {
      rows: inRows([5], { name: /det|box/i }),
      classIds: { see: "list", channels: [], name: /label|class/i },
    },
    usual: 3,
    example: "dets:1x100x5 labels:1x100",
  },
  {
    families: ["mmdeploy"],
    rows: "list",
    classes: null,
    parts: { rows: inRows([5], { name: /det|box/i }) },
    usual: -1,
    example: "dets:1x100x5",
  },
  {
    families: ["mmdeploy"],
    task: "oriented",
    rows: "list",
    classes: null,
    parts: {
      rows: inRows([6], { name: /det|box/i }),
      classIds: { see: "list", channels: [], name: /label|class/i },
    },
    usual: 4,
    example: "dets:1x100x6 labels:1x100",
  },
  {
    families: ["rtmdet-ins"],
    task: "segment",
    rows: "list",
    classes: null,
    parts: {
      rows: inRows([5], { name: /det|box/i }),
      classIds: { see: "list", channels: [], name: /label|class/i },
      masks: { see: "map", channels: ["X"], apart: true, name: /mask/i },
    },
    usual: 5,
    example: "dets:1x100x5 labels:1x100 masks:1x100x640x640",
  },
  {
    families: ["mask-rcnn"],
    task: "segment",
    rows: "list",
    classes: null,
    parts: {
      boxes: inRows([4], { name: BOXES_NAME, role: "boxes" }),
      scores: { see: "list", channels: [], name: /score/i, role: "scores" },
      classIds: { see: "list", channels: [], name: /label|class/i, role: "classIds" },
      masks: { see: "map", channels: ["X"], apart: true, name: /mask/i },
    },
    isNamed: true,
    usual: 6,
    example: "boxes:20x4 labels:20 scores:20 masks:20x1x480x640",
  },
  {
    // torchvision, and Object Detection API outside of TFLite: class ids count the background.
    families: ["boxes"],
    rows: "list",
    classes: null,
    parts: {
      boxes: inRows([4], { name: BOXES_NAME, role: "boxes" }),
      scores: { see: "list", channels: [], name: /score|conf/i, role: "scores" },
      classIds: { see: "list", channels: [], name: /label|class/i, role: "classIds" },
    },
    isNamed: true,
    usual: 2,
    example: "boxes:100x4 labels:100 scores:100",
  },
  {
    families: ["boxes"],
    rows: "list",
    classes: null,
    parts: {
      boxes: inRows([4], { name: /detection_boxes/i, role: "boxes" }),
      scores: { see: "list", channels: [], name: /detection_scores/i, role: "scores" },
      classIds: { see: "list", channels: [], name: /detection_classes/i, role: "classIds" },
      count: { see: "rows", channels: [], apart: true, name: /num_detections/i, role: "count" },
    },
    isNamed: true,
    options: { boxFormat: "yxyx", coordinates: "normalised" },
    beside: /^raw_|multiclass|anchor_indices|mask|keypoint/i,
    usual: 6,
    example: "detection_boxes:1x100x4 detection_classes:1x100 detection_scores:1x100 num_detections:1",
  },
  {
    families: ["efficient-nms"],
    rows: "list",
    classes: null,
    parts: {
      count: { see: "rows", channels: [], apart: true, name: /^num/i, role: "count" },
      boxes: inRows([4], { name: /det|box/i, role: "boxes" }),
      scores: { see: "list", channels: [], name: /score/i, role: "scores" },
      classIds: { see: "list", channels: [], name: /class|label/i, role: "classIds" },
    },
    isNamed: true,
    beside: /indice|mask/i,
    usual: 4,
    example: "num_dets:1x1 det_boxes:1x100x4 det_scores:1x100 det_classes:1x100",
  },
  {
    families: ["tflite-postprocess", "imx500"],
    areKnownNames: true,
    rows: "list",
    classes: null,
    parts: {
      boxes: inRows([4], { name: /PostProcess$|PartitionedCall:[13]$/i }),
      classIds: { see: "list", channels: [], name: /[:_]1$|:0$|class|label/i, role: "classIds" },
      scores: { see: "list", channels: [], name: /[:_]2$|score/i, role: "scores" },
      count: { see: "rows", channels: [], apart: true, name: /[:_]3$|:2$/ },
    },
    usual: 3,
    example: "a:1x20x4 a:1:1x20 a:2:1x20 a:3:1",
  },
  {
    // Signatures of TensorFlow 2: count, scores, class ids, boxes.
    families: ["tflite-postprocess", "imx500"],
    rows: "list",
    classes: null,
    parts: {
      boxes: inRows([4], { name: /[:_]3$/, role: "boxes" }),
      classIds: { see: "list", channels: [], name: /[:_]2$/, role: "classIds" },
      scores: { see: "list", channels: [], name: /[:_]1$/, role: "scores" },
      count: { see: "rows", channels: [], apart: true, name: /[:_]0$/ },
    },
    isNamed: true,
    usual: 4,
    example: "a:3:1x20x4 a:2:1x20 a:1:1x20 a:0:1",
  },
  {
    // torchvision without names: whole numbers tell the class ids.
    families: ["mask-rcnn"],
    task: "segment",
    rows: "list",
    classes: null,
    parts: {
      boxes: inRows([4], { rank: 2, role: "boxes" }),
      classIds: { see: "list", channels: [], rank: 1, holdsIds: true, role: "classIds" },
      scores: { see: "list", channels: [], rank: 1, role: "scores" },
      masks: { see: "map", channels: [1], apart: true, rank: 4 },
    },
    usual: 4,
    example: "6568:100x4 6570:100:i64 6572:100 6887:100x1x28x28",
  },
  {
    families: ["boxes"],
    rows: "list",
    classes: null,
    parts: {
      boxes: inRows([4], { rank: 2, role: "boxes" }),
      classIds: { see: "list", channels: [], rank: 1, holdsIds: true, role: "classIds" },
      scores: { see: "list", channels: [], rank: 1, role: "scores" },
    },
    usual: 3,
    example: "6379:100x4 6381:100:i64 6383:100",
  },
  {
    // Apple's layer of non-maximum suppression.
    families: ["boxes"],
    rows: "list",
    parts: {
      boxes: inRows([4], { name: /^coordinates$/, role: "boxes" }),
      scores: inRows(["C"], { name: /^confidence$/, role: "scores" }),
    },
    isNamed: true,
    options: { boxFormat: "cxcywh", coordinates: "normalised" },
    usual: 6,
    example: "confidence:100x80 coordinates:100x4",
  },
  {
    families: ["yolo-nas"],
    rows: "list",
    classes: null,
    parts: {
      count: { see: "rows", channels: [], apart: true, name: /num_pred/i },
      boxes: inRows([4], { name: /pred_boxes/i }),
      scores: { see: "list", channels: [], name: /pred_scores/i },
      classIds: { see: "list", channels: [], name: /pred_classes/i },
    },
    isNamed: true,
    usual: 6,
    example: "num_predictions:1x1 pred_boxes:1x100x4 pred_scores:1x100 pred_classes:1x100",
  },
  {
    // TensorFlow's form: y1 x1 y2 x2 score of each class.
    families: ["hailo-nms"],
    kind: "packed",
    rows: "any",
    parts: { rows: { see: "map", channels: ["C"], order: "planes", apart: true, name: /nms/i } },
    isNamed: true,
    usual: 5,
    example: "yolov5_nms_postprocess:1x2x5x80",
  },
  {
    // Floats by class: a count, then rows. Bytes by score: a count, then rows with their class.
    families: ["hailo-nms"],
    kind: "packed",
    rows: "any",
    parts: { rows: rows(["X"], { order: "rows", apart: true, name: /nms/i }) },
    isNamed: true,
    classes: null,
    classesIn: hailoClasses,
    usual: 5,
    example: "yolov8_nms_postprocess:1x40080",
  },
];

/** Networks with queries. */
const QUERIES: readonly FormRow[] = [
  {
    families: ["rfdetr"],
    isLastUntrained: true,
    rows: "queries",
    parts: { boxes: inRows([4], { name: /^dets$/ }), scores: inRows(["C"], { name: /^labels$/ }) },
    isNamed: true,
    usual: 3,
    example: "dets:1x300x4 labels:1x300x91",
  },
  {
    families: ["rfdetr"],
    isLastUntrained: true,
    task: "segment",
    rows: "queries",
    parts: {
      boxes: inRows([4], { name: /^dets$/ }),
      scores: inRows(["C"], { name: /^labels$/ }),
      masks: { see: "map", channels: ["X"], apart: true, name: /mask/i },
    },
    isNamed: true,
    usual: 5,
    example: "dets:1x100x4 labels:1x100x91 masks:1x100x78x78",
  },
  {
    families: ["rfdetr"],
    isLastUntrained: true,
    task: "pose",
    rows: "queries",
    parts: {
      boxes: inRows([4], { name: /^dets$/ }),
      scores: inRows(["C"], { name: /^labels$/ }),
      points: { see: "map", channels: [8], apart: true, order: "rows", name: /keypoint/i },
    },
    isNamed: true,
    pointsIn: (_, width, classes) => [width / classes, 3],
    usual: 5,
    example: "dets:1x100x4 labels:1x100x2 keypoints:1x100x17x8",
  },
  {
    families: RTDETR,
    rows: "queries",
    parts: { boxes: inRows([4], { name: BOXES_NAME }), scores: inRows(["C"], { name: LOGITS_NAME }) },
    usual: 2,
    beside: /hidden|encoder|init_ref|intermediate|auxiliary|enc_|corner|dn_|last_/i,
    example: "logits:1x300x80 pred_boxes:1x300x4",
  },
  {
    families: ["detr"],
    kind: "queries and nothing",
    rows: "queries",
    others: 1,
    options: { scores: "softmax-logits" },
    parts: { boxes: inRows([4], { name: BOXES_NAME }), scores: inRows(["C"], { name: LOGITS_NAME }) },
    usual: 1,
    beside: /hidden|encoder|auxiliary/i,
    example: "logits:1x100x92 pred_boxes:1x100x4",
  },
  {
    families: RTDETR,
    task: "segment",
    rows: "queries",
    parts: {
      boxes: inRows([4], { name: BOXES_NAME }),
      scores: inRows(["C"], { name: LOGITS_NAME }),
      masks: { see: "map", channels: ["X"], apart: true, name: /mask/i },
    },
    isNamed: true,
    usual: 4,
    example: "pred_logits:1x300x80 pred_boxes:1x300x4 pred_masks:1x300x160x160",
  },
  {
    families: ["detr"],
    kind: "queries and nothing",
    task: "segment",
    rows: "queries",
    others: 1,
    options: { scores: "softmax-logits" },
    parts: {
      boxes: inRows([4], { name: BOXES_NAME }),
      scores: inRows(["C"], { name: LOGITS_NAME }),
      masks: { see: "map", channels: ["X"], apart: true, name: /mask/i },
    },
    isNamed: true,
    usual: 3,
    example: "logits:1x100x251 pred_boxes:1x100x4 pred_masks:1x100x200x200",
  },
  {
    families: RTDETR,
    rows: "queries",
    parts: { boxes: inRows([4, "C"], { rank: 3 }) },
    counts: [300],
    usual: 1,
    example: "output0:1x300x84",
  },
  {
    // The post-processor of D-FINE and its kin.
    families: RTDETR,
    rows: "list",
    classes: null,
    counts: [300],
    parts: {
      boxes: inRows([4], { name: /^boxes$/, rank: 3 }),
      scores: { see: "list", channels: [], name: /^scores$/ },
      classIds: { see: "list", channels: [], name: /^labels$/ },
    },
    isNamed: true,
    usual: 3,
    example: "labels:1x300 boxes:1x300x4 scores:1x300",
  },
];

/** Networks with priors. */
const PRIORS: readonly FormRow[] = [
  {
    families: ["ssd"],
    rows: "priors",
    others: 1,
    parts: { boxes: rows([4], { order: "rows" }), scores: rows(["C"], { order: "rows" }) },
    beside: /prior|anchor/i,
    usual: 1,
    example: "boxes:1x1917x4 scores:1x1917x91",
  },
  {
    families: ["ultraface"],
    rows: "priors",
    classes: 1,
    parts: { boxes: inRows([4]), scores: inRows([2]) },
    usual: 2,
    example: "scores:1x17640x2 boxes:1x17640x4",
  },
  {
    families: ["efficientdet"],
    rows: "priors",
    parts: { boxes: inRows([4]), scores: inRows(["C"]) },
    usual: 2,
    example: "boxes:1x49104x4 scores:1x49104x90",
  },
];

export const LIST_FORMS: readonly FormRow[] = [...FINISHED, ...QUERIES, ...PRIORS];
