/** Forms with one row for each query of a DETR network, or for each prior of an SSD network. */
import type { FormRow } from "../form.ts";
import { BOX_CLASSES } from "../ways.ts";
import { finished, form, inRows, list, MASKS, rows } from "./parts.ts";

const RTDETR = ["rtdetr", "dfine", "deim", "deimv2"] as const;
/** Matches names of hidden states, which exporters output beside boxes and scores. */
const DETR_EXTRAS = /hidden|encoder|init_ref|intermediate|auxiliary|enc_|corner|dn_|last_/i;
const BOXES_NAME = /box/i;
const LOGITS_NAME = /logit|score|class|label|conf/i;

/** Networks with queries. */
export const QUERY_FORMS: readonly FormRow[] = [
  form(
    "queries",
    ["rfdetr"],
    { boxes: inRows([4], { name: /^dets$/ }), scores: inRows(["C"], { name: /^labels$/ }) },
    3,
    "dets:1x300x4 labels:1x300x91",
    { isLastUntrained: true, isNamed: true },
  ),
  form(
    "queries",
    ["rfdetr"],
    {
      boxes: inRows([4], { name: /^dets$/ }),
      scores: inRows(["C"], { name: /^labels$/ }),
      masks: MASKS,
    },
    5,
    "dets:1x100x4 labels:1x100x91 masks:1x100x78x78",
    { isLastUntrained: true, task: "segment", isNamed: true },
  ),
  form(
    "queries",
    ["rfdetr"],
    {
      boxes: inRows([4], { name: /^dets$/ }),
      scores: inRows(["C"], { name: /^labels$/ }),
      points: { see: "map", channels: [8], apart: true, order: "rows", name: /keypoint/i },
    },
    5,
    "dets:1x100x4 labels:1x100x2 keypoints:1x100x17x8",
    {
      isLastUntrained: true,
      task: "pose",
      isNamed: true,
      pointsIn: (_, width, classes) => [width / classes, 3],
    },
  ),
  form("queries", ["rfdetr"], { boxes: inRows([4]), scores: inRows(["C"]) }, 0, "a:1x300x4 b:1x300x91", {
    isLastUntrained: true,
  }),
  form(
    "queries",
    RTDETR,
    { boxes: inRows([4], { name: BOXES_NAME }), scores: inRows(["C"], { name: LOGITS_NAME }) },
    2,
    "logits:1x300x80 pred_boxes:1x300x4",
    { beside: DETR_EXTRAS },
  ),
  // YOLO26 in Hugging Face's export.
  form(
    "queries",
    ["yolo26"],
    { boxes: inRows([4], { name: /^pred_boxes$/ }), scores: inRows(["C"], { name: /^(pred_)?logits$/ }) },
    -3,
    "logits:1x300x80 pred_boxes:1x300x4",
    { isNamed: true, beside: DETR_EXTRAS },
  ),
  form(
    "queries",
    ["detr"],
    { boxes: inRows([4], { name: BOXES_NAME }), scores: inRows(["C"], { name: LOGITS_NAME }) },
    1,
    "logits:1x100x92 pred_boxes:1x100x4",
    {
      kind: "queries and nothing",
      others: 1,
      options: { scores: "softmax-logits" },
      beside: DETR_EXTRAS,
    },
  ),
  form(
    "queries",
    RTDETR,
    {
      boxes: inRows([4], { name: BOXES_NAME }),
      scores: inRows(["C"], { name: LOGITS_NAME }),
      masks: MASKS,
    },
    4,
    "pred_logits:1x300x80 pred_boxes:1x300x4 pred_masks:1x300x160x160",
    { task: "segment", isNamed: true, beside: DETR_EXTRAS },
  ),
  form(
    "queries",
    ["detr"],
    {
      boxes: inRows([4], { name: BOXES_NAME }),
      scores: inRows(["C"], { name: LOGITS_NAME }),
      masks: MASKS,
    },
    3,
    "logits:1x100x251 pred_boxes:1x100x4 pred_masks:1x100x200x200",
    {
      kind: "queries and nothing",
      task: "segment",
      others: 1,
      options: { scores: "softmax-logits" },
      isNamed: true,
      beside: DETR_EXTRAS,
    },
  ),
  form("queries", RTDETR, { boxes: rows([BOX_CLASSES], { rank: 3 }) }, 1, "output0:1x300x84", {
    counts: [300],
  }),
  // Outputs of the post-processor of D-FINE and RT-DETR.
  finished(
    RTDETR,
    {
      boxes: inRows([4], { name: /^boxes$/, rank: 3 }),
      scores: list(/^scores$/),
      classIds: list(/^labels$/),
    },
    3,
    "labels:1x300 boxes:1x300x4 scores:1x300",
    { counts: [300], isNamed: true },
  ),
];

/** Networks with priors. */
export const PRIOR_FORMS: readonly FormRow[] = [
  form("priors", ["ssd"], { boxes: rows([4]), scores: rows(["C"]) }, 1, "boxes:1x1917x4 scores:1x1917x91", {
    others: 1,
    beside: /prior|anchor/i,
  }),
  form(
    "priors",
    ["ultraface"],
    { boxes: inRows([4]), scores: inRows([2]) },
    2,
    "scores:1x17640x2 boxes:1x17640x4",
    { classes: 1 },
  ),
  form(
    "priors",
    ["efficientdet"],
    {
      boxes: inRows([4], { name: /box|regress|loc/i }),
      scores: inRows(["C"], { name: /class|score|conf/i }),
    },
    2,
    "boxes:1x49104x4 scores:1x49104x90",
    { perCell: 9, beside: /anchor|feature/i },
  ),
];
