/** A plan is frozen plain data: a plan and the tensors make a whole bug report. It knows no addresses. */
import type { Suppression } from "../config/types.ts";
import type { Rules } from "../core/rules.ts";
import type { FamilyReason } from "../core/family-names.ts";
import type { ScoreForm, Family } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TensorSpec } from "../core/tensor.ts";
import type { Head, TaskPlan } from "../heads/head.ts";
import type { ScoresReason } from "../heads/print.ts";

/** How a set of tensors is decoded, and why. */
export interface Plan {
  readonly family: Family;
  /** The evidence that settled the family. */
  readonly familyWhy: FamilyReason;
  readonly reading: ReadingName;
  /** For people: the contents of the tensors, and each of them. */
  readonly about: string;
  /** Sentences about what is odd, and decoded all the same. */
  readonly notes: readonly string[];
  readonly scores: ScoreForm;
  /** The statement that settled the form of the scores. */
  readonly scoresWhy: ScoresReason;
  /** [width, height] of the network input in pixels; `null`: nobody stated it, and boxes are normalised. */
  readonly inputSize: readonly [number, number] | null;
  /** Images of the batch. */
  readonly batch: number;
  /** Number of classes. */
  readonly classes: number;
  /** The tensors that the heads read, in the order of the outputs. */
  readonly tensors: readonly TensorSpec[];
  readonly heads: readonly Head[];
  readonly rules: Rules;
  /** Class ids to look for; `null`: all. */
  readonly keep: readonly number[] | null;
  /** Rows of the detection columns, an upper bound for good. */
  readonly maxDetections: number;
  /** The background is the last of the class columns. Lists that name it do so at their end. */
  readonly backgroundLast: boolean;
  /** Class id of each entry of a list per class, where class ids have gaps and the list has none. Absent: no gaps. */
  readonly listIds?: readonly number[] | undefined;
  /** Boxes are in pixels of the photo: a frame gives its size, and no letterbox is undone. Absent: of the input. */
  readonly inPhoto?: true;
  /** Rows of the candidate columns. */
  readonly capacity: number;
  /** How a caller's array can be read in part; `null`: it is copied whole. */
  readonly gather: readonly GatherHead[] | null;
  /** The method that suppresses in place of the kernel, which then has `rules.nms` "none". */
  readonly suppression?: PlannedSuppression;
  /** Channels that a task reads besides boxes. Absent if there are only boxes. */
  readonly task?: TaskPlan;
}

/** A method of `suppress`. */
export interface PlannedSuppression extends Suppression {
  /** Boxes suppress each other within a class, or over classes. */
  readonly suppress: "class" | "all";
}

/** A head whose cells are gated by objectness: only the rows that pass need to be copied. */
export interface GatherHead {
  readonly tensor: number;
  /** First element of a row, and its number of channels. */
  readonly offset: number;
  readonly channels: number;
  /** Steps from channel to channel and from cell to cell, in elements. */
  readonly channel: number;
  readonly cell: number;
}
