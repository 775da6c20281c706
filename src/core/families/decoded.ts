/** Families whose networks decode their boxes, and families with maps or scores that a task reads. */
import { IMAGENET_BGR, IMAGENET_RGB, STRETCH, decoded } from "./shared.ts";
import type { Family, FamilyTraits } from "../family.ts";

const FINISHED_EXPORTS = ["finished-rows"] as const;

export const DECODED_FAMILIES = {
  mmdeploy: /* @__PURE__ */ decoded({
    exports: FINISHED_EXPORTS,
    finishedRows: ["box-score-labels", "end-to-end"],
    title: "MMDeploy",
    word: /mmdeploy/,
  }),
  // The network divides its boxes by its input "scale_factor", so the boxes are in pixels of the photo.
  "paddle-nms": /* @__PURE__ */ decoded({
    exports: FINISHED_EXPORTS,
    finishedRows: ["class-score-box"],
    finishedIn: "photo",
    title: "PaddleDetection with NMS",
    word: /paddle[-_]?nms/,
  }),
  "efficient-nms": /* @__PURE__ */ decoded({
    exports: ["postprocess"],
    finishedFormat: "xyxy",
    hasCount: true,
    // NVIDIA/TensorRT issues 1758 and 2903.
    mayLackOne: true,
    title: "TensorRT's EfficientNMS",
    word: /efficient[-_]?nms/,
  }),
  "hailo-nms": /* @__PURE__ */ decoded({
    exports: FINISHED_EXPORTS,
    coordinates: "normalised",
    finishedRows: ["end-to-end"],
    finishedFormat: "yxyx",
    packed: "hailo",
    title: "HailoRT's NMS",
    word: /hailo/,
    typedOnly: true,
  }),
  imx500: /* @__PURE__ */ decoded({
    exports: ["postprocess"],
    finishedFormat: "yxyx",
    hasCount: true,
    title: "Sony IMX500",
    word: /imx500/,
    typedOnly: true,
  }),
  boxes: /* @__PURE__ */ decoded({
    exports: ["boxes-scores", "postprocess", "finished-rows"],
    finishedRows: [
      "image-box-class-score",
      "image-box-score-class",
      "detection-output",
      "end-to-end",
      "class-score-box",
      "class-box-score",
      "box-score-labels",
    ],
  }),
  // torchvision, models/detection/transform.py and roi_heads.py: pictures are not resized before the network, and class
  // 0 is the background.
  "mask-rcnn": /* @__PURE__ */ decoded({
    rowMasks: "box",
    cocoOwnIds: true,
    task: "segment",
    title: "Mask R-CNN",
    word: /mask[-_ ]?r[-_ ]?cnn/,
    threshold: 0.05,
    prepare: STRETCH,
  }),
  // open-mmlab/mmdeploy, codebase/mmdet: dets, labels and masks of the input's size.
  "rtmdet-ins": /* @__PURE__ */ decoded({
    rowMasks: "input",
    task: "segment",
    title: "RTMDet-Ins (mmdeploy)",
    word: /rtmdet[-_ ]?ins/,
    threshold: 0.3,
    prepare: {
      resize: "letterbox-topleft",
      pad: 114,
      order: "BGR",
      ...IMAGENET_BGR,
    },
  }),
  // The network gives class scores of the whole picture, so the box is the whole picture.
  classifier: /* @__PURE__ */ decoded({
    exports: ["class-scores"],
    coordinates: "normalised",
    title: "classification",
    rules: { suppress: "none", multiLabel: true },
    threshold: 0,
    defaults: { maxDetections: 5 },
    prepare: {
      resize: "crop",
      ...IMAGENET_RGB,
    },
  }),
  // PaddleOCR, ppocr/postprocess/db_postprocess.py and configs/det.
  dbnet: /* @__PURE__ */ decoded({
    classes: 1,
    coordinates: "normalised",
    className: "text",
    title: "DBNet, PaddleOCR text detection",
    task: "text",
    rules: { gate: ">=", suppress: "none", clamp: "none" },
    threshold: 0.6,
    word: /(^|[^a-z])db-?net|pp-?ocr.*det|ocr_?v\d.*det|text[-_ ]?det/,
    prepare: {
      resize: "stretch",
      order: "BGR",
      ...IMAGENET_RGB,
    },
  }),
  // Edge Impulse, ei_postprocessing_common.h and ei_fill_result_struct.h: the network contains the softmax, and a cell
  // passes if value >= 0.5.
  fomo: /* @__PURE__ */ decoded({
    background: "first",
    idsLeaveOutBackground: true,
    title: "FOMO (Edge Impulse)",
    task: "peaks",
    peaks: { form: "cells", stride: null },
    rules: { gate: ">=", suppress: "none", multiLabel: true },
    threshold: 0.5,
    word: /(^|[^a-z])fomo([^a-z]|$)/,
    prepare: { resize: "crop", layout: "NHWC" },
  }),
  // xingyizhou/CenterNet, models/decode.py ctdet_decode and detectors/base_detector.py.
  centernet: /* @__PURE__ */ decoded({
    raw: "logits",
    archived: "logits",
    title: "CenterNet",
    task: "peaks",
    peaks: { form: "centres", stride: 4 },
    rules: { suppress: "none", multiLabel: true },
    threshold: 0.3,
    word: /centernet/,
    prepare: {
      pad: 0,
      order: "BGR",
      mean: [104.04, 113.985, 119.85],
      std: [73.695, 69.87, 70.89],
    },
  }),
  // quic/ai-hub-models, models/face_det_lite/utils.py detect.
  "face-det-lite": /* @__PURE__ */ decoded({
    raw: "logits",
    archived: "logits",
    classes: 1,
    className: "face",
    title: "face_det_lite (Qualcomm)",
    task: "peaks",
    peaks: { form: "faces", stride: 8 },
    rules: { gate: ">=", pixelOffset: 1 },
    threshold: 0.2,
    defaults: { iouThreshold: 0.2 },
    word: /face[-_ ]?det[-_ ]?lite/,
    prepare: { pad: 0 },
  }),
} as const satisfies { readonly [F in Family]?: FamilyTraits };
