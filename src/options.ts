/** Options of `createDecoder` that go over what the config says. */
import { hasOwn } from "./own.ts";
import type { Config, OutputSpec, Roles } from "./config.ts";
import { CONVENTIONS, type Conventions, type ConventionSet } from "./conventions.ts";
import type { EngineName } from "./engine.ts";
import { ConfigError, type ConfigProblem } from "./errors.ts";
import { ACTIVATIONS, type ActivationOption, FAMILIES, type Family } from "./families.ts";
import { type TensorSpecInput, show } from "./tensor.ts";

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

const FORMATS = ["cxcywh", "xyxy", "xywh", "yxyx", "cycxhw"];

/**
 * The config with the options over it.
 * @throws ConfigError with every problem at once; its paths begin with `options`.
 */
export function withOptions(config: Config, o: DecoderOptions): Config {
  const problems: ConfigProblem[] = [];
  const wrong = (name: string, got: unknown, expected: string): void =>
    void problems.push({ path: `options.${name}`, message: `got ${show(got)}, expected ${expected}` });
  const oneOf = (name: keyof DecoderOptions, values: readonly string[]): void => {
    if (o[name] !== undefined && !values.includes(o[name] as string))
      wrong(name, o[name], `one of ${values.join(", ")}`);
  };
  const positives = (name: keyof DecoderOptions, length?: number): void => {
    const v = o[name] as unknown;
    if (
      v !== undefined &&
      !(
        Array.isArray(v) &&
        v.every((x) => typeof x === "number" && x > 0 && x < Infinity) &&
        (length === undefined ? v.length > 0 : v.length === length)
      )
    )
      wrong(name, v, `${length ?? "some"} positive numbers`);
  };
  oneOf("family", FAMILIES);
  oneOf("activation", ACTIVATIONS);
  oneOf("priorFormat", ["xyxy", "cxcywh", "cycxhw"]);
  oneOf("boxFormat", FORMATS);
  oneOf("coordinates", ["pixels", "normalised"]);
  positives("inputSize", 2);
  positives("strides");
  positives("variances", 4);
  positives("scales", 4);
  if (o.variances !== undefined && o.scales !== undefined)
    wrong("scales", o.scales, "either scales or variances, one is the inverse of the other");
  if (typeof o.scaleXY === "number") {
    if (!(o.scaleXY > 0)) wrong("scaleXY", o.scaleXY, "a positive number");
  } else positives("scaleXY");
  if (o.priors !== undefined && (!ArrayBuffer.isView(o.priors) || o.priors.length % 4 !== 0))
    wrong("priors", o.priors, "a Float32Array of four numbers a box");
  if (o.classes !== undefined && !(Number.isInteger(o.classes) && o.classes > 0))
    wrong("classes", o.classes, "a positive whole number");
  if (o.maxDetections !== undefined && !(Number.isInteger(o.maxDetections) && o.maxDetections > 0))
    wrong("maxDetections", o.maxDetections, "a positive whole number");
  const unit = (x: unknown): boolean => typeof x === "number" && x >= 0 && x <= 1;
  const confidence = o.confidenceThreshold;
  const classes = o.classes ?? config.classes;
  if (confidence !== undefined) {
    if (Array.isArray(confidence) ? confidence.length === 0 || !confidence.every(unit) : !unit(confidence))
      wrong("confidenceThreshold", confidence, "0..1, or an array of such, one per class");
    else if (Array.isArray(confidence) && classes !== null && confidence.length !== classes)
      wrong("confidenceThreshold", confidence, `${classes} values, one per class`);
  }
  if (o.iouThreshold !== undefined && !unit(o.iouThreshold)) wrong("iouThreshold", o.iouThreshold, "0..1");
  if (
    o.keep !== undefined &&
    !(Array.isArray(o.keep) && o.keep.every((k) => typeof k === "string" || Number.isInteger(k)))
  )
    wrong("keep", o.keep, "class names or class numbers");
  if (o.outputs !== undefined && (o.outputs === null || typeof o.outputs !== "object"))
    wrong("outputs", o.outputs, "an array or a record of {dims, type}");
  if (o.reading !== undefined && typeof o.reading !== "string")
    wrong("reading", o.reading, "the name of a reading");

  let set = config.conventions;
  let rules = config.rules;
  if (typeof o.conventions === "string") {
    if (!hasOwn(CONVENTIONS, o.conventions))
      wrong("conventions", o.conventions, `one of ${Object.keys(CONVENTIONS).join(", ")}`);
    set = o.conventions;
    rules = {};
  } else if (o.conventions !== undefined) {
    const { set: named, ...single } = o.conventions;
    if (named !== undefined) {
      if (!hasOwn(CONVENTIONS, named))
        wrong("conventions.set", named, `one of ${Object.keys(CONVENTIONS).join(", ")}`);
      set = named;
      rules = {};
    }
    for (const [name, value] of Object.entries(single)) checkRule(name, value, wrong);
    rules = { ...rules, ...single };
  }
  if (problems.length > 0) throw new ConfigError(problems);

  // a stated family is what the file should have said, so there is something to decode after all
  const decodes = config.decodes || o.family !== undefined;
  const rulesOf = { ...CONVENTIONS[set], ...rules };
  return {
    ...config,
    decodes,
    note: decodes ? null : config.note,
    family: o.family ?? config.family,
    classes,
    labels: o.labels ?? config.labels,
    inputSize: o.inputSize ?? config.inputSize,
    strides: o.strides ?? config.strides,
    scaleXY: o.scaleXY ?? config.scaleXY,
    activation: o.activation ?? config.activation,
    reading: o.reading ?? config.reading,
    boxFormat: o.boxFormat ?? config.boxFormat,
    coordinates: o.coordinates ?? config.coordinates,
    priors: o.priors ?? config.priors,
    priorFormat: o.priorFormat ?? config.priorFormat,
    background: o.background ?? config.background,
    variances:
      o.variances ??
      (o.scales === undefined
        ? config.variances
        : (o.scales.map((s) => 1 / s) as unknown as Config["variances"])),
    scalesGiven: o.scales !== undefined || (o.variances === undefined && config.scalesGiven),
    roles: o.roles ?? config.roles,
    keep: o.keep ?? config.keep,
    confidenceThreshold: confidence ?? config.confidenceThreshold,
    iouThreshold: o.iouThreshold ?? config.iouThreshold,
    // a set named here brings its own cap along, a bound given here goes over both
    maxDetections:
      o.maxDetections ??
      (o.conventions === undefined
        ? config.maxDetections
        : Math.min(config.maxDetections, rulesOf.maxDetections)),
    conventions: set,
    rules,
    outputs: o.outputs === undefined ? config.outputs : outputSpecs(o.outputs),
  };
}

/** Values a single rule may have. */
const RULE_VALUES: Readonly<Record<string, readonly unknown[] | "count">> = {
  score: ["product", "class"],
  gate: [">", ">="],
  nms: ["class", "all", "none"],
  suppress: [">", ">="],
  pixelOffset: [0, 1],
  clamp: ["none", "before", "after", "centre"],
  multiLabel: [true, false],
  maxCandidates: "count",
  maxDetections: "count",
  countBackground: [true, false],
};

/** Reports a rule that does not exist or a value it cannot have. */
export function checkRule(
  name: string,
  value: unknown,
  wrong: (name: string, got: unknown, expected: string) => void,
): void {
  const values = hasOwn(RULE_VALUES, name) ? RULE_VALUES[name] : undefined;
  if (values === undefined)
    wrong(`conventions.${name}`, value, `a rule: ${Object.keys(RULE_VALUES).join(", ")}`);
  else if (values === "count") {
    if (!(Number.isInteger(value) && (value as number) >= 0))
      wrong(`conventions.${name}`, value, "a whole number");
  } else if (!values.includes(value)) wrong(`conventions.${name}`, value, values.map(show).join(" or "));
}

function outputSpecs(outputs: NonNullable<DecoderOptions["outputs"]>): OutputSpec[] {
  const list: readonly (readonly [string | undefined, TensorSpecInput])[] = Array.isArray(outputs)
    ? (outputs as readonly TensorSpecInput[]).map((o) => [o.name, o] as const)
    : Object.entries(outputs as { readonly [name: string]: TensorSpecInput });
  return list.map(([name, o], i) => ({
    name: name ?? `output${i}`,
    dims: o.dims,
    type: o.type ?? null,
    order: o.order ?? null,
    ...(o.scale === undefined ? {} : { scale: o.scale }),
    ...(o.zeroPoint === undefined ? {} : { zeroPoint: o.zeroPoint }),
  }));
}
