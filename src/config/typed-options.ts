/** Options of `createDecoder` that go over what the config says. */
import type { Config, OutputSpec, Roles } from "./config.ts";
import { SETTING_NAMES, readSettings } from "./options.ts";
import { FieldReader, isObject, oneOf } from "./fields.ts";
import type { Conventions, ConventionSet } from "../core/conventions.ts";
import type { EngineName } from "../core/engine-name.ts";
import type { ActivationOption, Family } from "../core/families.ts";
import type { TensorSpecInput } from "../core/tensor.ts";

/** What a caller sets beside the config, or over what it says. Lengths are in pixels of the network's input unless said otherwise. */
export interface DecoderOptions {
  /** Default "auto": the fastest that runs here. */
  readonly engine?: EngineName | "auto";
  /** Over what the config says or leaves open. */
  readonly family?: Family;
  /** A named set of rules, or single rules over the config's set. */
  readonly conventions?: ConventionSet | (Partial<Conventions> & { readonly set?: ConventionSet });
  /** "sigmoid": the tensor holds probabilities; "logits": the decoder applies the sigmoid; "softmax": or the softmax (Caffe and PyTorch SSD). */
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
  readonly priorFormat?: "xyxy" | "cxcywh" | "cycxhw";
  /** Factors on x, y, w, h of the offsets of SSD heads, in that order (Caffe and PyTorch: 0.1, 0.1, 0.2, 0.2). */
  readonly variances?: readonly [number, number, number, number];
  /** The inverse of such factors, in place of them, on y, x, h, w; box channels and priors then have that order too (TensorFlow: 10, 10, 5, 5). */
  readonly scales?: readonly [number, number, number, number];
  /** Class column of SSD scores that means "nothing here": the first (0, the default), the last, or `false` for none. */
  readonly background?: number | false;
  /** How decoded boxes are written, or which of the offsets of an SSD head comes first ("cycxhw": ty tx th tw). */
  readonly boxFormat?: "cxcywh" | "xyxy" | "xywh" | "yxyx" | "cycxhw";
  /** What decoded boxes are counted in. Default: pixels of the network's input for YOLO rows and planes. */
  readonly coordinates?: "pixels" | "normalised";
  /** Which output plays which part, by name, where shapes and names do not tell. */
  readonly roles?: Roles;
  /** Which reading to take where shapes allow several; the error that lists them gives the names. */
  readonly reading?: string;
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

/** What stands for a config file where there is none: `createDecoder({ family: "yolov8", classes: 80, inputSize: [640, 640] })`. */
export interface TypedOptions extends Omit<DecoderOptions, "engine" | "outputs"> {
  readonly family: Family;
  /**
   * Anchors of YOLOv2 to v7 raw maps, width and height in pixels of the input (YOLOv2: in cells), from the largest map to the
   * smallest: flat (w, h, w, h, ...), as pairs, as a flat list for each map, or as a list of pairs for each map.
   */
  readonly anchors?:
    | readonly number[]
    | readonly (readonly [number, number])[]
    | readonly (readonly number[])[]
    | readonly (readonly (readonly [number, number])[])[];
  /** Which of the anchors belong to which map: a list for each map, largest first, or by the map's width (`side26`) or output name. */
  readonly anchorMasks?: readonly (readonly number[])[] | { readonly [side: string]: readonly number[] };
}

/**
 * The config with the options over it.
 * @throws ConfigError with every problem at once; its paths begin with `options`.
 */
export function withOptions(config: Config, options: DecoderOptions): Config {
  const r = new FieldReader({ options }).object("options");
  r.only(["engine", ...SETTING_NAMES, "outputs"]);
  r.take("engine", oneOf(["auto", "simd", "scalar", "ts"]));
  const settled = readSettings(r, config);
  const outputs = r.take<NonNullable<DecoderOptions["outputs"]>>("outputs", [
    "an array or a record of {dims, type}",
    (x) => typeof x === "object" && Object.values(x as object).every(isObject),
  ]);
  r.done();
  return outputs ? { ...settled, outputs: outputSpecs(outputs) } : settled;
}

function outputSpecs(outputs: NonNullable<DecoderOptions["outputs"]>): OutputSpec[] {
  const named = !Array.isArray(outputs);
  return Object.entries(outputs as { readonly [name: string]: TensorSpecInput }).map(([name, o]) => ({
    name: named ? name : (o.name ?? `output${name}`),
    dims: o.dims,
    type: o.type ?? null,
    layout: null,
    order: o.order ?? null,
    scale: o.scale,
    zeroPoint: o.zeroPoint,
  }));
}
