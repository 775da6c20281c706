/** The types of a config: `Config`, the result of reading, and the options that a caller writes. */
import type { LabelSet } from "../core/labels.ts";
import type { Rules, RuleSet } from "../core/rules.ts";
import type { EngineName } from "../core/engine-name.ts";
import type { ScoreOption, Family } from "../core/family.ts";
import type { NetworkKind } from "../core/parsers.ts";
import type { PartialRule } from "../core/prepare-rule.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TaskName } from "../core/tasks.ts";
import type { TensorSpecInput } from "../core/tensor.ts";

/** Order of the four numbers of a box. "cycxhw" is the order of TensorFlow's box coder. */
export type BoxFormat = "cxcywh" | "xyxy" | "xywh" | "yxyx" | "cycxhw";

/** Unit of decoded boxes: pixels of the network input, 0..1 of the input, pixels of the photo, or strides. */
export type Coordinates = "pixels" | "normalised" | "photo" | "strides";

/** Order of the numbers of a prior box. */
export type PriorFormat = "xyxy" | "cxcywh" | "cycxhw";

/** The anchors of one feature map. `side` or `output` identifies the map, otherwise the position in the list. */
export interface AnchorSet {
  /** Width of the map in cells (`sideN` of an NN_config). */
  readonly side: number | null;
  /** Name of the output tensor (NN Archive: anchors[i] belongs to yolo_outputs[i]). */
  readonly output: string | null;
  /** [width, height] pairs in pixels of the network input. For YOLOv2, in cells. */
  readonly anchors: readonly (readonly [number, number])[];
}

/** The facts about an output tensor that a config states before any data. */
export interface OutputSpec {
  readonly name: string;
  /** `null`: the config leaves the shape open. */
  readonly dims: readonly number[] | null;
  /** Spelling of the element type, as the config has it. */
  readonly type: string | null;
  /** An archive's letters for the storage order. Some files have wrong ones, so shapes decide instead. */
  readonly layout: string | null;
  /** Storage order from the option `outputs`. No shape overrides it. */
  readonly order: string | null;
  /** Quantised outputs: real = (raw - zeroPoint) * scale. A list has one for each index of `axis`. */
  readonly scale?: number | readonly number[];
  readonly zeroPoint?: number | readonly number[];
  readonly axis?: number;
}

/** Names of the outputs by role. A list has one name per map, from the largest map to the smallest. */
export interface Roles {
  readonly boxes?: string | readonly string[];
  readonly scores?: string | readonly string[];
  readonly objectness?: string | readonly string[];
  /** Class ids of the detections. */
  readonly classIds?: string;
  /** Prior boxes. */
  readonly priors?: string;
  /** Number of detections. */
  readonly count?: string;
  /** Keypoints of a pose network. */
  readonly keypoints?: string | readonly string[];
  /** Mask coefficients of a network for instance segmentation. */
  readonly coefficients?: string | readonly string[];
  /** Angles of oriented boxes. */
  readonly angles?: string | readonly string[];
  /** Prototypes of masks. */
  readonly prototypes?: string;
  /** Masks of a network with queries: a map of logits for each query. */
  readonly masks?: string;
}

/** Options of the tasks besides boxes. Each option belongs to one task. */
export interface TaskFields {
  /** Count of keypoints, and count of values of each: 2 (x, y) or 3 (x, y, confidence). Task "pose". */
  readonly keypoints?: readonly [count: number, values: 2 | 3];
  /** Names of the keypoints, in order. Task "pose". */
  readonly keypointNames?: readonly string[];
  /** Pairs of keypoints that a skeleton joins, counted from 0. Task "pose". */
  readonly edges?: readonly (readonly [number, number])[];
  /** Form of the confidence of keypoints: "probabilities", or raw "logits". Task "pose". */
  readonly keypointScores?: "probabilities" | "logits";
  /**
   * Unit of decoded keypoints. Default: the unit of the boxes. "strides": a tensor with one row per cell holds raw
   * offsets from the cell, in strides. Task "pose".
   */
  readonly keypointCoordinates?: "pixels" | "normalised" | "strides";
  /** Rule that makes a heat map's maximum a point; see `REFINEMENTS`. Default: the authors' rule. Task "pose". */
  readonly keypointRefinement?: "none" | "centre" | "quarter" | "dark-udp" | "heatmap";
  /** Divisor that converts decoded keypoints of the family "keypoints" to 0..1. Default 1. Task "pose". */
  readonly keypointScale?: number;
  /** Count of mask coefficients of a cell, which is the count of prototypes. Task "segment". */
  readonly maskCoefficients?: number;
  /**
   * Rule by which oriented boxes suppress each other. "ultralytics": by ProbIoU, where suppressed boxes also suppress
   * others. "probiou": greedily by ProbIoU. "opencv": greedily by the IoU of polygons. Default "ultralytics". Task
   * "oriented".
   */
  readonly orientedSuppression?: "ultralytics" | "probiou" | "opencv";
  /**
   * Range of the angles in results. "regular": [0, pi/2), with width and height exchanged where needed, as in
   * Ultralytics' results. "raw": the network's own angles. Default "regular". Task "oriented".
   */
  readonly angleRange?: "regular" | "raw";
  /**
   * Form of the angle channel: "radians", "logits" (angle = (sigmoid(v) - 0.25) pi), or "fractions" (angle = (v - 0.25)
   * pi, v in 0..1). Default: "radians" if the network decodes its boxes; for raw maps, the family's form. Task
   * "oriented".
   */
  readonly angleForm?: "radians" | "logits" | "fractions";
  /**
   * Rule by which FOMO's cells become boxes. "edge-impulse": as in Edge Impulse's SDK, whose boxes grow only to the
   * right and downwards. "enclosing": the box around all cells that touch. Default "edge-impulse". Task "peaks".
   */
  readonly cellGroups?: "edge-impulse" | "enclosing";
  /**
   * Rule by which a map of text probabilities becomes boxes. "paddleocr": DBPostProcess of PaddleOCR. "depthai":
   * PPTextDetectionParser of depthai-nodes. Default "paddleocr". Task "text".
   */
  readonly textRule?: "paddleocr" | "depthai";
  /** Probability above which a pixel belongs to a text. Default 0.3, or 0.25 for textRule "depthai". Task "text". */
  readonly maskThreshold?: number;
  /** Text boxes grow by area x unclipRatio / perimeter on each side. Default 1.5. Only for "paddleocr". Task "text". */
  readonly unclipRatio?: number;
}

/** A method of `suppress` with its settings. Settings of other methods are refused. */
export interface Suppression {
  readonly method:
    | "hard"
    | "fast"
    | "diou"
    | "soft-linear"
    | "soft-gaussian"
    | "soft-tensorflow"
    | "matrix"
    | "weighted"
    | "merge"
    | "nmw";
  /** Default: `iouThreshold` of the decoder, but 1 for "soft-tensorflow". */
  readonly iouThreshold?: number;
  /** Width of the Gaussian of "soft-gaussian", "soft-tensorflow" and "matrix". */
  readonly sigma?: number;
  /** Power of the penalty of "diou". */
  readonly beta?: number;
  /** Kernel of "matrix": the factor on a score as a function of the IoU. */
  readonly kernel?: "gaussian" | "linear";
  /** Score below which a box is dropped after the method lowered its score. Default: the confidence threshold. */
  readonly scoreThreshold?: number;
}

/** The task of a network and the options of that task. */
export interface TaskConfig extends TaskFields {
  readonly name: TaskName;
}

/**
 * A config after reading: a file or typed options, overridden by the options of `createDecoder`. Every field is
 * present; `null` means that no source stated it. A config and the shapes of the outputs make a plan.
 */
export interface Config {
  /** The format that the config came in. */
  readonly format: "NN_config" | "nn_config" | "nn-archive" | "options";
  /**
   * Who decodes: the device ("detection") or the host ("raw"). `null`: the file states neither, and the host decodes.
   */
  readonly outputFormat: "detection" | "raw" | null;
  /** False if the file names no family, so that nothing can be decoded. `note` then states the reason. */
  readonly decodes: boolean;
  readonly note: string | null;

  /** Kind of network that the file names. "yolo" may be several families; `settleFamily` finds which. */
  readonly kind: NetworkKind | null;
  /** Family that an option or a model file states. */
  readonly family: Family | null;
  /** Exporter of the model file that determined the family. Absent if an option stated the family. */
  readonly familyExporter?: string;
  /** `subtype` of an NN Archive, unchanged. */
  readonly subtype: string | null;
  /** `model.model_name`, or the archive's `model.metadata.name`: evidence for the family. */
  readonly modelName: string | null;

  readonly classes: number | null;
  /** Class names by class id. */
  readonly labels: readonly string[] | null;
  /** [width, height] of the network input in pixels. */
  readonly inputSize: readonly [number, number] | null;
  /** 0..1: one value for all classes, or one per class. */
  readonly confidenceThreshold: number | readonly number[];
  /** 0..1: IoU above which a box is suppressed. */
  readonly iouThreshold: number;
  /** Largest count of detections of an image. */
  readonly maxDetections: number;

  /** `[]`: the file says that the network has no anchors. `null`: the file says nothing about anchors. */
  readonly anchorSets: readonly AnchorSet[] | null;
  /** Pixels per cell, from the largest map to the smallest. */
  readonly strides: readonly number[] | null;
  /** Grid sensitivity of anchor heads: one value, or one per map, largest first. */
  readonly scaleXY: number | readonly number[] | null;
  readonly scores: ScoreOption | null;
  readonly reading: ReadingName | null;
  readonly boxFormat: BoxFormat | null;
  /** Unit of decoded boxes, and of distance maps that may be in pixels or strides. */
  readonly coordinates: Coordinates | null;
  /** Prior boxes: four numbers per box, or eight with the variances after them. */
  readonly priors: Float32Array | null;
  /** Index of the class column of the background. `false` if there is none. */
  readonly background: number | false | null;
  /**
   * Factors on the offsets x, y, w, h from a prior, such as the variances 0.1, 0.1, 0.2, 0.2, or the inverse of the
   * scales 10, 10, 5, 5.
   */
  readonly variances: readonly [number, number, number, number] | null;
  /** True if the factors came as TensorFlow's `scales`. Box channels then have the order ty tx th tw. */
  readonly scalesGiven: boolean;
  /** Order of the numbers of a prior. `null`: the family's usual order. */
  readonly priorFormat: PriorFormat | null;
  /** Class names or class ids to look for; `null`: all. */
  readonly keep: readonly (string | number)[] | null;
  /** Value of the option `prepare`: how the network wants its picture. Overrides `picture`. */
  readonly prepare: PartialRule | null;
  /** The file's facts about the picture: `inputs` of an NN Archive, `input` of a `Model`. For `decoder.prepare`. */
  readonly picture: unknown;
  /** Facts about outputs that are stated before any data. */
  readonly outputs: readonly OutputSpec[] | null;
  /** Names of the outputs that belong to the detection head. Other outputs are ignored. */
  readonly headOutputs: readonly string[] | null;
  readonly roles: Roles | null;
  /** The task of the network. `null` means boxes only. */
  readonly task: TaskConfig | null;
  /** The method of suppression. `null`: greedy suppression by IoU, in the kernel. */
  readonly suppression: Suppression | null;
  /** Named set of rules. */
  readonly ruleSet: RuleSet;
  /** Single rules that override the named set. */
  readonly rules: Partial<Rules>;
}

/** Options of `createDecoder`. They override the config. Lengths are in pixels of the network input. */
export interface DecoderOptions extends TaskFields {
  /** Engine. Default "auto": the fastest engine that the runtime can run. */
  readonly engine?: EngineName | "auto";
  /** Family of the network. */
  readonly family?: Family;
  /** Task of the network. Default "detect": boxes. With `boxwright/core`, also pass the task in `tasks`. */
  readonly task?: TaskName;
  /** A named set of rules, or single rules that override the config's set. */
  readonly rules?: RuleSet | (Partial<Rules> & { readonly set?: RuleSet });
  /**
   * "probabilities": the network applied the sigmoid or softmax. "logits": the decoder applies the sigmoid.
   * "softmax-logits": the decoder applies the softmax (Caffe and PyTorch SSD).
   */
  readonly scores?: ScoreOption;
  /** [width, height] of the network input in pixels. */
  readonly inputSize?: readonly [number, number];
  /** Pixels per cell, from the largest map to the smallest. */
  readonly strides?: readonly number[];
  /** Grid sensitivity of anchor heads (YOLOv4: 1.05 to 1.2): one value, or one per map, largest first. */
  readonly scaleXY?: number | readonly number[];
  /**
   * Anchors of raw maps of YOLOv2 to v7, width and height in pixels of the network input (YOLOv2: in cells), from the
   * largest map to the smallest. Four forms: flat (w, h, w, h, ...), pairs, a flat list per map, a list of pairs per
   * map.
   */
  readonly anchors?:
    | readonly number[]
    | readonly (readonly [number, number])[]
    | readonly (readonly number[])[]
    | readonly (readonly (readonly [number, number])[])[];
  /** Indices of the anchors of each map: a list per map, largest first, or by map width or output name. */
  readonly anchorMasks?: readonly (readonly number[])[] | { readonly [side: string]: readonly number[] };
  /** Prior boxes of SSD heads: four numbers per box, or eight with the variances after them (Caffe). */
  readonly priors?: Float32Array | readonly number[];
  /** Order of the numbers of a prior box. */
  readonly priorFormat?: PriorFormat;
  /** Factors on x, y, w, h of the offsets of SSD heads (Caffe and PyTorch: 0.1, 0.1, 0.2, 0.2). */
  readonly variances?: readonly [number, number, number, number];
  /**
   * Divisors of y, x, h, w in place of `variances` (TensorFlow: 10, 10, 5, 5). Channels and priors then have this
   * order.
   */
  readonly scales?: readonly [number, number, number, number];
  /** Class column of SSD scores that means background: 0 (default), the last, or `false` for none. */
  readonly background?: number | false;
  /** Order of the numbers of a decoded box. For SSD offsets, "cycxhw" means the order ty tx th tw. */
  readonly boxFormat?: BoxFormat;
  /**
   * Unit of decoded boxes. `"pixels"`: of the network input. `"normalised"`: 0..1 of the network input. `"photo"`:
   * pixels of the photo, if the network got the photo's size as an input; no letterbox is then undone. Default: the
   * family's unit, which is pixels for YOLO. For RTMDet's maps: "pixels" (mmdetection, mmdeploy) or `"strides"`
   * (mmyolo). Default: determined by the values of the first frame.
   */
  readonly coordinates?: Coordinates;
  /** Names of the outputs by role. Needed if the roles do not follow from shapes and names. */
  readonly roles?: Roles;
  /** Selects a reading if the tensors' shapes allow several. The error about several readings lists their names. */
  readonly reading?: ReadingName;
  /**
   * Rule by which `prepare` makes an input tensor of a picture. Overrides the file and the family's usual preparation.
   */
  readonly prepare?: PartialRule;
  /** Class names by class id: a list, a record (`{0: "person"}`), or the name of a list (`"coco80"`). */
  readonly labels?: LabelSet | readonly string[] | (object & { readonly [classId: number]: string });
  /** Number of classes. Default: the number of labels. */
  readonly classes?: number;
  /** 0..1: one value, or one per class. Default of typed options 0.25, of files 0.5. */
  readonly confidenceThreshold?: number | readonly number[];
  /** 0..1: IoU above which a box is suppressed. Default of typed options 0.45, of files 0.5. */
  readonly iouThreshold?: number;
  /** Method of suppression. It acts within each class, or across classes if `rules` contain `suppress: "all"`. */
  readonly suppression?: Suppression["method"] | Suppression;
  /** Class names or class ids to look for. Scores of other classes are not read. */
  readonly keep?: readonly (string | number)[];
  /** Largest count of detections of an image. Each column of `Detections` has this length. */
  readonly maxDetections?: number;
  /**
   * Called once for each new note about a likely mistake that does not stop decoding. `describe()` lists the notes too.
   * The callback must not call `decode` of the same decoder, whose result is not returned yet. Default: outside of
   * production, `console.warn` gets the first note of each kind. Outside of production means Node unless NODE_ENV is
   * "production", pages on localhost, and development builds of a bundler.
   */
  readonly onNote?: (note: string) => void;
  /**
   * True: each result is a copy that later frames do not change, as if made by `copy()`, so each frame allocates
   * memory. Helps to find code that keeps results for too long. Default false.
   */
  readonly fresh?: boolean;
  /** Shapes and types of tensors, if known in advance. Slots exist at once; tensors of other shapes are refused. */
  readonly outputs?: readonly TensorSpecInput[] | { readonly [name: string]: TensorSpecInput };
}

/** Typed options, in place of a config file: `{ family: "yolov8", classes: 80, inputSize: [640, 640] }`. */
export interface TypedOptions extends Omit<DecoderOptions, "engine" | "outputs" | "onNote" | "fresh"> {
  readonly family: Family;
}
