/** The type of a plan: frozen plain data without addresses. A plan and its tensors are a complete bug report. */
import type { Suppression } from "../config/types.ts";
import type { Rules } from "../core/rules.ts";
import type { FamilyReason } from "../core/family-names.ts";
import type { ScoreForm, Family } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TensorSpec } from "../core/tensor.ts";
import type { Head, TaskPlan } from "../heads/head.ts";
import type { ScoresReason } from "../heads/print.ts";

/** Plan for decoding a set of tensors, with the reasons. */
export interface Plan {
  readonly family: Family;
  /** Evidence for the family. */
  readonly familyWhy: FamilyReason;
  readonly reading: ReadingName;
  /** Description of the contents of each tensor, for people. */
  readonly about: string;
  /** Notes about likely mistakes that do not stop decoding. */
  readonly notes: readonly string[];
  readonly scores: ScoreForm;
  /** Statement that determined the value of `scores`. */
  readonly scoresWhy: ScoresReason;
  /** [width, height] of the network input in pixels. `null` if unknown, which is allowed only for normalised boxes. */
  readonly inputSize: readonly [number, number] | null;
  /** Count of images in a batch. */
  readonly batch: number;
  /** Number of classes. */
  readonly classes: number;
  /** The tensors that the heads read, in the order of the outputs. */
  readonly tensors: readonly TensorSpec[];
  readonly heads: readonly Head[];
  readonly rules: Rules;
  /** Class ids to look for; `null`: all. */
  readonly keep: readonly number[] | null;
  /** Row count of the detection columns, which is the largest `maxDetections` that `update` accepts. */
  readonly maxDetections: number;
  /** True if the background is the last class column. Lists that name the background have it last. */
  readonly backgroundLast: boolean;
  /** Class id of each entry in lists per class. Present only if lists have no entry for unused ids. */
  readonly listIds?: readonly number[] | undefined;
  /** True if boxes are in pixels of the photo, whose size frames state. Absent: relative to the network input. */
  readonly inPhoto?: true;
  /** Row count of the candidate columns. */
  readonly capacity: number;
  /** Instructions for gathering rows from a caller's array; `null`: arrays are copied whole. */
  readonly gather: readonly GatherHead[] | null;
  /** Method of suppression that replaces the kernel's. `rules.suppress` is then "none". */
  readonly suppression?: PlannedSuppression;
  /** The part of the plan that a task reads. Absent for boxes alone. */
  readonly task?: TaskPlan;
}

/** A method of `suppress` in a plan. */
export interface PlannedSuppression extends Suppression {
  /** "class": boxes suppress each other within a class. "all": across classes. */
  readonly suppress: "class" | "all";
}

/** Instructions for gathering the rows of a head whose gate is objectness. */
export interface GatherHead {
  readonly tensor: number;
  /** First element of a row, and count of its channels. */
  readonly offset: number;
  readonly channels: number;
  /** Steps from channel to channel and from cell to cell, in elements. */
  readonly channel: number;
  readonly cell: number;
}
