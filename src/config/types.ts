/** The types of a config: `Config` as read from a file, and the options that a caller writes. */
import type { Conventions, ConventionSet } from "../core/conventions.ts";
import type { EngineName } from "../core/engine-name.ts";
import type { ActivationOption, Family, NetworkKind } from "../core/families.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TensorSpecInput } from "../core/tensor.ts";

/** How a box is written. "cycxhw" is the order of TensorFlow's box coder. */
export type BoxFormat = "cxcywh" | "xyxy" | "xywh" | "yxyx" | "cycxhw";

/** How a row of prior boxes is written. */
export type PriorFormat = "xyxy" | "cxcywh" | "cycxhw";

/** Anchors of one output layer. Which layer it is: `side` (its width), or `output` (its name), or its rank by size. */
export interface AnchorSet {
  /** Width of the output layer (`sideN` of an NN_config). */
  readonly side: number | null;
  /** Name of the output tensor (NN Archive: anchors[i] belongs to yolo_outputs[i]). */
  readonly output: string | null;
  /** [width, height] pairs, in input pixels (YOLOv2: in cells). */
  readonly anchors: readonly (readonly [number, number])[];
}

/** What a file says beforehand of one output tensor. */
export interface OutputSpec {
  readonly name: string;
  readonly dims: readonly number[] | null;
  readonly type: string | null;
  /**
   * Letters of an archive for the storage order. They are wrong in some files, so shapes decide and these are not
   * asked.
   */
  readonly layout: string | null;
  /** Storage order as the option `outputs` states it, which is taken at its word. */
  readonly order: string | null;
  /** Quantised outputs: real = (raw - zeroPoint) * scale. */
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** Which output plays which part, by name. A value is a name, or names from the largest map to the smallest. */
export interface Roles {
  readonly boxes?: string | readonly string[];
  readonly scores?: string | readonly string[];
  readonly objectness?: string | readonly string[];
  readonly labels?: string;
  readonly priors?: string;
  readonly count?: string;
}

/**
 * A config file or typed options as read: every field is there, `null` where nothing was said. What makes a plan,
 * together with shapes.
 */
export interface Config {
  /** Where it came from. */
  readonly format: "NN_config" | "nn_config" | "nn-archive" | "options";
  /** `null` where the file says neither; the host then decodes, as for "raw". */
  readonly outputFormat: "detection" | "raw" | null;
  /** False: the file names no family ("raw" and nothing else), so there is nothing to decode; `note` says so. */
  readonly decodes: boolean;
  readonly note: string | null;

  /** The kind of network the file names; "yolo" leaves the head rule open, see `settleFamily`. */
  readonly kind: NetworkKind | null;
  /** A family stated outright (typed options). */
  readonly family: Family | null;
  /** NN Archive `subtype`, as written. */
  readonly subtype: string | null;
  /** `model.model_name` or the archive's `model.metadata.name`: evidence for the head rule. */
  readonly modelName: string | null;

  readonly classes: number | null;
  readonly labels: readonly string[] | null;
  /** [width, height] of the network input in pixels. */
  readonly inputSize: readonly [number, number] | null;
  /** One value for all classes, or one per class. */
  readonly confidenceThreshold: number | readonly number[];
  readonly iouThreshold: number;
  readonly maxDetections: number;

  /** `[]`: the file says there are none (left-top-right-bottom distances); `null`: it says nothing. */
  readonly anchorSets: readonly AnchorSet[] | null;
  /** Pixels per cell, from the largest map to the smallest. */
  readonly strides: readonly number[] | null;
  readonly scaleXY: number | readonly number[] | null;
  readonly activation: ActivationOption | null;
  readonly reading: ReadingName | null;
  readonly boxFormat: BoxFormat | null;
  readonly coordinates: "pixels" | "normalised" | null;
  readonly priors: Float32Array | null;
  /** Class column that means "nothing here", `false` for none. */
  readonly background: number | false | null;
  /** Factors on (x, y, w, h) of a prior-based box: variances 0.1,0.1,0.2,0.2 or the inverse of scales 10,10,5,5. */
  readonly variances: readonly [number, number, number, number] | null;
  /** The factors came as TensorFlow-style `scales`: box channels are then ty tx th tw. */
  readonly scalesGiven: boolean;
  /** How the rows of `priors` are written; `null`: corners where variances go with them, centre and size else. */
  readonly priorFormat: PriorFormat | null;
  /** Class names or numbers to look for; `null`: all. */
  readonly keep: readonly (string | number)[] | null;
  readonly outputs: readonly OutputSpec[] | null;
  /** Names of the outputs that belong to the detection head; other outputs are left alone. */
  readonly headOutputs: readonly string[] | null;
  readonly roles: Roles | null;
  readonly conventions: ConventionSet;
  /** Single rules over the set. */
  readonly rules: Partial<Conventions>;
}

/**
 * What a caller sets beside the config, or over what it says. Lengths are in pixels of the network's input unless said
 * otherwise.
 */
export interface DecoderOptions {
  /** Default "auto": the fastest that runs here. */
  readonly engine?: EngineName | "auto";
  /** Over what the config says or leaves open. */
  readonly family?: Family;
  /** A named set of rules, or single rules over the config's set. */
  readonly conventions?: ConventionSet | (Partial<Conventions> & { readonly set?: ConventionSet });
  /**
   * "sigmoid": the tensor holds probabilities; "logits": the decoder applies the sigmoid; "softmax": or the softmax
   * (Caffe and PyTorch SSD).
   */
  readonly activation?: ActivationOption;
  /** [width, height] of the network input, pixels. */
  readonly inputSize?: readonly [number, number];
  /** Pixels per cell, from the largest map to the smallest. */
  readonly strides?: readonly number[];
  /** Grid sensitivity of anchor heads (YOLOv4: 1.05 to 1.2), one value or one per map, largest first. */
  readonly scaleXY?: number | readonly number[];
  /** Prior boxes of SSD heads: four numbers a box, or eight with the variances behind (Caffe). */
  readonly priors?: Float32Array;
  /** How the rows of `priors` are written. */
  readonly priorFormat?: PriorFormat;
  /** Factors on x, y, w, h of the offsets of SSD heads, in that order (Caffe and PyTorch: 0.1, 0.1, 0.2, 0.2). */
  readonly variances?: readonly [number, number, number, number];
  /**
   * The inverse of such factors, in place of them, on y, x, h, w; box channels and priors then have that order too
   * (TensorFlow: 10, 10, 5, 5).
   */
  readonly scales?: readonly [number, number, number, number];
  /**
   * Class column of SSD scores that means "nothing here": the first (0, the default), the last, or `false` for none.
   */
  readonly background?: number | false;
  /** How decoded boxes are written, or which of the offsets of an SSD head comes first ("cycxhw": ty tx th tw). */
  readonly boxFormat?: BoxFormat;
  /** What decoded boxes are counted in. Default: pixels of the network's input for YOLO rows and planes. */
  readonly coordinates?: "pixels" | "normalised";
  /** Which output plays which part, by name, where shapes and names do not tell. */
  readonly roles?: Roles;
  /** Which reading to take where shapes allow several; the error that lists them gives the names. */
  readonly reading?: ReadingName;
  /** Class names in the order of the class numbers. */
  readonly labels?: readonly string[];
  /** How many classes; without it as many as there are labels. */
  readonly classes?: number;
  /** 0..1, or one for each class. Typed options: 0.25 by default; files: 0.5. */
  readonly confidenceThreshold?: number | readonly number[];
  /** 0..1: which overlap suppresses. Typed options: 0.45 by default; files: 0.5. */
  readonly iouThreshold?: number;
  /** Class names or numbers to look for; the others are not even read. */
  readonly keep?: readonly (string | number)[];
  /** Upper bound for good: the columns of `Detections` have so many rows. */
  readonly maxDetections?: number;
  /** Tensors known beforehand: slots exist at once, and other shapes throw. */
  readonly outputs?: readonly TensorSpecInput[] | { readonly [name: string]: TensorSpecInput };
}

/**
 * What stands for a config file where there is none: `createDecoder({ family: "yolov8", classes: 80, inputSize: [640,
 * 640] })`.
 */
export interface TypedOptions extends Omit<DecoderOptions, "engine" | "outputs"> {
  readonly family: Family;
  /**
   * Anchors of YOLOv2 to v7 raw maps, width and height in pixels of the input (YOLOv2: in cells), from the largest map
   * to the smallest: flat (w, h, w, h, ...), as pairs, as a flat list for each map, or as a list of pairs for each map.
   */
  readonly anchors?:
    | readonly number[]
    | readonly (readonly [number, number])[]
    | readonly (readonly number[])[]
    | readonly (readonly (readonly [number, number])[])[];
  /**
   * Which of the anchors belong to which map: a list for each map, largest first, or by the map's width (`side26`) or
   * output name.
   */
  readonly anchorMasks?: readonly (readonly number[])[] | { readonly [side: string]: readonly number[] };
}
