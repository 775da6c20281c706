/** Types of a family: its name, and the facts in its row of the table. */
import type { PartialRule } from "./prepare-rule.ts";
import type { PackedForm, RowOrderName } from "./row-orders.ts";
import type { Rules } from "./rules.ts";
import type { TaskName } from "./tasks.ts";

/** Name of a family. `familyInName` understands other spellings, which files have. */
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
 * Rule by which a heat map of object centres becomes detections. `cells`: touching cells are one object. `centres`:
 * each peak of a class is an object with a width, a height and an offset. `faces`: each peak is a face with distances
 * to the four sides, and five points.
 */
export type PeakForm = "cells" | "centres" | "faces";

/** Families of networks that output keypoints. */
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

/** "probabilities": the network has applied the sigmoid or softmax. "logits": the tensor holds raw scores. */
export type ScoreForm = "probabilities" | "logits";

/** Values of the option `scores`. "softmax-logits": the decoder applies a softmax over all classes. */
export const SCORE_OPTIONS = ["probabilities", "logits", "softmax-logits"] as const;

export type ScoreOption = (typeof SCORE_OPTIONS)[number];

/**
 * Rule by which the maps of a network become boxes.
 * - `anchor`: the centre comes from the cell. The size is the anchor times a function of the raw width and height
 * - `cell`: the centre comes from the cell. The size is a fraction of the whole input (FastestDet)
 * - `point`: the centre comes from the cell and the stride. The size is exp of the raw value times the stride
 * - `distance`: left, top, right, bottom from the centre of the cell, as numbers or as distributions
 * - `prior`: offsets from prior boxes
 * - `plain`: nothing to calculate, because the network decoded the boxes
 */
export type HeadRule = "anchor" | "cell" | "point" | "distance" | "prior" | "plain";

/** Name of a form of output tensors. `shapes/ways.ts` lists the channels of forms, `heads/exports.ts` reads them. */
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

/** The facts about a family. "Usual" in a comment describes families without the field. */
export interface FamilyTraits {
  readonly head: HeadRule;
  /** Forms of the output tensors, the most usual first. */
  readonly exports: readonly ExportName[];
  /**
   * Kind of the scores beside raw boxes (maps, offsets from priors, or queries), if the config does not state it.
   * Scores beside decoded boxes are probabilities.
   */
  readonly raw: ScoreForm;
  /** Kind of the scores in an NN Archive that states none. Usual: "probabilities", as exporters apply the sigmoid. */
  readonly archived?: "logits";

  /** For anchor heads: width = (2 w)^2 x anchor, centre = cell + 2 xy - 0.5, with the sigmoid of w and xy. */
  readonly squareSize?: true;
  /** For offsets from priors: width = w x prior. Usual: exp(w) x prior. */
  readonly linearSize?: true;
  /** Kind of the scores in maps [N,h,w,A,5+C]. Usual: the value of `raw`, as in other maps. */
  readonly scoresInCells?: "probabilities";
  /** Unit of the anchors. Usual: pixels of the network input. */
  readonly anchorUnit?: "cells";
  /** The network has one feature map. Usual: several. */
  readonly oneMap?: true;
  /**
   * Use of objectness. "gate": only compared with the threshold. "power": score = objectness^0.6 x class^0.4.
   * Usual: score = objectness x class.
   */
  readonly objectness?: "gate" | "power";
  /** True: a softmax is applied over the class scores. Usual: class scores are independent. */
  readonly softmax?: true;
  /** True: the class channels of a map with distributions come before the boxes. Usual: boxes come first. */
  readonly classesFirst?: true;
  /**
   * True: distances count from the cell's upper left corner. A number: only in networks with so many maps. Usual: from
   * the cell's centre.
   */
  readonly corner?: true | number;
  /** True: some exports have distances in pixels, others in strides. Usual: all have strides. */
  readonly mayBePixels?: true;
  /** Count of bins in each side's distribution. Usual: 16. */
  readonly bins?: number;
  /** Count of channels after the class scores that nothing reads. Usual: 0. */
  readonly ignored?: number;
  /** True: every network with this count of bins belongs to this family, and stores its maps as rows. */
  readonly ownBins?: true;
  /** Class count if it is 1, or its source. "in shapes": the shapes, or a column of class ids. Usual: the config. */
  readonly classes?: "in shapes" | 1;
  /**
   * Name of the class, if all published networks have the same single class. It is the label if no source has labels.
   */
  readonly className?: "face" | "palm" | "person" | "text";
  /** Score column of the background. Lists per class, such as labels, may include it. Usual: there is none. */
  readonly background?: "first" | "last";
  /** True: networks trained on COCO use COCO's own class ids, 1..90. Usual: 0..79, without gaps. */
  readonly cocoOwnIds?: true;
  /** True: class ids do not count the background, so id 0 is the first real class. */
  readonly idsLeaveOutBackground?: true;
  /**
   * Rule by which queries become detections, in networks with a separate tensor of scores. "pairs": the best pairs of
   * query and class, as many as there are queries, so that a query may give several detections. Usual: the best class
   * of each query. The rule `multiLabel` overrides this field.
   */
  readonly select?: "pairs";
  /** True: in networks with queries, every score column is a class. Usual: one column may be the background. */
  readonly everyColumn?: true;
  /** Names of the outputs in the exporter's files, by role. */
  readonly outputNames?: { readonly boxes: string; readonly scores: string };
  /** Family to use for Hugging Face's export of this network. Its outputs have the names `logits` and `pred_boxes`. */
  readonly queriesLike?: Family;
  /**
   * A family with tensors of the same shapes but another meaning. Only in this family, the name of the score output
   * matches `ours`.
   */
  readonly lookalike?: { readonly family: Family; readonly ours: RegExp };
  /** Format of boxes that the network decoded. Usual: cx cy w h. */
  readonly decodedFormat?: "xyxy";
  /** Unit of boxes that the network decoded. Usual: pixels of the network input. */
  readonly coordinates?: "normalised";
  /** Unit of boxes in a list that the network finished. Usual: `coordinates`. */
  readonly finishedIn?: "photo";
  /** Order of the box edges in a list that the network finished. */
  readonly finishedFormat?: "xyxy" | "yxyx";
  /** True: finished lists in separate tensors always have a count. Rows beyond it are left over from earlier frames. */
  readonly hasCount?: true;
  /** True: scores may be too small by 1, because EfficientNMS writes score - 1 in FP16 engines. */
  readonly mayLackOne?: true;
  /** True: published programs do not clamp the boxes of finished lists. Usual: they clamp boxes. */
  readonly unclamped?: true;
  /** Possible orders of the columns in finished rows. Usual: none, since the network has no finished rows. */
  readonly finishedRows?: readonly RowOrderName[];
  /** Format of a buffer with finished lists, which must be unpacked first. */
  readonly packed?: PackedForm;
  /** True: keypoints follow the four box channels. */
  readonly keypoints?: true;
  /** "pixels": offsets from priors are in pixels. Usual: the config's variances scale them. */
  readonly offsetUnit?: "pixels";
  /** Format of rows in the option `priors`. Usual: corners, unless the box format says otherwise. */
  readonly priorFormat?: "cxcywh";
  /**
   * Factors on the offsets x, y, w, h. With this field, the network's box channels have the order y x h w. Usual: the
   * config states the factors.
   */
  readonly variances?: readonly [number, number, number, number];
  /** Returns the prior boxes that all networks of the family have: cx cy w h, normalised. */
  readonly buildPriors?: (inputSize: readonly [number, number]) => Float32Array;
  /** Order of box channels and priors, as of TensorFlow's box coder, if a config states the factors as `scales`. */
  readonly scaledOrder?: "cycxhw";
  /** True: the network itself outputs one row per detection. Usual: only exports with NMS inside have such rows. */
  readonly endToEnd?: true;

  /** Preparation of a picture by the authors' code (sources in docs/prepare.md). Usual: as Ultralytics' code does. */
  readonly prepare?: PartialRule;
  /** Unit of the angles of an oriented network. Usual: logits v, where the angle is (sigmoid(v) - 0.25) pi. */
  readonly angle?: "radians";
  /** Confidence threshold in the authors' code, the default for typed options. Usual: as for all families. */
  readonly threshold?: number;
  /** Task of all networks of the family. Usual: the config states the task. */
  readonly task?: TaskName;
  /** Rules in which the authors' code differs from the named sets. A rule that the config states overrides them. */
  readonly rules?: Partial<Rules>;
  /**
   * IoU threshold and detection limit in the authors' code, the defaults for typed options. Usual: as for all families.
   */
  readonly defaults?: Partial<Record<"iouThreshold" | "maxDetections", number>>;
  /** Kind of heat map of object centres. `stride`: pixels of a cell; `null`: input size / map size. */
  readonly peaks?: { readonly form: PeakForm; readonly stride: number | null };
  /**
   * Kind of each row's mask. "box": a mask of the box. "input": a mask of the whole input. "queries": logits of the
   * whole input. Usual: masks made from prototypes.
   */
  readonly rowMasks?: "box" | "input" | "queries";
  /** Storage order in usual exports whose mask or keypoint channels follow the channels of box and classes. */
  readonly extraChannels?: "rows" | "planes";
  /** Family that represents this one when shapes are matched, because the tensors of both look alike. */
  readonly like?: Family;
  /** Title of the family for people. Usual: the family's name. */
  readonly title?: string;
  /** Rank among the families that an error may suggest if the tensors fit them. 1 is the first. */
  readonly suggested?: number;
  /** Version number in a name such as "yolov8n" or "yolo-v3-tiny-tf". */
  readonly version?: string;
  /** Matches a word in names that means this family. */
  readonly word?: RegExp;
  /** True: `word` means this family only if a user typed it. In a model's name, the word is no evidence. */
  readonly typedOnly?: true;
  /** Values of `subtype` in NN Archives that mean this family. */
  readonly subtypes?: readonly string[];
}
