/** The readings that shapes alone allow, and a function that tries a config on them. */
import { readConfig } from "../config/config.ts";
import type { Model } from "../config/model/types.ts";
import type { DecoderOptions } from "../config/types.ts";
import { ConfigError, TensorError } from "../core/errors.ts";
import type { Family } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TensorData, TensorSpec } from "../core/tensor.ts";
import type { Interpretation } from "../heads/head.ts";
import { interpretConfig, planOf } from "../plan/make.ts";
import { explain } from "../plan/explain.ts";
import { ALL_TASKS } from "../whole/tasks.ts";

/** A tensor some of whose dims are open. */
export type OpenSpec = Omit<TensorSpec, "dims"> & { readonly dims: readonly (number | null)[] };

/** The shapes to look at, and what is known besides. */
export interface Inspected {
  readonly tensors: readonly OpenSpec[];
  /** The file that states the tensors. */
  readonly model?: Pick<Model, "inputs" | "description" | "names" | "keypoints">;
  /** Names of the network: that of its file. */
  readonly names?: readonly string[];
  readonly options: DecoderOptions;
  readonly valuesOf: (name: string) => TensorData | null;
}

/** One way to read the shapes. */
export interface Possibility {
  /** The config to write. It has only what the shapes show. */
  readonly options: DecoderOptions & { readonly family: Family };
  /** Options that are still to be written, for people: "anchors: 3 + 3 pairs". Empty: `options` are complete. */
  readonly missing: readonly string[];
  /** Names of the families that read them so. */
  readonly families: readonly string[];
  /** `null`: a column holds class ids, and the shape does not say how many classes there are. */
  readonly classes: number | null;
  readonly reading: ReadingName;
  /** For people: the contents of the tensors, and each of them. */
  readonly about: string;
  /**
   * Higher is likelier: usual names, all tensors used, as many rows as an input has cells, a usual count of classes.
   */
  readonly likelihood: number;
  /** Size of the input that the shapes tell, else the one that most networks have. */
  readonly likelySize: readonly [number, number];
  /** Names of tensors that stand beside and are not read. Absent: all are read. */
  readonly unread?: readonly string[];
}

/** The text in `missing` if the shapes do not tell the size of the input. */
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

/** Returns the class count that the options state. */
export const statedClasses = ({ classes, labels }: DecoderOptions): number | undefined =>
  classes ?? (labels && Object.keys(labels).length);

/**
 * Returns all interpretations under a config, none if the tensors do not fit. A single one also has to make a plan.
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
