/** Types of the readings that shapes allow, and a function that tries a config on them. */
import { readConfig } from "../config/config.ts";
import type { Model } from "../config/model/types.ts";
import type { DecoderOptions } from "../config/types.ts";
import { ConfigError, TensorError } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TensorData, TensorSpec } from "../core/tensor.ts";
import type { Interpretation } from "../heads/head.ts";
import { interpretConfig, planOf } from "../plan/make.ts";
import { explain } from "../plan/explain.ts";
import { ALL_TASKS } from "../whole/tasks.ts";

/** A tensor with `null` for open dims. */
export type OpenSpec = Omit<TensorSpec, "dims"> & { readonly dims: readonly (number | null)[] };

/** The shapes to inspect, with what else is known. */
export interface Inspected {
  readonly tensors: readonly OpenSpec[];
  /** Facts from the file of the tensors. */
  readonly model?: Pick<Model, "inputs" | "description" | "names" | "keypoints" | "hasExponentials">;
  /** Names of the network, such as that of its file. */
  readonly names?: readonly string[];
  readonly options: DecoderOptions;
  readonly valuesOf: (name: string) => TensorData | null;
}

/** One possible reading of the shapes. */
export interface Possibility {
  /** The config to write, with what the shapes show. */
  readonly options: DecoderOptions & { readonly family: Family };
  /** Options still to be written, as text: "anchors: 3 + 3 pairs". Empty: `options` are complete. */
  readonly missing: readonly string[];
  /** Names of the families with this reading. */
  readonly families: readonly string[];
  /** Class count. `null` if a column holds class ids, since the shape then does not tell. */
  readonly classes: number | null;
  readonly reading: ReadingName;
  /** Text for people about the contents of each tensor. */
  readonly about: string;
  /**
   * Likelihood for sorting. Raised by usual names, by using all tensors, by as many rows as an input has cells, and by
   * a usual class count.
   */
  readonly likelihood: number;
  /** Input size that the shapes show, else the most common one. */
  readonly likelySize: readonly [number, number];
  /** Names of tensors that this reading ignores. Absent: it reads all. */
  readonly unread?: readonly string[];
}

/** Text in `missing` if the shapes do not show the input size. */
export const NO_SIZE = "inputSize: [width, height]";

/** Returns the config to write, as JavaScript. */
export function configText({ options, missing }: Possibility): string {
  const other = options.roles === undefined ? "" : ", or classIds and scores the other way round";
  return `{ ${[...fieldsOf(options), ...missing].join(", ")} }${other}`;
}

/** Returns plain data as JavaScript. */
export const objectText = (object: object): string => `{ ${fieldsOf(object).join(", ")} }`;

const fieldsOf = (object: object): string[] =>
  Object.entries(object).map(([name, value]) => `${name}: ${textOf(value)}`);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  return typeof value === "object" && value !== null
    ? `{ ${fieldsOf(value).join(", ")} }`
    : JSON.stringify(value);
}

/** Variances of the networks that have priors and probabilities. */
const VARIANCES = [0.1, 0.1, 0.2, 0.2] as const;

/**
 * Returns the option `variances` if boxes are probably offsets from the family's priors: decoding them takes
 * exponentials, and the graph has none. `null` otherwise.
 */
export function offsetVariances(
  family: Family | undefined,
  model: Pick<Model, "hasExponentials"> | undefined,
): typeof VARIANCES | null {
  // Skip finished scores, which come with boxes of either kind.
  const isOpen = family && TRAITS[family].buildPriors && TRAITS[family].raw === "probabilities";
  return isOpen && model?.hasExponentials === false ? VARIANCES : null;
}

/** Returns the class count that the options state. */
export const statedClasses = ({ classes, labels }: DecoderOptions): number | undefined =>
  classes ?? (labels && Object.keys(labels).length);

/**
 * Returns all interpretations under a config, none if the tensors do not fit. A single interpretation is returned only
 * if a plan can be made of it.
 * @param values returns the values of a tensor by its index; `null` if they are not at hand
 */
export function interpretationsUnder(
  config: unknown,
  options: DecoderOptions,
  tensors: readonly TensorSpec[],
  values: (index: number) => ArrayLike<number> | null,
): readonly Interpretation[] {
  try {
    const interpreted = interpretConfig(readConfig(config, options), tensors, ALL_TASKS, values);
    if (interpreted.interpretations.length === 1) planOf(interpreted, explain);
    return interpreted.interpretations;
  } catch (e) {
    if (e instanceof TensorError || e instanceof ConfigError) return [];
    throw e;
  }
}
