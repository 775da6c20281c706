/** Forms of finished lists: one row for each detection. */
import { HAILO_ROOMS } from "../whole.ts";
import type { FormRow, PartRow } from "../form.ts";
import { FINISHED } from "../ways.ts";
import { finished, form, inRows, LABELS, list, MASKS, PROTOTYPES, value } from "./parts.ts";

const COUNT: PartRow = value({ name: /num|count|tile|nms|_3$|:3$|\[:\]$/i });
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

/** Boxes, scores and class ids, identified by the names of the tensors. */
const NAMED = {
  boxes: inRows([4], { name: /box/i, role: "boxes" }),
  scores: list(/score|conf/i, "scores"),
  classIds: list(/label|class/i, "classIds"),
} as const;

/** Boxes, scores and class ids without usual names, in the order of common exporters. */
const ORDERED = {
  boxes: inRows([4], { rank: 3, role: "boxes" }),
  scores: { see: "list", channels: [], role: "scores" },
  classIds: { see: "list", channels: [], role: "classIds" },
} as const;
const COUNTED = value({ role: "count" });

/** Boxes, scores and class ids without names, as torchvision exports them. Only class ids have an integer type. */
const TYPED = {
  boxes: inRows([4], { rank: 2, role: "boxes" }),
  classIds: { see: "list", channels: [], rank: 1, holdsIds: true, role: "classIds" },
  scores: { see: "list", channels: [], rank: 1, role: "scores" },
} as const;

/** Size of the picture, which Detectron2 outputs too. No decoder reads it. */
const IMAGE_SIZE = inRows([2], { rank: 1, apart: true, isOptional: true, holdsIds: true });

/** Returns the class count of a HailoRT buffer. Returns `null` if the length fits no usual limit of detections. */
function hailoClasses(length: number, type: string | null): number | null {
  if (type !== "f32" && type !== "f16") return null;
  const room = HAILO_ROOMS.find((most) => length % (1 + 5 * most) === 0);
  return room === undefined ? null : length / (1 + 5 * room);
}

export const FINISHED_FORMS: readonly FormRow[] = [
  finished(END_TO_END, { rows: inRows([FINISHED], { rank: 3 }) }, 3, "output0:1x300x6"),
  finished(
    ["paddle-nms", "ppyoloe", "picodet"],
    { rows: inRows([FINISHED], { rank: 2 }) },
    1,
    "multiclass_nms3_0.tmp_0:100x6",
  ),
  finished(
    ["paddle-nms", "ppyoloe", "picodet"],
    {
      rows: inRows([FINISHED], { name: /nms|tmp|fetch|concat|reshape|scale_0/i }),
      count: { ...COUNT, name: /nms|tmp|fetch|num|count|scale_1/i },
    },
    5,
    "multiclass_nms3_0.tmp_0:100x6 multiclass_nms3_0.tmp_2:1",
    // Allow, but do not read, the masks of Mask R-CNN.
    { beside: /mask|tmp|fetch_name_2|scale_2/i },
  ),
  finished(["boxes"], { rows: inRows([FINISHED], { rank: 2 }) }, 0, "output:100x6", {
    options: { reading: "end-to-end" },
  }),
  finished(["yolov7"], { rows: inRows([7], { rank: 2 }) }, 2, "output:100x7"),
  // super-gradients' flat format.
  finished(
    ["yolo-nas"],
    { rows: inRows([7], { rank: 2, name: /flat_pred/i }) },
    3,
    "graph2_flat_predictions:100x7",
    { isNamed: true },
  ),
  // The index of the image stands where other rows have the class.
  finished(
    ["yolo-nas"],
    { rows: inRows([FINISHED, "P"], { rank: 2, name: /flat_pred/i }) },
    3,
    "graph2_flat_predictions:100x57",
    { task: "pose", classes: 1, isNamed: true, options: { reading: "class-box-score" } },
  ),
  // Allow a second output: TensorRT's plugin also outputs the count of detections.
  finished(["ssd-detection-output"], { rows: inRows([7], { rank: 4 }) }, 4, "detection_out:1x1x100x7", {
    beside: /^NMS_1$|count$/i,
  }),
  finished(
    ["ssd-detection-output"],
    { rows: inRows([7], { rank: 2, name: /do|detection/i }) },
    1,
    "reshape_do_2d:100x7",
  ),
  finished(["efficientdet"], { rows: inRows([7], { rank: 3, name: /detection/i }) }, 1, "detections:1x100x7"),
  finished(["boxes"], { rows: inRows([7], { rank: 2 }) }, 0, "output:100x7"),
  // PINTO's exports name the columns in the tensor's name. The row count is the query count, which may be any.
  form(
    "any",
    ["boxes"],
    { rows: inRows([FINISHED], { name: /^label_xyxy_score$/ }) },
    4,
    "label_xyxy_score:1x1240x6",
    {
      classes: null,
      isNamed: true,
      beside: /^masks$/,
      options: { reading: "class-box-score", coordinates: "normalised" },
    },
  ),
  finished(["yolo26", "yolov8", "yolo11"], { rows: inRows([7], { rank: 3 }) }, 3, "output0:1x300x7", {
    task: "oriented",
  }),
  finished(
    ["yolo26", "yolov10", "yolov8", "yolo11"],
    { prototypes: PROTOTYPES, rows: inRows([FINISHED, "M"]) },
    4,
    "output0:1x300x38 output1:1x32x160x160",
    { task: "segment" },
  ),
  finished(
    ["yolo26", "yolov8", "yolo11"],
    { rows: inRows([FINISHED, "P"], { rank: 3 }) },
    2,
    "output0:1x300x57",
    {
      task: "pose",
    },
  ),
  finished(
    ["mmdeploy"],
    {
      rows: inRows([5], { name: /det|box/i }),
      classIds: LABELS,
    },
    3,
    "dets:1x100x5 labels:1x100",
    // Allow, but do not read, the masks of Mask R-CNN's boxes and the explanations that Intel's exporter adds.
    { areKnownNames: true, beside: /^masks$|^feature_vector$|^saliency_map$/i },
  ),
  // One class: a list without class ids.
  finished(["mmdeploy"], { rows: inRows([5], { name: /det|box/i }) }, -1, "dets:1x100x5", { classes: 1 }),
  finished(
    ["mmdeploy"],
    {
      rows: inRows([FINISHED], { name: /det|box/i }),
      classIds: LABELS,
    },
    4,
    "dets:1x100x6 labels:1x100",
    { task: "oriented" },
  ),
  finished(
    ["rtmdet-ins"],
    {
      rows: inRows([5], { name: /det|box/i }),
      classIds: LABELS,
      masks: MASKS,
    },
    5,
    "dets:1x100x5 labels:1x100 masks:1x100x640x640",
    { task: "segment", kind: "masks of the picture", isNamed: true },
  ),
  finished(
    ["mask-rcnn"],
    {
      rows: inRows([5], { name: /det|box/i }),
      classIds: LABELS,
      masks: MASKS,
    },
    6,
    "dets:1x100x5 labels:1x100 masks:1x100x28x28",
    { task: "segment", kind: "masks of boxes", isNamed: true, beside: /seg$|feature|saliency/i },
  ),
  // Allow `image_size`, which Detectron2 also outputs.
  finished(
    ["mask-rcnn"],
    {
      ...NAMED,
      masks: MASKS,
    },
    6,
    "boxes:20x4 labels:20 scores:20 masks:20x1x480x640",
    { task: "segment", isNamed: true, beside: /^image_size$/i },
  ),
  // torchvision, and TensorFlow's Object Detection API except TFLite: class id 0 is the background. Allow, but do not
  // read, the keypoints of Keypoint R-CNN and Detectron2's `image_size`.
  finished(["boxes"], NAMED, 2, "boxes:100x4 labels:100 scores:100", {
    isNamed: true,
    beside: /^keypoint|^image_size$/i,
  }),
  // Detectors of one class, such as DeepLabCut's.
  finished(
    ["boxes"],
    { boxes: { ...NAMED.boxes, rank: 2 }, scores: { ...NAMED.scores, rank: 1 } },
    5,
    "boxes:100x4 scores:100",
    { classes: 1, isNamed: true },
  ),
  finished(
    ["boxes"],
    {
      boxes: inRows([4], { name: /detection_boxes/i, role: "boxes" }),
      scores: list(/detection_scores/i, "scores"),
      classIds: list(/detection_classes/i, "classIds"),
      count: value({ name: /num_detections/i, role: "count" }),
    },
    6,
    "detection_boxes:1x100x4 detection_classes:1x100 detection_scores:1x100 num_detections:1",
    {
      isNamed: true,
      options: { boxFormat: "yxyx", coordinates: "normalised" },
      beside: /^raw_|multiclass|anchor_indices|mask|keypoint/i,
    },
  ),
  // The same outputs of TensorFlow's Object Detection API, numbered in the order of the alphabet.
  finished(
    ["boxes"],
    {
      anchorIndices: list(/^Identity$|[:_]0$/),
      boxes: inRows([4], { name: /[:_]1$/, role: "boxes" }),
      classIds: list(/[:_]2$/, "classIds"),
      scoresOfAll: inRows(["X"], { name: /[:_]3$/ }),
      scores: list(/[:_]4$/, "scores"),
      count: value({ name: /[:_]5$/, role: "count" }),
      rawBoxes: inRows([4], { name: /[:_]6$/, apart: true }),
      rawScores: inRows(["X"], { name: /[:_]7$/, apart: true }),
    },
    6,
    "Identity:1x100 Identity_1:1x100x4 Identity_2:1x100 Identity_3:1x100x91 Identity_4:1x100 Identity_5:1 " +
      "Identity_6:1x51150x4 Identity_7:1x51150x91",
    { isNamed: true, options: { boxFormat: "yxyx", coordinates: "normalised" } },
  ),
  finished(
    ["efficient-nms"],
    {
      count: value({ name: /^num|valid|count/i, role: "count" }),
      boxes: inRows([4], { name: /det|box/i, role: "boxes" }),
      scores: list(/score/i, "scores"),
      classIds: list(/class|label/i, "classIds"),
    },
    4,
    "num_dets:1x1 det_boxes:1x100x4 det_scores:1x100 det_classes:1x100",
    { isNamed: true, beside: /indice|mask/i },
  ),
  // TAO gives the outputs of TensorRT's older plugin numbered names, in the order of the outputs.
  finished(
    ["efficient-nms"],
    {
      count: value({ name: /^BatchedNMS$/i, role: "count" }),
      boxes: inRows([4], { name: /^BatchedNMS_1$/i, role: "boxes" }),
      scores: list(/^BatchedNMS_2$/i, "scores"),
      classIds: list(/^BatchedNMS_3$/i, "classIds"),
    },
    4,
    "BatchedNMS:1x1 BatchedNMS_1:1x200x4 BatchedNMS_2:1x200 BatchedNMS_3:1x200",
    { isNamed: true },
  ),
  finished(
    ["tflite-postprocess", "imx500"],
    {
      boxes: inRows([4], { name: /PostProcess$|PartitionedCall:[13]$/i }),
      classIds: { ...list(/[:_]1$|:0$|class|label/i, "classIds"), isFloat: true },
      scores: list(/[:_]2$|score/i, "scores"),
      count: value({ name: /[:_]3$|:2$/, isFloat: true }),
    },
    3,
    "a:1x20x4 a:1:1x20 a:2:1x20 a:3:1",
    { areKnownNames: true },
  ),
  // Output names of TensorFlow Lite's task library.
  finished(
    ["tflite-postprocess"],
    {
      boxes: inRows([4], { name: /^location/i, role: "boxes" }),
      classIds: list(/^categor/i, "classIds"),
      scores: list(/^score/i, "scores"),
      count: value({ name: /^num/i, role: "count" }),
    },
    5,
    "location:1x20x4 category:1x20 score:1x20 number:1",
    { isNamed: true },
  ),
  // Outputs of Sony's converter: boxes, scores, class ids, count.
  finished(
    ["imx500", "tflite-postprocess"],
    {
      boxes: inRows([4], { name: /PartitionedCall:0$/i, role: "boxes" }),
      scores: list(/PartitionedCall:1$/i, "scores"),
      classIds: list(/PartitionedCall:2$/i, "classIds"),
      count: value({ name: /PartitionedCall:3$/i, role: "count" }),
    },
    3,
    "StatefulPartitionedCall:0:1x300x4 StatefulPartitionedCall:1:1x300 StatefulPartitionedCall:2:1x300 " +
      "StatefulPartitionedCall:3:1",
    { isNamed: true },
  ),
  // TensorFlow 2 lists scores, boxes, count and class ids in this order.
  finished(
    ["tflite-postprocess"],
    {
      scores: list(/PartitionedCall/i, "scores"),
      boxes: inRows([4], { name: /PartitionedCall/i, role: "boxes" }),
      count: value({ name: /PartitionedCall/i, role: "count" }),
      classIds: list(/PartitionedCall/i, "classIds"),
    },
    5,
    "StatefulPartitionedCall:0:1x10 StatefulPartitionedCall:1:1x10x4 StatefulPartitionedCall:2:1 " +
      "StatefulPartitionedCall:3:1x10",
    { isNamed: true, isInOrder: true },
  ),
  // Signatures of TensorFlow 2: count, scores, class ids, boxes.
  finished(
    ["tflite-postprocess", "imx500"],
    {
      boxes: inRows([4], { name: /[:_]3$/, role: "boxes" }),
      classIds: list(/[:_]2$/, "classIds"),
      scores: list(/[:_]1$/, "scores"),
      count: value({ name: /[:_]0$/ }),
    },
    4,
    "a:3:1x20x4 a:2:1x20 a:1:1x20 a:0:1",
    { isNamed: true },
  ),
  // torchvision and Detectron2 without names: the class ids are the tensor of an integer type.
  finished(
    ["mask-rcnn"],
    {
      ...TYPED,
      masks: { see: "map", channels: [1], apart: true, rank: 4 },
      imageSize: IMAGE_SIZE,
    },
    4,
    "6568:100x4 6570:100:i64 6572:100 6887:100x1x28x28",
    { task: "segment" },
  ),
  finished(["boxes"], { ...TYPED, imageSize: IMAGE_SIZE }, 3, "6379:100x4 6381:100:i64 6383:100"),
  finished(["boxes"], ORDERED, 2, "a:1x100x4 b:1x100 c:1x100", { isInOrder: true }),
  finished(["efficient-nms"], { count: COUNTED, ...ORDERED }, 4, "a:1x1 b:1x100x4 c:1x100 d:1x100", {
    isInOrder: true,
  }),
  // Boxes, scores and class ids in any order, from the post-processor of D-FINE. Only the class ids are integers.
  finished(
    ["boxes"],
    { ...ORDERED, classIds: { ...ORDERED.classIds, holdsIds: true } },
    2,
    "a:1x100:i64 b:1x100x4 c:1x100",
  ),
  // Propose both families: names, types and order do not show which list holds scores and which class ids.
  ...(["efficient-nms", "tflite-postprocess"] as const).map((family) =>
    finished([family], { ...ORDERED, count: COUNTED }, 1, "a:1x10 b:1x10x4 c:1 d:1x10"),
  ),
  // TensorFlow's combined_non_max_suppression, and outputs of Sony's converter without names.
  finished(
    ["efficient-nms"],
    { ...ORDERED, count: { ...COUNTED, holdsIds: true } },
    3,
    "Identity:1x100x4 Identity_1:1x100 Identity_2:1x100 Identity_3:1:i32",
    { isInOrder: true },
  ),
  finished(["boxes"], { ...ORDERED, points: inRows(["P"]) }, 3, "a:1x300x4 b:1x300 c:1x300 d:1x300x51", {
    task: "pose",
    isInOrder: true,
  }),
  // super-gradients' batch format of YOLO-NAS-Pose. Decoders may ignore the count: rows beyond it have a score of 0.
  finished(
    ["yolo-nas"],
    {
      boxes: inRows([4], { name: /box/i }),
      scores: list(/score/i),
      points: inRows(["P"], { rank: 4, name: /joint|pose/i }),
    },
    5,
    "num_predictions:1x1 pred_boxes:1x1000x4 pred_scores:1x1000 pred_joints:1x1000x17x3",
    { task: "pose", classes: 1, isNamed: true, beside: /num_/i },
  ),
  // Keypoints or mask coefficients of the kept boxes, as exporters for Sony's IMX500 write them.
  finished(
    ["boxes"],
    { ...NAMED, points: inRows(["P"], { name: /keypoint|kpt|joint|pose/i }) },
    5,
    "boxes:1x300x4 scores:1x300 labels:1x300 keypoints:1x300x51",
    { task: "pose", isNamed: true },
  ),
  finished(
    ["boxes"],
    { prototypes: PROTOTYPES, ...NAMED, coefficients: inRows(["M"], { name: /coef|mask|^mc/i }) },
    5,
    "boxes:1x300x4 scores:1x300 labels:1x300 mask_coeffs:1x300x32 protos:1x32x160x160",
    { task: "segment", isNamed: true },
  ),
  // Core ML's layer of non-maximum suppression.
  form(
    "any",
    ["boxes"],
    {
      boxes: inRows([4], { name: /^coordinates$/, role: "boxes" }),
      scores: inRows(["C"], { name: /^confidence$/, role: "scores" }),
    },
    6,
    "confidence:100x80 coordinates:100x4",
    { isNamed: true, options: { boxFormat: "cxcywh", coordinates: "normalised" } },
  ),
  finished(
    ["yolo-nas"],
    {
      count: value({ name: /num_pred/i }),
      boxes: inRows([4], { name: /pred_boxes/i }),
      scores: list(/pred_scores/i),
      classIds: list(/pred_classes/i),
    },
    6,
    "num_predictions:1x1 pred_boxes:1x100x4 pred_scores:1x100 pred_classes:1x100",
    { isNamed: true },
  ),
  // HailoRT's buffer in TensorFlow's layout: rows of y1, x1, y2, x2 and score for each class.
  form(
    "any",
    ["hailo-nms"],
    { rows: { see: "map", channels: ["C"], order: "planes", apart: true, name: /nms/i } },
    5,
    "yolov5_nms_postprocess:1x2x5x80",
    { kind: "packed", isNamed: true },
  ),
  form(
    "any",
    ["hailo-nms"],
    { rows: { see: "map", channels: ["C"], order: "planes", apart: true } },
    1,
    "output:1x80x5x100",
    { kind: "packed" },
  ),
  // A HailoRT buffer: as floats, a count and rows for each class; as bytes, one count, then rows with class ids.
  form(
    "any",
    ["hailo-nms"],
    { rows: inRows(["X"], { apart: true, name: /nms/i }) },
    5,
    "yolov8_nms_postprocess:1x40080",
    { kind: "packed", isNamed: true, classes: null, classesIn: hailoClasses },
  ),
];
