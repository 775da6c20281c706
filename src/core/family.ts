/** A family: the name of a kind of network, and the facts that its row states. */
import type { PartialRule } from "./prepare-rule.ts";
import type { PackedForm, RowOrderName } from "./row-orders.ts";
import type { Rules } from "./rules.ts";
import type { TaskName } from "./tasks.ts";

/**
 * Name of a family: networks whose tensors are decoded by the same rule. `familyInName` reads spelling variants inside
 * files.
 */
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
 * How detections are made of a map that marks the centres of objects. `cells`: touching cells are one object.
 * `centres`: each peak of a class is an object with its own width, height and offset. `faces`: each peak is a face with
 * distances to its four sides, and five points.
 */
export type PeakForm = "cells" | "centres" | "faces";

/** Families of networks that give keypoints. */
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
 * - `anchor`: centre from the cell, size = anchor times a function of width and height
 * - `cell`: centre from the cell, size as a fraction of the whole input (FastestDet)
 * - `point`: centre from the cell and the stride, size by exp
 * - `distance`: left, top, right, bottom from the centre of the cell, as numbers or as distributions
 * - `prior`: offsets against prior boxes
 * - `plain`: nothing to compute, the network decoded the boxes
 */
export type HeadRule = "anchor" | "cell" | "point" | "distance" | "prior" | "plain";

/**
 * Name of a form: the set of output tensors that an exporter writes. `shapes/ways.ts` states the channels of each form,
 * and `heads/exports.ts` turns it into heads.
 */
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

/** Everything known about a family. The comment of a field says what an absent field means, after "Usual". */
export interface FamilyTraits {
  readonly head: HeadRule;
  /** Forms of the output tensors, the most usual first. */
  readonly exports: readonly ExportName[];
  /**
   * Default form of scores in the network's own maps, offsets or queries. Boxes that the network decoded come with
   * probabilities.
   */
  readonly raw: ScoreForm;
  /**
   * Form of the scores in an NN Archive that states none. Usual: "probabilities", since its exporter applies the
   * sigmoid.
   */
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
   * True: distances are measured from the left upper corner of the cell. A number: only networks with so many maps do
   * so. Usual: always from the centre of the cell.
   */
  readonly corner?: true | number;
  /** True: some exports have distances in pixels, others in strides. Usual: strides. */
  readonly mayBePixels?: true;
  /** Bins of each side's distribution. Usual: 16. */
  readonly bins?: number;
  /** Count of the unread channels that follow the class scores. Usual: 0. */
  readonly ignored?: number;
  /** True: networks with these bins are of this family, and their maps come as rows. */
  readonly ownBins?: true;
  /** How the class count is found. "in shapes": from the shapes or a class id column. Usual: the config states it. */
  readonly classes?: "in shapes" | 1;
  /** Name of the single class that all published networks have. It is the label where no labels are given. */
  readonly className?: "face" | "palm" | "person" | "text";
  /** Score column of the background. Lists with one entry per class may include it. Usual: no such column. */
  readonly background?: "first" | "last";
  /** True: networks trained on COCO use its own class ids, 1..90. Usual: 0..79, without gaps. */
  readonly cocoOwnIds?: true;
  /** Class ids leave the background out: id 0 is the first real class. */
  readonly idsLeaveOutBackground?: true;
  /**
   * Which queries of a network with scores in their own tensor become detections. "pairs": the best pairs of query and
   * class, as many as there are queries; one query may give several. Usual: the best class of each query. The rule
   * `multiLabel` of the option `rules` overrides it.
   */
  readonly select?: "pairs";
  /** True: every score column of a network with queries is a class. Usual: one of them may be the background. */
  readonly everyColumn?: true;
  /** Names of the outputs in the exporter's files, by role. */
  readonly outputNames?: { readonly boxes: string; readonly scores: string };
  /** Family to use for Hugging Face's export of the network, whose outputs are named `logits` and `pred_boxes`. */
  readonly queriesLike?: Family;
  /**
   * A family with the same shapes and another meaning. An output of scores whose name matches `ours` belongs to this
   * one.
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
  /**
   * True: lists in separate tensors always come with a count, and rows beyond it are old memory. Usual: a count is
   * optional.
   */
  readonly hasCount?: true;
  /**
   * True: scores of a finished list may be one too low, since EfficientNMS writes score - 1 in FP16 engines. Usual:
   * never.
   */
  readonly mayLackOne?: true;
  /** True: the published hosts of the operator that finishes the list do not clamp its boxes. Usual: they do. */
  readonly unclamped?: true;
  /** Column orders that rows of its finished lists may have. Usual: none. */
  readonly finishedRows?: readonly RowOrderName[];
  /** Format of finished lists that must be unpacked before they are read. */
  readonly packed?: PackedForm;
  /** Keypoints follow the four box channels. */
  readonly keypoints?: true;
  /** Unit of the offsets from priors. Usual: the variances that the config states. */
  readonly offsetUnit?: "pixels";
  /** Format of rows in the option `priors`. Usual: corners, unless the box format says otherwise. */
  readonly priorFormat?: "cxcywh";
  /**
   * Factors on the offsets, in the order x, y, w, h. The offsets then have the order y x h w. Usual: those that the
   * config states.
   */
  readonly variances?: readonly [number, number, number, number];
  /** Returns the prior boxes that every network of the family has, cx cy w h, normalised. */
  readonly buildPriors?: (inputSize: readonly [number, number]) => Float32Array;
  /** Order of box channels and priors where a config states the factors as `scales`, like TensorFlow's box coder. */
  readonly scaledOrder?: "cycxhw";
  /** True: the network's own export has one row per detection. Usual: only exports with NMS inside have such rows. */
  readonly endToEnd?: true;

  /**
   * How its authors' code prepares a picture (docs/prepare.md names the sources). Usual: the defaults of `PrepareRule`,
   * which are those of Ultralytics.
   */
  readonly prepare?: PartialRule;
  /** Unit of the angles of an oriented network. Usual: logits v, with the angle (sigmoid(v) - 0.25) pi. */
  readonly angle?: "radians";
  /** Confidence threshold of the family's authors, the default of typed options. Usual: that of all typed options. */
  readonly threshold?: number;
  /** Task of every network of the family. Usual: what the config says. */
  readonly task?: TaskName;
  /** Rules in which the authors' own code differs from the named sets. A config that names a rule overrides it. */
  readonly rules?: Partial<Rules>;
  /**
   * IoU threshold and cap in the authors' own code, used as defaults of typed options. Usual: the defaults of all
   * families.
   */
  readonly defaults?: Partial<Record<"iouThreshold" | "maxDetections", number>>;
  /** Map that marks the centres of objects. `stride`: pixels of a cell; `null`: input size / map size. */
  readonly peaks?: { readonly form: PeakForm; readonly stride: number | null };
  /**
   * Mask of each row: finished, for the box or the whole input, or logits of the whole input for each query. Usual:
   * masks are made of prototypes.
   */
  readonly rowMasks?: "box" | "input" | "queries";
  /**
   * Storage order of the usual exports for masks and keypoints, whose extra channels follow those of box and classes.
   */
  readonly extraChannels?: "rows" | "planes";
  /** Family that stands for this one in matching shapes: their tensors look alike. */
  readonly like?: Family;
  /** Name to show to people. Usual: the family's id. */
  readonly title?: string;
  /** Rank at which a refusal of another family's tensors suggests this one, 1 first. Only suggested if it would fit. */
  readonly suggested?: number;
  /** Version number in a name such as "yolov8n" or "yolo-v3-tiny-tf". */
  readonly version?: string;
  /** Matches a word in a name that means this family. */
  readonly word?: RegExp;
  /** True: the word counts only where a user types the family. In a model's name it is no evidence. */
  readonly typedOnly?: true;
  /** `subtype`s of NN Archives that mean this family. */
  readonly subtypes?: readonly string[];
}
