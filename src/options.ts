/** Options of `createDecoder` that go over what the config says. */
import type { Config, OutputSpec, Roles } from "./config.ts";
import { SETTING_NAMES, readSettings } from "./config/options.ts";
import { Reader, isObject } from "./config/reader.ts";
import type { Conventions, ConventionSet } from "./conventions.ts";
import type { EngineName } from "./engine.ts";
import type { ActivationOption, Family } from "./families.ts";
import type { TensorSpecInput } from "./tensor.ts";

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
  /** Factors on the four box channels of SSD heads, or `scales`, their inverse (TensorFlow: 10, 10, 5, 5). */
  readonly variances?: readonly [number, number, number, number];
  readonly scales?: readonly [number, number, number, number];
  readonly background?: number | false;
  readonly boxFormat?: "cxcywh" | "xyxy" | "xywh" | "yxyx" | "cycxhw";
  readonly coordinates?: "pixels" | "normalised";
  readonly roles?: Roles;
  /** Which reading to take where shapes allow several; the error that lists them gives the names. */
  readonly reading?: string;
  readonly labels?: readonly string[];
  readonly classes?: number;
  readonly confidenceThreshold?: number | readonly number[];
  readonly iouThreshold?: number;
  /** Class names or numbers to look for; the others are not even read. */
  readonly keep?: readonly (string | number)[];
  /** Upper bound for good: the columns of `Detections` have so many rows. */
  readonly maxDetections?: number;
  /** Tensors known beforehand: slots exist at once, and other shapes throw. */
  readonly outputs?: readonly TensorSpecInput[] | { readonly [name: string]: TensorSpecInput };
}

/**
 * The config with the options over it.
 * @throws ConfigError with every problem at once; its paths begin with `options`.
 */
export function withOptions(config: Config, options: DecoderOptions): Config {
  const r = new Reader({ options }).object("options");
  r.only(["engine", ...SETTING_NAMES, "outputs"]);
  const settled = readSettings(r, config);
  const outputs = r.take<NonNullable<DecoderOptions["outputs"]>>("outputs", [
    "an array or a record of {dims, type}",
    (x) => typeof x === "object" && Object.values(x as object).every(isObject),
  ]);
  r.done();
  return outputs === null ? settled : { ...settled, outputs: outputSpecs(outputs) };
}

function outputSpecs(outputs: NonNullable<DecoderOptions["outputs"]>): OutputSpec[] {
  const named = !Array.isArray(outputs);
  return Object.entries(outputs as { readonly [name: string]: TensorSpecInput }).map(([name, o]) => ({
    name: named ? name : (o.name ?? `output${name}`),
    dims: o.dims,
    type: o.type ?? null,
    order: o.order ?? null,
    scale: o.scale,
    zeroPoint: o.zeroPoint,
  }));
}
