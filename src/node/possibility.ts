/** Types of the readings that shapes allow, and a function that tries a config on shapes. */
import { readConfig } from "../config/config.ts";
import type { Model } from "../config/model/types.ts";
import type { DecoderOptions } from "../config/types.ts";
import { ConfigError, TensorError } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TensorData, TensorSpec } from "../core/tensor.ts";
import type { Interpretation } from "../heads/head.ts";
import { interpretConverted } from "../plan/converted.ts";
import { planOf } from "../plan/make.ts";
import { explain } from "../plan/explain.ts";
import { ALL_TASKS } from "../whole/tasks.ts";

/** A tensor with `null` for unknown dims. */
export type OpenSpec = Omit<TensorSpec, "dims"> & { readonly dims: readonly (number | null)[] };

/** The shapes to inspect, and the known facts about the network. */
export interface Inspected {
  readonly tensors: readonly OpenSpec[];
  /** Facts from the file that states the tensors. */
  readonly model?: Pick<Model, "inputs" | "description" | "names" | "keypoints" | "hasExponentials">;
  /** Names of the network, such as the name of its file. */
  readonly names?: readonly string[];
  readonly options: DecoderOptions;
  readonly valuesOf: (name: string) => TensorData | null;
}

/** One possible reading of the shapes. */
export interface Possibility {
  /** The config to write, with all options that follow from the shapes. */
  readonly options: DecoderOptions & { readonly family: Family };
  /** Options that the user must still write, as text: "anchors: 3 + 3 pairs". Empty if `options` are complete. */
  readonly missing: readonly string[];
  /** Names of the families with this reading. */
  readonly families: readonly string[];
  /** Class count. `null` if a column holds class ids: the shape does not show the count. */
  readonly classes: number | null;
  readonly reading: ReadingName;
  /** Description of each tensor's contents, for people. */
  readonly about: string;
  /** Evidence score of the proposal, for sorting (see shapes/evidence.ts). */
  readonly likelihood: number;
  /** Input size that follows from the shapes, else the most common input size. */
  readonly likelySize: readonly [number, number];
  /** Names of tensors that this reading ignores. Absent if the reading uses all tensors. */
  readonly unread?: readonly string[];
}

/** Text in `missing` if the shapes do not show the input size. */
export const NO_SIZE = "inputSize: [width, height]";

/** Returns the config to write, as JavaScript. */
export function configText({ options, missing }: Possibility): string {
  const other = options.roles === undefined ? "" : ", or classIds and scores the other way round";
  return `{ ${[...fieldsOf(options), ...missing].join(", ")} }${other}`;
}

/** Returns plain data as JavaScript source. */
export const objectText = (object: object): string => `{ ${fieldsOf(object).join(", ")} }`;

const fieldsOf = (object: object): string[] =>
  Object.entries(object).map(([name, value]) => `${name}: ${textOf(value)}`);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  return typeof value === "object" && value !== null
    ? `{ ${fieldsOf(value).join(", ")} }`
    : JSON.stringify(value);
}

/** Usual variances of networks that have priors and probabilities. */
const VARIANCES = [0.1, 0.1, 0.2, 0.2] as const;

/** Returns the usual variances if boxes are likely offsets from priors: the graph has no exponential. Else `null`. */
export function offsetVariances(
  family: Family | undefined,
  model: Pick<Model, "hasExponentials"> | undefined,
): typeof VARIANCES | null {
  // Decide only for families with built-in priors whose networks output probabilities.
  const isOpen = family && TRAITS[family].buildPriors && TRAITS[family].raw === "probabilities";
  return isOpen && model?.hasExponentials === false ? VARIANCES : null;
}

/** Returns the class count that the options state. */
export const statedClasses = ({ classes, labels }: DecoderOptions): number | undefined =>
  classes ?? (labels && Object.keys(labels).length);

/** Returns all interpretations under a config. Returns none if nothing fits, or if the only one cannot make a plan. */
export function interpretationsUnder(
  config: unknown,
  options: DecoderOptions,
  tensors: readonly TensorSpec[],
  values: (index: number) => ArrayLike<number> | null,
): readonly Interpretation[] {
  try {
    const interpreted = interpretConverted(readConfig(config, options), tensors, ALL_TASKS, values);
    if (interpreted.interpretations.length === 1) planOf(interpreted, explain);
    return interpreted.interpretations;
  } catch (e) {
    if (e instanceof TensorError || e instanceof ConfigError) return [];
    throw e;
  }
}
