/** The query: a config whose family is settled, as the readers of output shapes take it. */
import type { Config, OutputSpec } from "../config/types.ts";
import type { Rules } from "../core/rules.ts";
import { refuse } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { type FamilyReason, settleFamily } from "../core/family-names.ts";
import type { ScoreForm, Family, FamilyTraits } from "../core/family.ts";
import { list, elementType, isFloat, specOf, type TensorSpec, type TensorSpecInput } from "../core/tensor.ts";

/** A config with its family and the facts that follow. The type `Config` documents the inherited fields. */
export interface HeadQuery extends Omit<Config, "family" | "rules" | "classes" | "scores"> {
  readonly family: Family;
  readonly traits: FamilyTraits;
  /** Class count; `null` if unknown. */
  readonly classes: number | null;
  /** Kind of the scores, from the config or its format. `null`: the family and the tensors' form decide. */
  readonly scores: ScoreForm | null;
  /** True if score = objectness x class. */
  readonly product: boolean;
  readonly countBackground: boolean;
  /** Returns a tensor's raw values if they are known, as for priors among the outputs. Else returns `null`. */
  readonly valuesOf: (index: number) => ArrayLike<number> | null;
}

/** A query with a known class count. */
export type CountedQuery = HeadQuery & { readonly classes: number };

/** Returns the tensors that the config states: all outputs with shapes. */
export const specsOf = (config: Config): TensorSpec[] | undefined =>
  config.outputs?.map((o) => specOf(o.name, o as TensorSpecInput));

/** Returns the stated outputs if every shape and scale is known, else `null`. */
export function knownSpecs(config: Config): TensorSpec[] | null {
  const { decodes, outputs } = config;
  const isEnough =
    decodes && outputs?.length && outputs.every((o) => o.dims !== null && !lacksScale(config, o));
  return isEnough ? (specsOf(config) as TensorSpec[]) : null;
}

/** True for an integer output of an NN Archive without a scale. Archives cannot state scales, so it is unknown. */
function lacksScale({ format }: Config, { type, scale }: OutputSpec): boolean {
  const element = type === null ? null : elementType(type);
  return format === "nn-archive" && scale === undefined && element !== null && !isFloat({ type: element });
}

/** Returns the tensors that the config names as outputs of the head. Returns all tensors if the config names none. */
export function outputsOf(
  { headOutputs: named }: Config,
  specs: readonly TensorSpec[],
): readonly TensorSpec[] {
  const mine = specs.filter(({ name }) => named?.includes(name));
  // Outputs in a plain array have no names, so ignore the names in the file.
  if (!named || (mine.length === 0 && specs.every(({ name }, i) => name === `output${i}`))) return specs;
  if (!named.every((n) => mine.some(({ name }) => name === n)))
    refuse("", `outputs ${list(specs)}`, `${named.map((n) => `"${n}"`).join(", ")} as the config names them`);
  return mine;
}

/** Returns the names of all outputs with a role. */
export const namesOf = (roles: Config["roles"]): string[] => Object.values(roles ?? {}).flat() as string[];

/**
 * Returns the family of a config, from options, file and output names, and the reason for the choice. Decoder,
 * detector, preparation and crops all call this function, so that all use the same family.
 * @param outputs the outputs of the network. Default: the outputs that the config states
 */
export function familyOf(
  config: Config,
  outputs: readonly { readonly name: string }[] = config.outputs ?? [],
): { family: Family; why: FamilyReason } {
  const outputNames = outputs.map(({ name }) => name);
  const settled = settleFamily({
    ...config,
    outputNames,
    anchors: config.anchorSets && config.anchorSets.length > 0,
  });
  const { queriesLike } = TRAITS[settled.family];
  return queriesLike && QUERY_NAMES.every((word) => outputNames.some((name) => word.test(name)))
    ? { family: queriesLike, why: { kind: "output name", value: "pred_boxes" } }
    : settled;
}

/** Names that Hugging Face's exporter gives to the outputs of networks with queries: class scores and boxes. */
const QUERY_NAMES = [/^(pred_)?logits$/, /^pred_boxes$/];

/** Returns the query of a config with known family and rules. */
export function queryOf(
  config: Config,
  family: Family,
  { score, countBackground }: Rules,
  valuesOf: HeadQuery["valuesOf"],
): HeadQuery {
  const traits = TRAITS[family];
  return {
    ...config,
    ...priorsOf(config, traits),
    family,
    traits: config.scores === "softmax-logits" ? { ...traits, softmax: true } : traits,
    classes: config.classes ?? (typeof traits.classes === "number" ? traits.classes : null),
    scores: scoresOf(config, traits),
    product: score === "product",
    countBackground,
    valuesOf,
  };
}

function scoresOf({ scores, format }: Config, traits: FamilyTraits): ScoreForm | null {
  if (scores === "softmax-logits") return "logits";
  if (scores !== null) return scores;
  if (format === "options") return null;
  return (format === "nn-archive" && traits.archived) || "probabilities";
}

/** Largest side, in pixels, of an input for which priors are built. */
const MAX_BUILT_SIDE = 8191;

type PriorFields = Pick<Config, "priors" | "priorFormat" | "variances" | "boxFormat">;

/** Returns the config's priors, their order and variances, completed by the facts about the family. */
function priorsOf(config: Config, traits: FamilyTraits): PriorFields {
  const { inputSize, scalesGiven } = config;
  let { priors, priorFormat, variances, boxFormat } = config;
  if (traits.offsetUnit === "pixels" && inputSize)
    variances ??= [1 / inputSize[0], 1 / inputSize[1], 1 / inputSize[0], 1 / inputSize[1]];
  if (traits.variances) {
    variances ??= traits.variances;
    boxFormat ??= "cycxhw";
  }
  const isBuilt = traits.buildPriors && priors === null && variances !== null;
  if (isBuilt && inputSize && Math.max(...inputSize) <= MAX_BUILT_SIDE) {
    priors = traits.buildPriors(inputSize);
    priorFormat = "cxcywh";
  }
  if (scalesGiven && traits.scaledOrder) {
    boxFormat ??= traits.scaledOrder;
    priorFormat ??= traits.scaledOrder;
  }
  return { priors, priorFormat, variances, boxFormat };
}

/** True if rows of a family are always finished. Rows of other families may be undecoded cells. */
export const hasOnlyFinishedRows = ({ head }: HeadQuery["traits"]): boolean =>
  head === "plain" || head === "prior";
