/** Families with feature maps that are decoded by anchors, cells, points or distances: YOLO and similar networks. */
import { IMAGENET_BGR, IMAGENET_RGB, STRETCH } from "./shared.ts";
import type { Family, FamilyTraits } from "../family.ts";

const ANCHOR_EXPORTS = ["anchor-maps", "objectness-rows"] as const;

const POINT_EXPORTS = ["point-maps", "point-rows"] as const;

const DISTANCE_EXPORTS = ["class-rows", "distance-maps", "end-to-end"] as const;

// Preparation for networks of PaddleDetection. Their configs say `interp: 2`, which is INTER_CUBIC.
const PADDLE = {
  resize: "stretch",
  resample: "cubic",
  ...IMAGENET_RGB,
} as const;

/** Returns the traits of a YOLO with anchors. `version` is the version number in names, such as "5" in yolov5s. */
const anchored = (version: string, more: Partial<FamilyTraits>): FamilyTraits => ({
  head: "anchor",
  exports: ANCHOR_EXPORTS,
  raw: "logits",
  version,
  ...more,
});

/** Returns the traits of a YOLO with the tensors of YOLOv8. `version` is the number in names such as yolo11n. */
const kinOfV8 = (version: string, more: Partial<FamilyTraits> = {}): FamilyTraits => ({
  head: "distance",
  exports: DISTANCE_EXPORTS,
  raw: "logits",
  like: "yolov8",
  version,
  ...more,
});

export const MAP_FAMILIES = {
  yolov2: /* @__PURE__ */ anchored("2", {
    archived: "logits",
    softmax: true,
    anchorUnit: "cells",
    oneMap: true,
    prepare: STRETCH,
  }),
  yolov3: /* @__PURE__ */ anchored("3", {
    archived: "logits",
    subtypes: ["yolov3", "yolov3-tiny"],
    prepare: STRETCH,
  }),
  yolov4: /* @__PURE__ */ anchored("4", {
    archived: "logits",
    // onnx/models, yolov4: the network ends before the sigmoid of x and y, but after the sigmoid of the scores.
    scoresInCells: "probabilities",
    like: "yolov3",
    subtypes: ["yolov4", "yolov4-tiny"],
    prepare: STRETCH,
  }),
  yolov5: /* @__PURE__ */ anchored("5", {
    squareSize: true,
    suggested: 2,
    extraChannels: "rows",
    subtypes: ["yolov5", "yolo-p"],
  }),
  yolov7: /* @__PURE__ */ anchored("7", {
    exports: ["anchor-maps", "objectness-rows", "finished-rows"],
    finishedRows: ["image-box-class-score"],
    squareSize: true,
    like: "yolov5",
    subtypes: ["yolov7"],
  }),
  // The exporters of YOLOv6 r1 and YOLOX include the sigmoid of objectness and classes in the network.
  yolov6r1: {
    head: "point",
    exports: POINT_EXPORTS,
    raw: "probabilities",
    objectness: "gate",
    like: "yolox",
    // Since depthai-core #1911, "yolov6" means the first release in archives and on the device.
    subtypes: ["yolov6", "yolov6r1"],
  },
  yolox: {
    head: "point",
    exports: POINT_EXPORTS,
    raw: "probabilities",
    suggested: 4,
    word: /yolo[-_]?x/,
    prepare: { resize: "letterbox-topleft", order: "BGR", std: 1 },
  },
  // Releases 2, 3 and 4 of YOLOv6. The exporter writes a constant objectness of 1 into rows.
  yolov6: {
    head: "distance",
    exports: ["class-rows", "objectness-rows", "distance-maps", "end-to-end"],
    raw: "logits",
    like: "yolov8",
    title: "yolov6 (r2 and later)",
    subtypes: ["yolov6r2", "yolo-gold"],
  },
  yolov8: {
    head: "distance",
    exports: DISTANCE_EXPORTS,
    raw: "logits",
    suggested: 1,
    extraChannels: "planes",
    version: "8",
    // Subtypes that end with "-u" are anchor-free versions of older networks.
    subtypes: ["yolov8", "yolov8n", "yolov3-u", "yolov3-tinyu", "yolov5-u"],
  },
  yolov9: /* @__PURE__ */ kinOfV8("9", { subtypes: ["yolov9"] }),
  yolov10: /* @__PURE__ */ kinOfV8("10", { endToEnd: true, subtypes: ["yolov10"] }),
  yolo11: /* @__PURE__ */ kinOfV8("11", { subtypes: ["yolov11"] }),
  yolo12: /* @__PURE__ */ kinOfV8("12", { subtypes: ["yolov12"] }),
  yolov13: /* @__PURE__ */ kinOfV8("13"),
  yolo26: /* @__PURE__ */ kinOfV8("26", {
    exports: ["class-rows", "corner-rows", "distance-maps", "end-to-end"],
    endToEnd: true,
    angle: "radians",
    queriesLike: "rtdetr",
    subtypes: ["yolo26"],
  }),
  nanodet: {
    head: "distance",
    exports: ["distance-maps"],
    raw: "probabilities",
    classesFirst: true,
    bins: 8,
    ownBins: true,
    // NanoDet has maps at strides 8, 16, 32. NanoDet-Plus has a fourth map at stride 64. With four maps, distances
    // count from the upper left corner of a cell, not from its centre: RangiLyu/nanodet, nanodet_plus_head.py,
    // get_single_level_center_priors.
    corner: 4,
    word: /nanodet/,
    prepare: {
      resize: "stretch",
      order: "BGR",
      ...IMAGENET_BGR,
    },
  },
  // PaddleDetection, heads/pico_head.py, and configs/picodet/_base_: `interp: 2` is cv2.INTER_CUBIC. Before 2022, the
  // demos used BGR.
  picodet: {
    head: "distance",
    exports: ["distance-maps", "class-rows", "finished-rows"],
    finishedRows: ["class-score-box"],
    finishedIn: "photo",
    raw: "probabilities",
    bins: 8,
    ownBins: true,
    decodedFormat: "xyxy",
    title: "PicoDet",
    word: /pico-?det/,
    prepare: PADDLE,
  },
  // PaddleDetection, heads/ppyoloe_head.py, and configs/ppyoloe/_base_ with `interp: 2`, as for PicoDet. PP-YOLOE+ only
  // divides pixels by 255.
  ppyoloe: {
    head: "distance",
    exports: ["class-rows", "distance-maps", "finished-rows"],
    finishedRows: ["class-score-box"],
    finishedIn: "photo",
    raw: "probabilities",
    bins: 17,
    decodedFormat: "xyxy",
    title: "PP-YOLOE",
    word: /pp-?yolo-?e/,
    prepare: PADDLE,
  },
  // In mmdetection, dense_heads/rtmdet_head.py, the network itself multiplies distances by the stride; in mmyolo, the
  // post-processing does.
  rtmdet: {
    head: "distance",
    exports: ["distance-maps"],
    raw: "logits",
    corner: true,
    mayBePixels: true,
    title: "RTMDet",
    word: /rtm-?det(?![-_ ]?ins)/,
    prepare: {
      resize: "letterbox-topleft",
      order: "BGR",
      ...IMAGENET_BGR,
    },
  },
  // tinyvision/DAMO-YOLO, base_models/heads/zero_head.py. The network decodes its boxes. dataset/datasets/coco.py
  // trains on RGB of 0..255. tools/demo.py uses RGB for pictures, and BGR for videos.
  "damo-yolo": {
    head: "distance",
    exports: ["class-rows"],
    raw: "probabilities",
    decodedFormat: "xyxy",
    title: "DAMO-YOLO",
    word: /damo[-_]?yolo/,
    prepare: { resize: "stretch", std: 1 },
  },
  // Deci-AI/super-gradients, dfl_heads.py. The network decodes its boxes. training/processing/processing.py,
  // default_yolo_nas_coco_processing_params: RGB, long side 636, centred in 640 with padding 114, / 255.
  "yolo-nas": {
    head: "distance",
    exports: ["class-rows", "finished-rows", "postprocess"],
    raw: "probabilities",
    decodedFormat: "xyxy",
    finishedRows: ["image-box-score-class", "class-box-score"],
    finishedFormat: "xyxy",
    hasCount: true,
    title: "YOLO-NAS",
    word: /yolo[-_]?nas/,
    prepare: { margin: 4 },
  },
  fastestdet: {
    head: "cell",
    exports: ["cell-maps"],
    raw: "probabilities",
    objectness: "power",
    word: /fastestdet/,
    prepare: { resize: "stretch", order: "BGR" },
  },
} as const satisfies { readonly [F in Family]?: FamilyTraits };
