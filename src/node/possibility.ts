/** What shapes alone can be. */
import type { DecoderOptions } from "../config/types.ts";
import type { Family } from "../core/families.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TensorData, TensorSpec } from "../core/tensor.ts";

/** The shapes to look at, and what is known besides. */
export interface Inspected {
  readonly tensors: readonly TensorSpec[];
  readonly options: DecoderOptions;
  readonly valuesOf: (name: string) => TensorData | null;
}

/** One way to read the shapes. */
export interface Possibility {
  /** The family of `line`. */
  readonly family: Family;
  /** Names of the families that read them so. */
  readonly families: readonly string[];
  /** `null`: a column holds class ids, and the shape does not say how many classes there are. */
  readonly classes: number | null;
  readonly reading: ReadingName;
  /** For people: the contents of the tensors, and each of them. */
  readonly about: string;
  /** The config to write. */
  readonly line: string;
  /**
   * Higher is likelier: all tensors used, square maps, as many rows as an input has cells, a usual number of classes.
   */
  readonly likelihood: number;
}
