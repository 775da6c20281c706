/** What a family of networks is: its name, and the facts that its row states. */
import type { PartialRule } from "./prepare-rule.ts";
import type { PackedForm, RowOrderName } from "./row-orders.ts";
import type { Rules } from "./rules.ts";
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

/**
 * Name of a form of output tensors that exporters write. `shapes/ways.ts` states the channels of the form, and
 * `heads/exports.ts` reads it.
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
  /** Count of the unread channels that follow the class scores. Usual: 0. */
  readonly ignored?: number;
  /** Networks with these bins are of this family, and their maps come as rows. */
  readonly ownBins?: true;
  /** How many classes there are. "in shapes": the shapes or a class id column tell. Usual: the config has to say. */
  readonly classes?: "in shapes" | 1;
  /** Name of the single class that all published networks have. It is the label where no labels are given. */
  readonly className?: "face" | "palm" | "person" | "text";
  /** Score column that means "nothing here". Lists with an entry per class may then name it. Usual: no column. */
  readonly background?: "first" | "last";
  /** Networks that know COCO have its own class ids, 1..90. Usual: 0..79, without gaps. */
  readonly cocoOwnIds?: true;
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
  /** Family that reads Hugging Face's export of the network, whose outputs are named `logits` and `pred_boxes`. */
  readonly queriesLike?: Family;
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
  /** Lists in tensors of their own always come with a count: rows beyond it hold old memory. Usual: perhaps. */
  readonly hasCount?: true;
  /**
   * Scores of a finished list may be one too low: EfficientNMS writes score - 1 in FP16 engines. Usual: never.
   */
  readonly mayLackOne?: true;
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
  /** Form of the angles of an oriented network. Usual: logits v, with the angle (sigmoid(v) - 0.25) pi. */
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
  /**
   * Storage order of the usual exports for masks and keypoints, whose extra channels follow those of box and classes.
   */
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
