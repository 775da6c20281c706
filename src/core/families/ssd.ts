/** Families with prior boxes, and families whose SSD networks output finished lists. */
import { blazeface, efficientdet, ultraface } from "../built-priors.ts";
import { decoded } from "./shared.ts";
import type { Family, FamilyTraits } from "../family.ts";

// Preparation for SSD networks of TensorFlow.
const SIGNED = { resize: "stretch", layout: "NHWC", mean: 127.5, std: 127.5 } as const;

export const SSD_FAMILIES = {
  ssd: {
    head: "prior",
    exports: ["prior-rows", "detection-output"],
    cocoOwnIds: true,
    raw: "probabilities",
    classes: "in shapes",
    background: "first",
    coordinates: "normalised",
    scaledOrder: "cycxhw",
    prepare: SIGNED,
  },
  // google/automl, efficientdet/tf2/anchors.py. The authors use soft suppression.
  efficientdet: {
    head: "prior",
    exports: ["prior-maps", "prior-rows", "finished-rows"],
    cocoOwnIds: true,
    finishedRows: ["image-box-score-class"],
    finishedFormat: "yxyx",
    raw: "logits",
    variances: [1, 1, 1, 1],
    priorFormat: "cxcywh",
    buildPriors: efficientdet,
    title: "EfficientDet",
    word: /efficientdet/,
    prepare: {
      resize: "letterbox-topleft",
      // dataloader.py pads with 0 after normalising, which equals padding with the mean before.
      pad: [123.675, 116.28, 103.53],
      layout: "NHWC",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  },
  "ssd-detection-output": /* @__PURE__ */ decoded({
    exports: ["detection-output"],
    cocoOwnIds: true,
    background: "first",
    coordinates: "normalised",
    like: "ssd",
    prepare: SIGNED,
  }),
  "tflite-postprocess": /* @__PURE__ */ decoded({
    exports: ["postprocess"],
    cocoOwnIds: true,
    background: "first",
    idsLeaveOutBackground: true,
    unclamped: true,
    coordinates: "normalised",
    finishedFormat: "yxyx",
    suggested: 3,
    prepare: SIGNED,
  }),
  blazeface: {
    head: "prior",
    exports: ["prior-rows"],
    raw: "logits",
    linearSize: true,
    classes: 1,
    keypoints: true,
    offsetUnit: "pixels",
    priorFormat: "cxcywh",
    buildPriors: blazeface,
    className: "face",
    word: /blazeface/,
    prepare: { pad: 0, layout: "NHWC", mean: 127.5, std: 127.5 },
  },
  ultraface: {
    head: "prior",
    exports: ["offsets-or-boxes"],
    raw: "probabilities",
    classes: "in shapes",
    background: "first",
    coordinates: "normalised",
    priorFormat: "cxcywh",
    buildPriors: ultraface,
    className: "face",
    word: /ultraface/,
    prepare: { resize: "stretch", mean: 127, std: 128 },
  },
} as const satisfies { readonly [F in Family]?: FamilyTraits };
