/**
 * The families of detection networks. Each family is one row of `TRAITS`: what its tensors look like, how its boxes are
 * computed, which names mean it and how it is printed. No other file compares with a family's name.
 *
 * A new family that needs no new arithmetic is a name in `Family` and a row in `TRAITS`.
 */
import { blazeface, efficientdet, palm, person, retinaface, ultraface } from "./built-priors.ts";
import type { Rules } from "./rules.ts";
import type { PartialRule } from "./prepare-rule.ts";
import type { PackedForm, RowOrderName } from "./row-orders.ts";
import type { TaskName } from "./tasks.ts";

/** Names a family: how a network writes its boxes. Spelling variants inside files are read by `familyInName`. */
export type Family =
  | "yolov2"
  | "yolov3"
  | "yolov4"
  | "yolov5"
  | "yolov7"
  | "yolov6r1"
  | "yolox"
  | "yolov6"
  | "yolov8"
  | "yolov9"
  | "yolov10"
  | "yolo11"
  | "yolo12"
  | "yolov13"
  | "yolo26"
  | "nanodet"
  | "picodet"
  | "ppyoloe"
  | "rtmdet"
  | "damo-yolo"
  | "yolo-nas"
  | "fastestdet"
  | "detr"
  | "rfdetr"
  | "rtdetr"
  | "dfine"
  | "deim"
  | "deimv2"
  | "ssd"
  | "efficientdet"
  | "ssd-detection-output"
  | "tflite-postprocess"
  | "blazeface"
  | "ultraface"
  | "mmdeploy"
  | "paddle-nms"
  | "efficient-nms"
  | "hailo-nms"
  | "imx500"
  | "boxes"
  | "fomo"
  | "centernet"
  | "face-det-lite"
  | "classifier"
  | "mask-rcnn"
  | "rtmdet-ins"
  | "dbnet"
  | PoseFamily;

/**
 * How the cells of a map that marks the centres of objects become detections. `cells`: cells that touch are one object.
 * `centres`: the peaks of each class, with a width, a height and an offset of their own. `faces`: the peaks, with
 * distances to the four sides and five points.
 */
export type PeakForm = "cells" | "centres" | "faces";

/** Families of networks that give points. */
export type PoseFamily =
  | "yolov5-face"
  | "retinaface"
  | "scrfd"
  | "yunet"
  | "mediapipe-palm"
  | "mediapipe-person"
  | "movenet"
  | "movenet-multipose"
  | "rtmo"
  | "rtmpose"
  | "hrnet"
  | "vitpose"
  | "superanimal"
  | "keypoints"
  | "face-mesh"
  | "hand-landmarks"
  | "pose-landmarks";

/** "probabilities": the network applied the sigmoid or softmax. "logits": the tensor holds raw scores. */
export type ScoreForm = "probabilities" | "logits";

/**
 * Values of the option `scores`. "softmax-logits": the tensor holds logits, and the decoder takes a softmax over all
 * classes.
 */
export const SCORE_OPTIONS = ["probabilities", "logits", "softmax-logits"] as const;
export type ScoreOption = (typeof SCORE_OPTIONS)[number];

/**
 * How a network's own maps become boxes.
 * - `anchor`: cell, and anchor times a function of width and height
 * - `cell`: cell, and a part of the whole input (FastestDet)
 * - `point`: cell and stride, width and height by exp
 * - `distance`: left, top, right, bottom from the centre of the cell, as numbers or as distributions
 * - `prior`: offsets against prior boxes
 * - `plain`: the network decoded the boxes
 */
export type HeadRule = "anchor" | "cell" | "point" | "distance" | "prior" | "plain";

/** Names a form of output tensors that exporters write. `heads/exports.ts` reads each form. */
export type ExportName =
  | "anchor-maps"
  | "cell-maps"
  | "point-maps"
  | "point-rows"
  | "distance-maps"
  | "objectness-rows"
  | "corner-rows"
  | "class-rows"
  | "end-to-end"
  | "queries"
  | "query-columns"
  | "query-rows"
  | "prior-rows"
  | "prior-maps"
  | "offsets-or-boxes"
  | "detection-output"
  | "postprocess"
  | "boxes-scores"
  | "finished-rows"
  | "class-scores";

/** Everything that is known about a family. A field that is absent has the value that its comment calls usual. */
export interface FamilyTraits {
  readonly head: HeadRule;
  /** Forms of the output tensors, the most usual first. */
  readonly exports: readonly ExportName[];
  /**
   * Scores in maps, offsets or queries of the network, by default. Boxes that the network decoded come with
   * probabilities.
   */
  readonly raw: ScoreForm;
  /** Scores in an NN Archive that states none. Usual: "probabilities", since its exporter applies it. */
  readonly archived?: "logits";

  /**
   * Anchor heads: width = (2 w)^2 x anchor and centre = cell + 2 xy - 0.5, with w and xy probabilities. Usual: exp(w) x
   * anchor.
   */
  readonly squareSize?: true;
  /** Offsets from priors: width = w x prior. Usual: exp(w) x prior. */
  readonly linearSize?: true;
  /** Scores in maps [N,h,w,A,5+C]. Usual: as in other maps. */
  readonly scoresInCells?: "probabilities";
  /** Unit of the anchors. Usual: pixels of the network input. */
  readonly anchorUnit?: "cells";
  /** The network has one feature map. Usual: several. */
  readonly oneMap?: true;
  /** How objectness enters. "gate": it never multiplies the score. "power": score = objectness^0.6 x class^0.4. */
  readonly objectness?: "gate" | "power";
  /** Class scores are a softmax over the class channels. Usual: independent. */
  readonly softmax?: true;
  /** Order of the channels of a map with distributions. Usual: boxes first. */
  readonly classesFirst?: true;
  /**
   * Distances are measured from the left upper corner of the cell: always, or with so many maps. Usual: never, always
   * from its centre.
   */
  readonly corner?: true | number;
  /** Maps of distances hold pixels in some exports and strides in others. Usual: strides. */
  readonly mayBePixels?: true;
  /** Bins of each side's distribution. Usual: 16. */
  readonly bins?: number;
  /** Networks with these bins are of this family, and their maps come as rows. */
  readonly ownBins?: true;
  /** How many classes there are. "in shapes": the shapes or a class id column tell. Usual: the config has to say. */
  readonly classes?: "in shapes" | 1;
  /** Score column that means "nothing here". Lists with an entry per class may then name it. Usual: no column. */
  readonly background?: "first" | "last";
  /** Class ids come from an operator that subtracts the background: id 0 is the first real class. */
  readonly idsLeaveOutBackground?: true;
  /**
   * Detections of a network with queries, where scores stand in a tensor of their own. "pairs": the best pairs of query
   * and class, as many as there are queries, so that a query may give several. Usual: the best class of each query. The
   * rule `multiLabel` of the option `rules` changes it.
   */
  readonly select?: "pairs";
  /** Every score column of a network with queries is a class. Usual: one may be none. */
  readonly everyColumn?: true;
  /** Names of the outputs in the exporter's files, by role. */
  readonly outputNames?: { readonly boxes: string; readonly scores: string };
  /**
   * Family whose tensors have the same shapes and another meaning. An output of scores with such a name is of this one.
   */
  readonly lookalike?: { readonly family: Family; readonly ours: RegExp };
  /** How boxes that the network decoded are written. Usual: cx cy w h. */
  readonly decodedFormat?: "xyxy";
  /** Unit of boxes that the network decoded. Usual: pixels of the network input. */
  readonly coordinates?: "normalised";
  /** Unit of boxes where the network finished the list too. Usual: `coordinates`. */
  readonly finishedIn?: "photo";
  /** Order of the edges of boxes where the network finished the list. */
  readonly finishedFormat?: "xyxy" | "yxyx";
  /** Orders that rows of finished lists may have. Usual: none. */
  readonly finishedRows?: readonly RowOrderName[];
  /** Finished lists come packed, and are unpacked before they are read. */
  readonly packed?: PackedForm;
  /** Keypoints follow the four box channels. */
  readonly keypoints?: true;
  /** Unit of the offsets from priors. Usual: the variances that the config states. */
  readonly offsetUnit?: "pixels";
  /** How rows of the option `priors` are written. Usual: corners, unless the box format says otherwise. */
  readonly priorFormat?: "cxcywh";
  /** Factors on x, y, w, h of offsets, whose order is then y x h w. Usual: those that the config states. */
  readonly variances?: readonly [number, number, number, number];
  /** Returns the prior boxes that every network of the family has, cx cy w h, normalised. */
  readonly buildPriors?: (inputSize: readonly [number, number]) => Float32Array;
  /** Order of box channels and priors where the factors come as `scales`, as TensorFlow's box coder has them. */
  readonly scaledOrder?: "cycxhw";
  /** The network's own export has one row per detection. Usual: only exports with NMS inside have. */
  readonly endToEnd?: true;

  /**
   * How its authors' code prepares a picture (docs/prepare.md names the sources). Usual: the defaults of `PrepareRule`,
   * which are those of Ultralytics.
   */
  readonly prepare?: PartialRule;
  /** What angle maps of an oriented network hold. Usual: logits, angle = (sigmoid(v) - 0.25) pi. */
  readonly angle?: "radians";
  /** Confidence threshold of its authors, if typed options state none. Usual: the one of all typed options. */
  readonly threshold?: number;
  /** Task of every network of the family. Usual: what the config says. */
  readonly task?: TaskName;
  /** Rules of the authors' own code, where they differ from the named sets. A config that names a rule replaces it. */
  readonly rules?: Partial<Rules>;
  /** IoU threshold and cap of the authors' own code, if typed options state none. Usual: those of all typed options. */
  readonly defaults?: Partial<Record<"iouThreshold" | "maxDetections", number>>;
  /** One map marks the centres of objects. `stride`: pixels of a cell; `null`: what the sizes of input and map give. */
  readonly peaks?: { readonly form: PeakForm; readonly stride: number | null };
  /**
   * Each row has a mask of its own: finished, of the box or of the whole input, or logits of the whole input for each
   * query. Usual: masks are made of prototypes.
   */
  readonly rowMasks?: "box" | "input" | "queries";
  /** Usual export of its networks for masks and keypoints: these channels follow those of the boxes. */
  readonly extraChannels?: "rows" | "planes";
  /** Family that stands for this one where shapes alone are looked at: their tensors look alike. */
  readonly like?: Family;
  /** Name for people. Usual: the family's own. */
  readonly title?: string;
  /** A refusal of another family's tensors suggests this one where it would read them; 1 is tried first. */
  readonly suggested?: number;
  /** Version number in a name such as "yolov8n" or "yolo-v3-tiny-tf". */
  readonly version?: string;
  /** Word in a name that means this family. */
  readonly word?: RegExp;
  /** The word counts only where a user types it as a family; in a model's name it is no evidence. */
  readonly typedOnly?: true;
  /** `subtype`s of NN Archives that mean this family. */
  readonly subtypes?: readonly string[];
}

// No spreads here: bundlers drop an unused table only where it is plain.
const ANCHOR_EXPORTS = ["anchor-maps", "objectness-rows"] as const;
const POINT_EXPORTS = ["point-maps", "point-rows"] as const;
const FINISHED_EXPORTS = ["finished-rows"] as const;
const DISTANCE_EXPORTS = ["class-rows", "distance-maps", "end-to-end"] as const;

const QUERY_EXPORTS = ["query-columns", "query-rows", "postprocess"] as const;

const PILLOW = { resize: "stretch", resample: "pillow" } as const;
const STRETCH = { resize: "stretch" } as const;
// SSD networks of TensorFlow.
const SIGNED = { resize: "stretch", layout: "NHWC", mean: 127.5, std: 127.5 } as const;

// Networks of PaddleDetection. Their configs say `interp: 2`, which is INTER_CUBIC.
const IMAGENET = {
  resize: "stretch",
  resample: "cubic",
  mean: [123.675, 116.28, 103.53],
  std: [58.395, 57.12, 57.375],
} as const;

/** Returns the traits of a YOLO with anchors. `version` is its number. */
const anchored = (version: string, more: Partial<FamilyTraits>): FamilyTraits => ({
  head: "anchor",
  exports: ANCHOR_EXPORTS,
  raw: "logits",
  version,
  ...more,
});

/** Returns the traits of a YOLO with the tensors of YOLOv8. `version` is its number. */
const kinOfV8 = (version: string, more: Partial<FamilyTraits> = {}): FamilyTraits => ({
  head: "distance",
  exports: DISTANCE_EXPORTS,
  raw: "logits",
  like: "yolov8",
  version,
  ...more,
});

/** Returns the traits of a network with RT-DETR's post-processor, which an export contains or leaves out. */
const kinOfRtdetr = (title: string, word: RegExp, more: Partial<FamilyTraits>): FamilyTraits => ({
  head: "plain",
  exports: QUERY_EXPORTS,
  raw: "logits",
  select: "pairs",
  everyColumn: true,
  coordinates: "normalised",
  finishedIn: "photo",
  finishedFormat: "xyxy",
  title,
  word,
  ...more,
});

/** Returns the traits of a network that decodes its boxes, or whose maps a task reads. Shapes tell the class count. */
const decoded = (more: Partial<FamilyTraits>): FamilyTraits => ({
  head: "plain",
  exports: [],
  raw: "probabilities",
  classes: "in shapes",
  ...more,
});

const ROWS: { readonly [F in Exclude<Family, PoseFamily>]: FamilyTraits } = {
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
    // onnx/models, yolov4: the network ends before the sigmoid of x and y, and after that of its scores.
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
  // The exporters of YOLOv6 r1 and YOLOX put the sigmoid of objectness and classes into the network.
  yolov6r1: {
    head: "point",
    exports: POINT_EXPORTS,
    raw: "probabilities",
    objectness: "gate",
    like: "yolox",
    // "yolov6" is the first release in archives, as on the device since depthai-core #1911
    subtypes: ["yolov6", "yolov6r1"],
  },
  yolox: {
    head: "point",
    exports: POINT_EXPORTS,
    raw: "probabilities",
    word: /yolo[-_]?x/,
    prepare: { resize: "letterbox-topleft", order: "BGR", std: 1 },
  },
  // Releases 2, 3 and 4. The exporter writes an objectness of 1 into rows.
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
    // "-u" subtypes are the anchor-free rebuilds of older networks
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
    subtypes: ["yolo26"],
  }),
  nanodet: {
    head: "distance",
    exports: ["distance-maps"],
    raw: "probabilities",
    classesFirst: true,
    bins: 8,
    ownBins: true,
    // NanoDet has maps at strides 8, 16, 32. NanoDet-Plus has one more, at 64, and centre priors without the half cell:
    // RangiLyu/nanodet, nanodet_plus_head.py, get_single_level_center_priors.
    corner: 4,
    word: /nanodet/,
    prepare: {
      resize: "stretch",
      order: "BGR",
      mean: [103.53, 116.28, 123.675],
      std: [57.375, 57.12, 58.395],
    },
  },
  // PaddleDetection, heads/pico_head.py, and configs/picodet/_base_: `interp: 2` is cv2.INTER_CUBIC. Before 2022 its
  // demos fed BGR.
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
    prepare: IMAGENET,
  },
  // PaddleDetection, heads/ppyoloe_head.py, and configs/ppyoloe/_base_: `interp: 2` too. PP-YOLOE+ divides by 255
  // alone.
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
    prepare: IMAGENET,
  },
  // mmdetection, dense_heads/rtmdet_head.py, multiplies distances by the stride; mmyolo does so after the network.
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
      mean: [103.53, 116.28, 123.675],
      std: [57.375, 57.12, 58.395],
    },
  },
  // tinyvision/DAMO-YOLO, base_models/heads/zero_head.py. The network decodes its boxes. dataset/datasets/coco.py
  // trains on RGB of 0..255. tools/demo.py feeds RGB of pictures, and BGR of videos.
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
  // default_yolo_nas_coco_processing_params: RGB, long side 636, centred in 640 with 114, / 255.
  "yolo-nas": {
    head: "distance",
    exports: ["class-rows", "finished-rows", "postprocess"],
    raw: "probabilities",
    decodedFormat: "xyxy",
    finishedRows: ["image-box-score-class"],
    finishedFormat: "xyxy",
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
  // RF-DETR and LW-DETR. Before "detr", whose word is in theirs.
  rfdetr: {
    head: "plain",
    exports: ["query-columns"],
    raw: "logits",
    select: "pairs",
    outputNames: { boxes: "dets", scores: "labels" },
    coordinates: "normalised",
    rowMasks: "queries",
    title: "RF-DETR, LW-DETR",
    word: /(rf|lw)[-_]?detr/,
    prepare: {
      resize: "stretch",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  },
  // RT-DETR 1 to 4, D-FINE and DEIM share one post-processor. Their authors resize by Pillow and subtract no mean.
  rtdetr: /* @__PURE__ */ kinOfRtdetr("RT-DETR", /rt[-_]?detr/, { prepare: PILLOW }),
  dfine: /* @__PURE__ */ kinOfRtdetr("D-FINE", /(^|[^a-z])d[-_]?fine/, { like: "rtdetr", prepare: PILLOW }),
  // Before "deim", whose word is in its. Its sizes differ in the mean, so it has no preparation of its own.
  deimv2: /* @__PURE__ */ kinOfRtdetr("DEIMv2", /(^|[^a-z])deim[-_]?v?2/, { like: "rtdetr" }),
  deim: /* @__PURE__ */ kinOfRtdetr("DEIM", /(^|[^a-z])deim/, { like: "rtdetr", prepare: PILLOW }),
  detr: {
    head: "plain",
    exports: ["queries", "query-rows"],
    raw: "logits",
    select: "pairs",
    lookalike: { family: "rfdetr", ours: /logits/i },
    background: "last",
    coordinates: "normalised",
    title: "DETR",
    word: /detr/,
    typedOnly: true,
    prepare: {
      resize: "stretch",
      resample: "pillow",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  },
  ssd: {
    head: "prior",
    exports: ["prior-rows", "detection-output"],
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
      // dataloader.py pads with 0 after normalising, which is the mean.
      pad: [123.675, 116.28, 103.53],
      layout: "NHWC",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  },
  "ssd-detection-output": /* @__PURE__ */ decoded({
    exports: ["detection-output"],
    background: "first",
    coordinates: "normalised",
    like: "ssd",
    prepare: SIGNED,
  }),
  "tflite-postprocess": /* @__PURE__ */ decoded({
    exports: ["postprocess"],
    background: "first",
    idsLeaveOutBackground: true,
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
    word: /ultraface/,
    prepare: { resize: "stretch", mean: 127, std: 128 },
  },
  mmdeploy: /* @__PURE__ */ decoded({
    exports: FINISHED_EXPORTS,
    finishedRows: ["box-score-labels", "end-to-end"],
    title: "MMDeploy",
    word: /mmdeploy/,
  }),
  // The network divides boxes by its input "scale_factor", so that they are in pixels of the photo.
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
      "box-score-labels",
    ],
  }),
  // torchvision, models/detection/transform.py and roi_heads.py: pictures keep their size, class 0 is the background.
  "mask-rcnn": /* @__PURE__ */ decoded({
    rowMasks: "box",
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
      mean: [103.53, 116.28, 123.675],
      std: [57.375, 57.12, 58.395],
    },
  }),
  // Class scores of the whole picture. The box is the picture.
  classifier: /* @__PURE__ */ decoded({
    exports: ["class-scores"],
    coordinates: "normalised",
    title: "classification",
    rules: { suppress: "none", multiLabel: true },
    threshold: 0,
    defaults: { maxDetections: 5 },
    prepare: {
      resize: "crop",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  }),
  // PaddleOCR, ppocr/postprocess/db_postprocess.py and configs/det.
  dbnet: /* @__PURE__ */ decoded({
    classes: 1,
    coordinates: "normalised",
    title: "DBNet, PaddleOCR text detection",
    task: "text",
    rules: { gate: ">=", suppress: "none", clamp: "none" },
    threshold: 0.6,
    word: /(^|[^a-z])db-?net|pp-?ocr.*det|ocr_?v\d_?det|text[-_ ]?det/,
    prepare: {
      resize: "stretch",
      order: "BGR",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  }),
  // Edge Impulse, ei_postprocessing_common.h and ei_fill_result_struct.h: softmax inside, value >= 0.5.
  fomo: /* @__PURE__ */ decoded({
    background: "first",
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
    title: "face_det_lite (Qualcomm)",
    task: "peaks",
    peaks: { form: "faces", stride: 8 },
    rules: { gate: ">=", pixelOffset: 1 },
    threshold: 0.2,
    defaults: { iouThreshold: 0.2 },
    word: /face[-_ ]?det[-_ ]?lite/,
    prepare: { pad: 0 },
  }),
};

/** Pictures of mmpose: Config data_preprocessor of RTMPose, HRNet and ViTPose. Outside of the photo stands black. */
const OPENMMLAB = { pad: 0, mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] } as const;

const TOP_LEFT = { resize: "letterbox-topleft", pad: 0 } as const;
const MEDIAPIPE: FamilyTraits = {
  head: "prior",
  exports: ["prior-rows"],
  raw: "logits",
  archived: "logits",
  linearSize: true,
  classes: 1,
  keypoints: true,
  offsetUnit: "pixels",
  priorFormat: "cxcywh",
  buildPriors: blazeface,
  task: "pose",
};
const PLAIN: FamilyTraits = {
  head: "plain",
  exports: [],
  raw: "probabilities",
  classes: 1,
  coordinates: "normalised",
  task: "pose",
};

/** MediaPipe's networks of points. Outside of the photo its edge is repeated. */
const LANDMARKS: FamilyTraits = {
  ...PLAIN,
  threshold: 0.5,
  prepare: { pad: 0, layout: "NHWC", border: "edge" },
};

const POSE_FAMILIES: { readonly [F in PoseFamily]: FamilyTraits } = {
  "yolov5-face": {
    head: "anchor",
    exports: [],
    raw: "probabilities",
    squareSize: true,
    classes: 1,
    task: "pose",
  },
  retinaface: {
    head: "prior",
    exports: ["prior-rows"],
    raw: "probabilities",
    classes: "in shapes",
    background: "first",
    coordinates: "normalised",
    priorFormat: "cxcywh",
    buildPriors: retinaface,
    task: "pose",
    word: /retinaface/,
    prepare: { pad: 0, order: "BGR", mean: [104, 117, 123], std: 1 },
  },
  scrfd: {
    head: "distance",
    exports: [],
    raw: "probabilities",
    classes: 1,
    task: "pose",
    word: /scrfd/,
    prepare: { ...TOP_LEFT, mean: 127.5, std: 128 },
  },
  yunet: {
    head: "point",
    exports: [],
    raw: "probabilities",
    classes: 1,
    task: "pose",
    word: /yunet/,
    prepare: { ...TOP_LEFT, order: "BGR", std: 1 },
  },
  "mediapipe-palm": { ...MEDIAPIPE, buildPriors: palm, prepare: { pad: 0, layout: "NHWC" } },
  movenet: { ...PLAIN, prepare: { pad: 0, layout: "NHWC", std: 1 } },
  "movenet-multipose": { ...PLAIN, prepare: { pad: 0, layout: "NHWC", std: 1 } },
  rtmo: {
    head: "plain",
    exports: [],
    raw: "probabilities",
    classes: 1,
    task: "pose",
    word: /rtmo(?!bile)/,
    prepare: { order: "BGR", std: 1 },
  },
  "mediapipe-person": {
    ...MEDIAPIPE,
    buildPriors: person,
    prepare: { pad: 0, layout: "NHWC", mean: 127.5, std: 127.5 },
    word: /pose[-_]detection/,
  },
  rtmpose: { ...PLAIN, word: /rtmpose|rtmw|simcc|dwpose/, prepare: OPENMMLAB },
  hrnet: { ...PLAIN, word: /hrnet|simplebaseline/, prepare: OPENMMLAB },
  vitpose: { ...PLAIN, word: /vitpose/, prepare: { ...OPENMMLAB, udp: true } },
  superanimal: { ...PLAIN, word: /super[-_]?animal/ },
  keypoints: PLAIN,
  "face-mesh": { ...LANDMARKS, word: /face[-_]?(landmark|mesh)/ },
  "hand-landmarks": { ...LANDMARKS, word: /hand[-_]?landmark/ },
  "pose-landmarks": { ...LANDMARKS, word: /pose[-_]?landmark|blazepose/ },
};

/** The row of each family. */
export const TRAITS: { readonly [F in Family]: FamilyTraits } = /* @__PURE__ */ Object.assign(
  {},
  ROWS,
  POSE_FAMILIES,
);

/** Every name that the option `family` takes. */
export const FAMILIES = /* @__PURE__ */ Object.keys(TRAITS) as readonly Family[];

/** Returns the families that a refusal suggests, the likeliest first. */
export const suggestedFamilies = (): Family[] =>
  FAMILIES.filter((family) => TRAITS[family].suggested).sort(
    (a, b) => (TRAITS[a].suggested ?? 0) - (TRAITS[b].suggested ?? 0),
  );

/** Names that config files have for a network. */
export type NetworkKind = "yolo" | "ssd";

/** Facts about a kind of network that a file names, before its family is settled. */
export interface KindTraits {
  /** `NN_family` of an NN_config, in small letters. */
  readonly nnFamily: string;
  /** Parsers of an NN Archive, in small letters. */
  readonly parsers: readonly string[];
  /** The family, where the kind has only one. */
  readonly family: Family | null;
  /** The file lists anchors and says how many classes there are. */
  readonly anchors: boolean;
}

export const KINDS: { readonly [K in NetworkKind]: KindTraits } = {
  yolo: { nnFamily: "yolo", parsers: ["yolo", "yoloextendedparser"], family: null, anchors: true },
  ssd: { nnFamily: "mobilenet", parsers: ["ssd", "mobilenet"], family: "ssd", anchors: false },
};

/** A parser of an NN Archive that reads one family. */
export interface ParserTraits {
  /** Name as archives write it. */
  readonly parser: string;
  /** The family, and the defaults of depthai-nodes, which has the parser. */
  readonly defaults: {
    readonly family: Family;
    /** Number of classes, where every network of the parser has so many. */
    readonly classes?: number;
    readonly confidenceThreshold: number;
    readonly iouThreshold: number;
    readonly maxDetections: number;
    readonly scores?: ScoreOption;
    readonly background?: false;
    readonly rules?: Partial<Rules>;
  };
  /**
   * Roles of the head's outputs, in the order in which the parser takes them. The output of masks may be missing. Every
   * column of scores is a class.
   */
  readonly outputs?: readonly ["boxes", "scores", "masks"];
  /** How the parser makes points of heat maps, if not as the family's authors do. */
  readonly keypointRefinement?: "none";
}

/** Parsers of one family each. */
export const PARSERS: readonly ParserTraits[] = [
  {
    parser: "SCRFDParser",
    defaults: { family: "scrfd", confidenceThreshold: 0.5, iouThreshold: 0.5, maxDetections: 100 },
  },
  {
    parser: "YuNetParser",
    defaults: { family: "yunet", confidenceThreshold: 0.8, iouThreshold: 0.3, maxDetections: 5000 },
  },
  {
    parser: "MPPalmDetectionParser",
    defaults: { family: "mediapipe-palm", confidenceThreshold: 0.5, iouThreshold: 0.5, maxDetections: 100 },
  },
  {
    parser: "KeypointParser",
    defaults: { family: "keypoints", confidenceThreshold: 0.5, iouThreshold: 0.5, maxDetections: 1 },
  },
  {
    parser: "HRNetParser",
    defaults: { family: "hrnet", confidenceThreshold: 0.5, iouThreshold: 0.5, maxDetections: 1 },
    keypointRefinement: "none",
  },
  {
    parser: "SuperAnimalParser",
    defaults: { family: "superanimal", confidenceThreshold: 0.5, iouThreshold: 0.5, maxDetections: 1 },
  },
  {
    parser: "PPTextDetectionParser",
    defaults: { family: "dbnet", confidenceThreshold: 0.5, iouThreshold: 0.5, maxDetections: 100 },
  },
  {
    parser: "ClassificationParser",
    defaults: { family: "classifier", confidenceThreshold: 0, iouThreshold: 0.5, maxDetections: 1000 },
  },
  {
    // The best column of each query, and no column is the background. A third output has masks.
    parser: "RFDETRParser",
    defaults: {
      family: "rfdetr",
      scores: "logits",
      background: false,
      rules: { multiLabel: false, gate: ">", suppress: "none" },
      confidenceThreshold: 0.5,
      iouThreshold: 0.5,
      maxDetections: 300,
    },
    outputs: ["boxes", "scores", "masks"],
  },
  {
    // YOLOv8 for segmentation with a single class. `labelMap` makes the index map that the parser gives.
    parser: "FastSAMParser",
    defaults: {
      family: "yolov8",
      classes: 1,
      confidenceThreshold: 0.5,
      iouThreshold: 0.5,
      maxDetections: 300,
    },
  },
];

/** Returns notes on names that say another family than the one that is read. */
export const notesOnNames = (
  read: Family,
  boxFormat: string | null,
  names: readonly (string | null)[],
): string[] => {
  const said = FAMILIES.filter(
    (family) =>
      family !== read && UNLIKE_THEIR_SHAPES.includes(family) && names.some((name) => hasWord(family, name)),
  );
  const isLibre = boxFormat === null && names.some((name) => /libre-?yolo/i.test(name ?? ""));
  // TFLite files have other names.
  const countsBackground =
    TRAITS[read].idsLeaveOutBackground && names.some((name) => /detection_classes/i.test(name ?? ""));
  return [
    ...said.map(
      (family) =>
        `the name says ${titleOf(family)}, and the tensors are read as ${titleOf(read)}, whose boxes ` +
        `differ: family "${family}" is right if the name is`,
    ),
    ...(countsBackground
      ? [
          "detection_classes is a name of TensorFlow's Object Detection API, whose class ids begin at 1 " +
            'outside of TFLite: family "boxes" with boxFormat "yxyx" and coordinates "normalised" reads them, ' +
            "with a first label for the background",
        ]
      : []),
    ...(isLibre ? ['the name says LibreYOLO, whose YOLO9 gives corners: boxFormat "xyxy" reads them'] : []),
  ];
};

/** Families whose tensors have the shapes of another one's, with other boxes. */
const UNLIKE_THEIR_SHAPES: readonly Family[] = ["picodet", "ppyoloe", "rtmdet", "damo-yolo", "yolo-nas"];

const hasWord = (family: Family, name: string | null): boolean =>
  (name && TRAITS[family].word?.test(name.toLowerCase())) === true;

/** Parsers whose networks no decoder reads, and what reads their tensors instead. In small letters. */
export const OTHER_PARSERS: { readonly [parser: string]: string } = {
  segmentationparser:
    "call classMap(tensor, { ...mapOptions(archive).options, frame }), which gives the class of each pixel",
  mapoutputparser:
    "call valueMap(tensor, { ...mapOptions(archive).options, frame }), which gives the number of each pixel",
  imageoutputparser: "write your own code: boxwright makes no pictures of a network's output",
  regressionparser: "write your own code: the tensor holds the numbers",
  embeddingsparser: "write your own code: the tensor holds the embedding",
  classificationsequenceparser: "write your own code: boxwright reads no sequences of characters",
  mlsdparser: "write your own code: boxwright reads no lines",
  lanedetectionparser: "write your own code: boxwright reads no lanes",
  xfeatmonoparser: "write your own code: boxwright matches no features",
  xfeatstereoparser: "write your own code: boxwright matches no features",
};

/** Every kind of network. */
export const KIND_NAMES = /* @__PURE__ */ Object.keys(KINDS) as readonly NetworkKind[];

/** True if the kind or the family has a score column for the background. */
export function hasBackground(kind: NetworkKind | null, family: Family | null): boolean {
  return [family, kind && KINDS[kind].family].some(
    (known) => known !== null && TRAITS[known].background !== undefined,
  );
}

/** Returns the family that stands for another one where shapes alone are looked at. */
export const representativeOf = (family: Family): Family => TRAITS[family].like ?? family;

/** Returns how many channels of a cell stand before its classes: the box, and objectness in networks that have it. */
export const channelsBeforeClasses = ({ head }: FamilyTraits): 4 | 5 =>
  head === "anchor" || head === "cell" || head === "point" ? 5 : 4;

/** Returns a family's name for people. */
export const titleOf = (family: Family): string => TRAITS[family].title ?? family;

/** Returns the family that an NN Archive's subtype means, `null` for none. The subtype is in small letters. */
const familyOfSubtype = (subtype: string): Family | null =>
  FAMILIES.find((family) => TRAITS[family].subtypes?.includes(subtype)) ?? null;

/** True if the archive format has the subtype. An empty subtype says nothing and is allowed. */
export const isSubtype = (subtype: string): boolean =>
  subtype === "" || familyOfSubtype(subtype.toLowerCase()) !== null;

/**
 * Returns the family in a name as people write it ("YOLOv8n", "yolo-v3-tiny-tf", "output1_yolov6r2"), `null` for none.
 */
export function familyInName(name: string): Family | null {
  const word = familyTyped(name);
  return word !== null && TRAITS[word].typedOnly ? null : word;
}

/** Returns the family that a user means who typed `name`, `null` for none. */
export function familyTyped(name: string): Family | null {
  const letters = name.toLowerCase();
  const byWord = (family: Family): boolean => hasWord(family, letters);
  const version = /yolo[-_]?v?(\d+)/.exec(letters)?.[1];
  if (TRAITS.yolox.word?.test(letters)) return "yolox";
  // Releases 2, 3, 4 share the distance head. "yolov6nr3" has the size letter before the release.
  if (version === "6") return /yolo[-_]?v?6[nsml]?r[02-9]/.test(letters) ? "yolov6" : "yolov6r1";
  const byVersion = (family: Family): boolean => version !== undefined && TRAITS[family].version === version;
  return FAMILIES.find(byVersion) ?? FAMILIES.find(byWord) ?? null;
}

/** True if exporters name an output of the detection head like this: "output1_yolov6r2". */
export const namesHead = (output: string): boolean => /_yolo/i.test(output);

/** Evidence about a network whose family no option states. */
export interface FamilyEvidence {
  /** Stated outright. */
  readonly family?: Family | null;
  readonly kind?: NetworkKind | null;
  readonly subtype: string | null;
  readonly outputNames: readonly string[];
  readonly modelName: string | null;
  /** True if the file lists anchors, false if it says that there are none, `null` if it says nothing. */
  readonly anchors: boolean | null;
}

/** The evidence that settled the family, with the name in which it stood. */
export interface FamilyReason {
  readonly kind:
    | "option"
    | "file"
    | "subtype with anchors"
    | "subtype"
    | "output name"
    | "model name"
    | "exporter"
    | "no anchors"
    | "default";
  readonly value: string | null;
}

/** True if archives give networks of the named family the subtype of another one, whose maps look the same. */
const sharesSubtype = (marked: Family | null, named: Family | null): boolean =>
  marked !== null && named !== null && TRAITS[marked].objectness === "gate" && TRAITS[marked].like === named;

/**
 * Settles the family of a config. A file cannot always tell: one of YOLOv3 and one of YOLOv5 can be identical, yet
 * their boxes differ. The first evidence that speaks decides, and the reason says which.
 */
export function settleFamily(evidence: FamilyEvidence): { family: Family; why: FamilyReason } {
  const { subtype, outputNames, modelName, anchors, kind } = evidence;
  if (evidence.family) return { family: evidence.family, why: { kind: "option", value: null } };
  // A name that contradicts the file's anchors is no evidence.
  const fitting = (family: Family | null): Family | null =>
    family && (anchors === null || (TRAITS[family].head === "anchor") === anchors) ? family : null;
  const stated = subtype?.toLowerCase() ?? "";
  const model = familyInName(modelName ?? "");
  const found: readonly (readonly [Family | null | undefined, FamilyReason["kind"], string | null])[] = [
    [kind && KINDS[kind].family, "file", kind ? KINDS[kind].nnFamily : null],
    // A "-u" export of an anchor model has no anchors. With anchors it is the classic head after all.
    [stated === "yolov5-u" && anchors ? "yolov5" : null, "subtype with anchors", subtype],
    // The exporter marks YOLOX as YOLOv6 r1, which multiplies no objectness. The name then tells.
    [sharesSubtype(familyOfSubtype(stated), model) ? model : null, "model name", modelName],
    [familyOfSubtype(stated), "subtype", subtype],
    ...outputNames.map(
      (name) => [fitting(familyInName(/_(yolo.*)$/i.exec(name)?.[1] ?? "")), "output name", name] as const,
    ),
    // A bare "yolov6n" says nothing of the release, and the files of all releases list no anchors.
    [
      fitting(model === "yolov6r1" && !/r1/i.test(modelName as string) ? "yolov6" : model),
      "model name",
      modelName,
    ],
    // Only tools.luxonis.com names a model.xml, and of networks with anchors it takes YOLOv5 and v7, which agree.
    [anchors && /\.xml$/i.test(modelName ?? "") ? "yolov5" : null, "exporter", modelName],
    [anchors === false ? "yolov8" : null, "no anchors", null],
    ["yolov3", "default", null],
  ];
  const [family, reason, value] = found.find(([said]) => said) as [
    Family,
    FamilyReason["kind"],
    string | null,
  ];
  return { family, why: { kind: reason, value } };
}
