/**
 * The type of a plan: frozen plain data that states how tensors are decoded, without addresses. A plan and its tensors
 * make a complete bug report.
 */
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
  /** Text for people about the contents of each tensor. */
  readonly about: string;
  /** Notes about what looks odd but is decoded. */
  readonly notes: readonly string[];
  readonly scores: ScoreForm;
  /** Statement that settled the form of the scores. */
  readonly scoresWhy: ScoresReason;
  /** [width, height] of the network input in pixels. `null` if unknown, which only normalised boxes allow. */
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
  /** Row count of the detection columns, the largest `maxDetections` that `update` accepts. */
  readonly maxDetections: number;
  /** True if the background is the last class column. Lists that name it have it last. */
  readonly backgroundLast: boolean;
  /** Class id of each entry of a list per class, if class ids have gaps and lists do not. Absent: no gaps. */
  readonly listIds?: readonly number[] | undefined;
  /** True if boxes are in pixels of the photo, whose size a frame gives. Absent: pixels of the input. */
  readonly inPhoto?: true;
  /** Row count of the candidate columns. */
  readonly capacity: number;
  /** How to gather rows from a caller's array; `null`: arrays are copied whole. */
  readonly gather: readonly GatherHead[] | null;
  /** Method that suppresses instead of the kernel, whose `rules.suppress` is then "none". */
  readonly suppression?: PlannedSuppression;
  /** What a task reads besides boxes. Absent for boxes alone. */
  readonly task?: TaskPlan;
}

/** A method of `suppress`, as planned. */
export interface PlannedSuppression extends Suppression {
  /** Whether boxes suppress each other within a class, or across classes. */
  readonly suppress: "class" | "all";
}

/** How to gather a head whose cells are gated by objectness. */
export interface GatherHead {
  readonly tensor: number;
  /** First element of a row, and count of its channels. */
  readonly offset: number;
  readonly channels: number;
  /** Steps from channel to channel and from cell to cell, in elements. */
  readonly channel: number;
  readonly cell: number;
}
