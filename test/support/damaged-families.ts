/** The golden cases of families, each with the options of its user and with the columns of boxes and scores. */
import type { TypedOptions } from "../../src/config/types.ts";
import type { BoxColumns, Columns, ScoreColumns } from "./damages.ts";

export interface FamilyCase extends Partial<Columns> {
  /** Options besides the class count, the input size and the threshold. */
  readonly options: Partial<TypedOptions>;
}

const box = (
  tensor: RegExp,
  axis: BoxColumns["axis"],
  first: number,
  form: BoxColumns["form"],
  unit?: BoxColumns["unit"],
): BoxColumns => ({ tensor, axis, first, form, ...(unit && { unit }) });

const score = (
  tensor: RegExp,
  axis: ScoreColumns["axis"],
  first: number,
  form: ScoreColumns["form"],
  count?: number,
): ScoreColumns => ({ tensor, axis, first, form, ...(count && { count }) });

export const FAMILY_CASES: { readonly [name: string]: FamilyCase } = {
  "rfdetr-coco": {
    options: { family: "rfdetr" },
    boxes: [box(/^dets$/, 1, 0, "cxcywh", "0..1")],
    scores: [score(/^labels$/, 1, 0, "logits")],
  },
  "rfdetr-custom": {
    options: { family: "rfdetr" },
    boxes: [box(/^dets$/, 1, 0, "cxcywh", "0..1")],
    scores: [score(/^labels$/, 1, 0, "logits")],
  },
  "rfdetr-seg": {
    options: { family: "rfdetr", task: "segment" },
    boxes: [box(/^dets$/, 1, 0, "cxcywh", "0..1")],
    scores: [score(/^labels$/, 1, 0, "logits")],
  },
  "rfdetr-keypoints": {
    options: { family: "rfdetr", task: "pose", keypoints: [5, 3] },
    boxes: [box(/^dets$/, 1, 0, "cxcywh", "0..1")],
    scores: [score(/^labels$/, 1, 0, "logits")],
  },
  "dfine-raw": {
    options: { family: "dfine" },
    boxes: [box(/^pred_boxes$/, 1, 0, "cxcywh", "0..1")],
    scores: [score(/^logits$/, 1, 0, "logits")],
  },
  "dfine-post": {
    options: { family: "dfine" },
    boxes: [box(/^boxes$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^scores$/, 1, 0, "probabilities")],
  },
  "rtdetr-ultralytics": {
    options: { family: "rtdetr" },
    boxes: [box(/^output0$/, 1, 0, "cxcywh", "0..1")],
    scores: [score(/^output0$/, 1, 4, "probabilities")],
  },
  "picodet-maps": { options: { family: "picodet" }, scores: [score(/^cls/, 1, 0, "probabilities")] },
  "picodet-boxes": {
    options: { family: "picodet" },
    boxes: [box(/^boxes$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^scores$/, 2, 0, "probabilities")],
  },
  "recorded-picodet": { options: { family: "picodet" } },
  "ppyoloe-maps": { options: { family: "ppyoloe" }, scores: [score(/^score/, 3, 0, "probabilities")] },
  "ppyoloe-rows": {
    options: { family: "ppyoloe" },
    boxes: [box(/^concat$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^concat$/, 1, 4, "probabilities")],
  },
  "rtmdet-maps": {
    options: { family: "rtmdet" },
    boxes: [box(/^bbox/, 3, 0, "distances")],
    scores: [score(/^cls/, 3, 0, "logits")],
  },
  "rtmdet-maps-mmyolo": {
    options: { family: "rtmdet" },
    boxes: [box(/^bbox/, 3, 0, "distances")],
    scores: [score(/^cls/, 3, 0, "logits")],
  },
  "libreyolo-yolo9": {
    options: { family: "yolov9", boxFormat: "xyxy" },
    boxes: [box(/^output$/, 2, 0, "xyxy", "pixels")],
    scores: [score(/^output$/, 2, 4, "probabilities")],
  },
  "damo-yolo": {
    options: { family: "damo-yolo" },
    boxes: [box(/^860$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^output$/, 1, 0, "probabilities")],
  },
  "yolonas-raw": {
    options: { family: "yolo-nas" },
    boxes: [box(/^boxes$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^scores$/, 1, 0, "probabilities")],
  },
  "efficientdet-maps": { options: { family: "efficientdet" }, scores: [score(/^class/, 1, 0, "logits")] },
  "paddle-nms": {
    options: { family: "paddle-nms" },
    boxes: [box(/^multiclass_nms3_0\.tmp_0$/, 1, 2, "xyxy", "pixels")],
    scores: [score(/^multiclass_nms3_0\.tmp_0$/, 1, 1, "probabilities", 1)],
  },
  "mmdeploy-dets": {
    options: { family: "mmdeploy" },
    boxes: [box(/^dets$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^dets$/, 1, 4, "probabilities", 1)],
  },
  "yolonas-flat": {
    options: { family: "yolo-nas" },
    boxes: [box(/^flat_predictions$/, 1, 1, "xyxy", "pixels")],
    scores: [score(/^flat_predictions$/, 1, 5, "probabilities", 1)],
  },
  "yolonas-batch": {
    options: { family: "yolo-nas" },
    boxes: [box(/^pred_boxes$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^pred_scores$/, 1, 0, "probabilities")],
  },
  "yolov7-trt": {
    options: { family: "efficient-nms" },
    boxes: [box(/^det_boxes$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^det_scores$/, 1, 0, "probabilities")],
  },
  imx500: {
    options: { family: "imx500" },
    boxes: [box(/^boxes$/, 1, 0, "yxyx", "pixels")],
    scores: [score(/^scores$/, 1, 0, "probabilities")],
  },
  "hailo-by-class": { options: { family: "hailo-nms" } },
  "hailo-by-score": { options: { family: "hailo-nms" } },
  "hailo-tf": {
    options: { family: "hailo-nms" },
    boxes: [box(/^yolov8_nms_postprocess$/, 2, 0, "yxyx", "0..1")],
    scores: [score(/^yolov8_nms_postprocess$/, 2, 4, "probabilities", 1)],
  },
  "yolov7-end2end": {
    options: { family: "yolov7" },
    boxes: [box(/^output$/, 1, 1, "xyxy", "pixels")],
    scores: [score(/^output$/, 1, 6, "probabilities", 1)],
  },
  "fomo-f32": {
    options: { family: "fomo" },
    scores: [score(/^StatefulPartitionedCall:0$/, 1, 0, "probabilities")],
  },
  "fomo-i8": { options: { family: "fomo" } },
  "recorded-fomo": { options: { family: "fomo" } },
  centernet: { options: { family: "centernet" }, scores: [score(/^hm$/, 3, 0, "logits")] },
  "face-det-lite": {
    options: { family: "face-det-lite" },
    boxes: [box(/^bbox$/, 3, 0, "distances")],
    scores: [score(/^heatmap$/, 3, 0, "logits")],
  },
  maskrcnn: {
    options: { family: "mask-rcnn", coordinates: "pixels" },
    boxes: [box(/^boxes$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^scores$/, 1, 0, "probabilities")],
  },
  "rtmdet-ins": {
    options: { family: "rtmdet-ins" },
    boxes: [box(/^dets$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^dets$/, 1, 4, "probabilities", 1)],
  },
  "dbnet-text": {
    options: { family: "dbnet" },
    scores: [score(/^sigmoid_0\.tmp_0$/, 1, 0, "probabilities")],
  },
  "recorded-ppocr": {
    options: { family: "dbnet" },
    scores: [score(/^sigmoid_0\.tmp_0$/, 1, 0, "probabilities")],
  },
  rtmo: {
    options: { family: "rtmo" },
    boxes: [box(/^dets$/, 1, 0, "xyxy", "pixels")],
    scores: [score(/^dets$/, 1, 4, "probabilities", 1)],
  },
  "rtmpose-simcc": { options: { family: "rtmpose" } },
  "heatmaps-hrnet": { options: { family: "hrnet" } },
  "mediapipe-face-mesh": { options: { family: "face-mesh" } },
  "recorded-face-mesh": { options: { family: "face-mesh" } },
  "mediapipe-hand": { options: { family: "hand-landmarks" } },
  "mediapipe-pose": { options: { family: "pose-landmarks" } },
  "recorded-pose": { options: { family: "pose-landmarks" } },
};
