/** What readings are asked: a config with its family settled, and what it says of outputs beforehand. */
import { blazeface, ultraface } from "./built-priors.ts";
import type { Config, OutputSpec } from "../config/types.ts";
import type { Conventions } from "../core/conventions.ts";
import { refuse } from "../core/errors.ts";
import { type Activation, type Family, type FamilyTraits, TRAITS, settleFamily } from "../core/families.ts";
import { list, elementType, isFloat, specOf, type TensorSpec, type TensorSpecInput } from "../core/tensor.ts";

/** What the readings need of the config; see `Config` for what is not here. */
export interface HeadQuery extends Omit<Config, "family" | "rules" | "classes" | "activation"> {
  readonly family: Family;
  readonly traits: FamilyTraits;
  /** NaN where the config does not say: no number of channels is right then. */
  readonly classes: number;
  /** What the config or the default of its source says; `null`: by family and form. */
  readonly activation: Activation | null;
  readonly product: boolean;
  readonly countBackground: boolean;
  /** Raw values of a tensor where they are at hand (priors given as an input), else `null`. */
  readonly valuesOf: (index: number) => ArrayLike<number> | null;
}

/** The tensors as the config gives them beforehand: all outputs with their shapes. */
export const specsOf = (config: Config): TensorSpec[] | undefined =>
  config.outputs?.map((o) => specOf(o.name, o as TensorSpecInput));

/** The same where it is enough to make a plan of: every shape, and every scale. */
export function knownSpecs(config: Config): TensorSpec[] | null {
  const { decodes, outputs } = config;
  const enough =
    decodes && outputs?.length && outputs.every((o) => o.dims !== null && !lacksScale(config, o));
  return enough ? (specsOf(config) as TensorSpec[]) : null;
}

/** An archive names integer outputs but has no room for their scale: that comes with the data, or with the option `outputs`. */
function lacksScale(config: Config, o: OutputSpec): boolean {
  const type = o.type === null ? null : elementType(o.type);
  return config.format === "nn-archive" && o.scale === undefined && type !== null && !isFloat({ type });
}

/** The tensors that the config names as outputs of its head; all where it names none. */
export function outputsOf(
  { headOutputs: named }: Config,
  specs: readonly TensorSpec[],
): readonly TensorSpec[] {
  const mine = specs.filter((s) => named?.includes(s.name));
  // outputs given as a bare array have no names of their own, so the file's names cannot be asked for
  if (!named || (mine.length === 0 && specs.every((s, i) => s.name === `output${i}`))) return specs;
  if (!named.every((n) => mine.some((s) => s.name === n)))
    refuse("", `outputs ${list(specs)}`, `${named.map((n) => `"${n}"`).join(", ")} as the config names them`);
  return mine;
}

/** All outputs that roles name. */
export const namesOf = (roles: Config["roles"]): string[] => Object.values(roles ?? {}).flat() as string[];

/** The family of a config, and what said so. */
export function familyOf(
  config: Config,
  specs: readonly { readonly name: string }[],
): { family: Family; why: string } {
  return settleFamily({
    ...config,
    outputNames: specs.map((s) => s.name),
    anchors: config.anchorSets && config.anchorSets.length > 0,
  });
}

export function queryOf(
  config: Config,
  family: Family,
  { score, countBackground }: Conventions,
  valuesOf: HeadQuery["valuesOf"],
): HeadQuery {
  const { activation, inputSize: size, format: source } = config;
  const traits = TRAITS[family];
  const anchorsByExp = traits.head === "anchor" && !traits.square && !traits.objectness;
  let { priors, priorFormat, variances, boxFormat } = config;
  if (family === "blazeface" && size) variances ??= [1 / size[0], 1 / size[1], 1 / size[0], 1 / size[1]];
  // these two are always built with the same layout, so nobody should have to type it
  const build = { blazeface, ultraface }[family as string];
  if (build && priors === null && size && variances && Math.max(...size) < 8192) {
    priors = build(size);
    priorFormat = "cxcywh";
  }
  // the scales of TensorFlow's box coder go with its order ty tx th tw and anchors ycenter xcenter h w
  if (family === "ssd" && config.scalesGiven) {
    boxFormat ??= "cycxhw";
    priorFormat ??= "cycxhw";
  }
  return {
    ...config,
    family,
    traits: activation === "softmax" ? { ...traits, softmax: true } : traits,
    // BlazeFace knows faces only
    classes: config.classes ?? (family === "blazeface" ? 1 : NaN),
    activation:
      activation === "softmax"
        ? "logits"
        : (activation ??
          (source === "options" ? null : source === "nn-archive" && anchorsByExp ? "logits" : "sigmoid")),
    boxFormat,
    priorFormat,
    variances,
    priors,
    product: score === "product",
    countBackground,
    valuesOf,
  };
}
