/** Forms of faces and poses with keypoints, and forms that describe the whole picture. */
import type { FormRow } from "../form.ts";
import { form, inRows, levelRows, map, value } from "./parts.ts";

/** Matches names of outputs with the maxima of heat maps, which some exporters add. */
const MAXIMA = /argmax|^keypoints$|^scores$/i;

/** Matches the names that PaddlePaddle's exporters give to the output of a text detector. */
const TEXT_MAP = /^sigmoid_\d+\.tmp|^fetch_name_0$|^save_infer_model\/scale_0|^maps$/i;

/** Returns a row of the table of forms, for networks with a single class. */
const one = (families: FormRow["families"], parts: FormRow["parts"], more: Partial<FormRow>): FormRow =>
  form("any", families, parts, 0, "", { classes: 1, ...more });

export const POINT_FORMS: readonly FormRow[] = [
  one(
    ["yunet"],
    {
      scores: levelRows([1], { order: "rows", name: /cls/i }),
      objectness: levelRows([1], { order: "rows", name: /obj/i }),
      boxes: levelRows([4], { order: "rows" }),
      points: levelRows([10], { order: "rows" }),
    },
    { levels: [3, 3], usual: 5, example: "cls_8:1x6400x1 obj_8:1x6400x1 bbox_8:1x6400x4 kps_8:1x6400x10" },
  ),
  one(
    ["scrfd"],
    {
      scores: levelRows([1], { order: "rows" }),
      boxes: levelRows([4], { order: "rows" }),
      points: levelRows([10], { order: "rows" }),
    },
    { levels: [3, 5], perCell: 2, usual: 5, example: "448:1x3200x1 451:1x3200x4 454:1x3200x10" },
  ),
  one(
    ["scrfd"],
    { scores: levelRows([1], { order: "rows" }), boxes: levelRows([4], { order: "rows" }) },
    { levels: [3, 5], perCell: 2, usual: 3, example: "446:1x3200x1 449:1x3200x4" },
  ),
  one(
    ["retinaface"],
    { boxes: inRows([4]), scores: inRows([2]), points: inRows([10]) },
    { usual: 5, example: "loc:1x16800x4 conf:1x16800x2 landms:1x16800x10" },
  ),
  // Licence plates, with their four corners as keypoints.
  one(
    ["retinaface"],
    { boxes: inRows([4]), scores: inRows([2]), points: inRows([8]) },
    { usual: 3, options: { keypoints: [4, 2] }, example: "loc:1x16800x4 conf:1x16800x2 landms:1x16800x8" },
  ),
  // Exports of RetinaFace and SCRFD for accelerators: maps with two anchors in each cell. RetinaFace's maps must have
  // the channels last: maps with channels first come from MXNet, and their scores have another order.
  one(
    ["retinaface"],
    {
      boxes: map([8], { order: "rows" }),
      scores: map([4], { order: "rows" }),
      points: map([20], { order: "rows" }),
    },
    {
      levels: [3, 3],
      usual: 5,
      example: "b8:1x80x80x8 c8:1x80x80x4 l8:1x80x80x20 b16:1x40x40x8 c16:1x40x40x4 l16:1x40x40x20",
    },
  ),
  one(
    ["scrfd"],
    { boxes: map([8]), scores: map([2]), points: map([20]) },
    {
      levels: [3, 3],
      usual: 5,
      example: "b8:1x80x80x8 c8:1x80x80x2 l8:1x80x80x20 b16:1x40x40x8 c16:1x40x40x2 l16:1x40x40x20",
    },
  ),
  one(
    ["blazeface"],
    { boxes: inRows([16]), scores: inRows([]) },
    { rows: "priors", usual: 3, example: "regressors:1x896x16 classificators:1x896x1" },
  ),
  one(
    ["mediapipe-palm"],
    { boxes: inRows([18]), scores: inRows([]) },
    { usual: 4, example: "Identity:1x2016x18 Identity_1:1x2016x1" },
  ),
  one(
    ["mediapipe-person"],
    { boxes: inRows([12]), scores: inRows([]) },
    { usual: 4, example: "Identity:1x2254x12 Identity_1:1x2254x1" },
  ),
  one(
    ["movenet"],
    { points: inRows([3], { rank: 4 }) },
    { counts: [17], usual: 5, example: "output:1x1x17x3" },
  ),
  one(
    ["movenet-multipose"],
    { poses: inRows([56], { rank: 3 }) },
    { counts: [6], usual: 5, example: "output_0:1x6x56" },
  ),
  one(
    ["rtmo"],
    { boxes: inRows([5]), points: inRows(["P"], { rank: 4 }) },
    {
      rows: "list",
      points: [
        [17, 3],
        [14, 3],
        [133, 3],
      ],
      usual: 4,
      example: "dets:1x100x5 keypoints:1x100x17x3",
    },
  ),
  one(
    ["rtmpose"],
    { x: inRows(["X"], { name: /simcc_?x/i }), y: inRows(["Y"], { name: /simcc_?y/i }) },
    { isNamed: true, kind: "bins", usual: 6, example: "simcc_x:1x17x384 simcc_y:1x17x512" },
  ),
  one(
    ["rtmpose"],
    { x: inRows(["X"], { rank: 3 }), y: inRows(["Y"], { rank: 3 }) },
    { counts: [17, 21, 26, 106, 133], kind: "bins", usual: 2, example: "1:1x133x576 2:1x133x768" },
  ),
  one(
    ["hrnet", "vitpose", "superanimal"],
    { maps: { see: "map", channels: ["X"], order: "planes", name: /heat|output|hm/i } },
    { kind: "heat maps", usual: 2, beside: MAXIMA, example: "heatmaps:1x17x64x48" },
  ),
  one(
    ["superanimal", "hrnet", "vitpose"],
    { maps: { see: "map", channels: ["X"], order: "rows", name: /heat|output|hm/i } },
    { kind: "heat maps", usual: 2, beside: MAXIMA, example: "heatmaps:1x64x64x39" },
  ),
  one(
    ["pose-landmarks"],
    {
      points: inRows([195], { apart: true }),
      presence: value({ isOptional: true }),
      mask: { see: "map", channels: [1], apart: true, isOptional: true },
      heat: { see: "map", channels: [39], apart: true, isOptional: true },
      world: inRows([117], { apart: true, isOptional: true }),
    },
    { usual: 6, example: "Identity:1x195 Identity_1:1x1 Identity_4:1x117" },
  ),
  one(
    ["hand-landmarks"],
    {
      points: inRows([63], { apart: true }),
      presence: value({ isOptional: true }),
      side: value({ isOptional: true }),
      world: inRows([63], { apart: true, isOptional: true }),
    },
    { usual: 5, example: "Identity:1x63 Identity_1:1x1 Identity_2:1x1 Identity_3:1x63" },
  ),
  // Hand landmarks in Qualcomm's export.
  one(
    ["hand-landmarks"],
    {
      points: inRows([3], { rank: 3, name: /^landmark/i }),
      presence: value({ name: /score|presence/i }),
      side: value({ name: /^lr$|hand/i }),
      world: inRows([3], { rank: 3, name: /world/i, isOptional: true }),
    },
    { counts: [21], usual: 3, isNamed: true, example: "scores:1 lr:1 landmarks:1x21x3" },
  ),
  ...[1404, 1434].map((values) =>
    one(
      ["face-mesh"],
      {
        points: inRows([values], { apart: true }),
        presence: value({ isOptional: true }),
        more: value({ isOptional: true }),
      },
      { usual: 6, beside: /lips|eye|iris/i, example: `conv2d_21:1x1x1x${values} conv2d_31:1x1x1x1` },
    ),
  ),
  one(
    ["keypoints"],
    { points: inRows(["X"], { apart: true, name: /landmark|align|keypoint|kpt|kps|lmk|pts/i }) },
    { isNamed: true, pointsIn: (k) => [k / 2, 2], kind: "coordinates", usual: 4, example: "align_fc3:1x70" },
  ),
  // Networks of 68, 98 or 106 face keypoints, whose tensor names do not show the family.
  one(
    ["keypoints"],
    { points: inRows(["X"], { apart: true }) },
    { pointsIn: (k) => [k / 2, 2], kind: "coordinates of a face", usual: 0, example: "output:1x136" },
  ),
  ...[68, 98, 106].map((count) =>
    one(
      ["keypoints"],
      { points: inRows([2], { rank: 3 }) },
      { counts: [count], pointsIn: () => [count, 2], usual: 3, example: `output:1x${count}x2` },
    ),
  ),
  form(
    "any",
    ["classifier"],
    { scores: { see: "rows", channels: ["C"], order: "rows", apart: true } },
    0,
    "output:1x1000",
    { kind: "scores of a picture" },
  ),
  // Classifiers of Intel's OTX, which also output explanations.
  form(
    "any",
    ["classifier"],
    { scores: { see: "rows", channels: ["C"], order: "rows", apart: true, name: /^logits$/ } },
    4,
    "logits:1x4 feature_vector:1x1280 saliency_map:1x4x7x7",
    { kind: "scores of a picture", isNamed: true, beside: /^feature_vector$|^saliency_map$/ },
  ),
  form(
    "any",
    ["dbnet"],
    {
      map: { see: "map", channels: [1], order: "planes", name: TEXT_MAP },
    },
    2,
    "sigmoid_0.tmp_0:1x1x640x640",
    { kind: "map of text", task: "text", classes: null },
  ),
];
