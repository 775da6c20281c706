/** A plan is frozen plain data. It says how each tensor is read, and why. It knows no addresses. */
import type { Conventions } from "../core/conventions.ts";
import type { Activation, Family } from "../core/families.ts";
import type { Head } from "../heads/head.ts";
import type { TensorSpec } from "../core/tensor.ts";

/** How a set of tensors is decoded: frozen plain data, so that a plan and the tensors make a whole bug report. */
export interface Plan {
  readonly family: Family;
  readonly familyWhy: string;
  readonly reading: string;
  /** What each tensor is taken for, in words. */
  readonly about: string;
  readonly notes: readonly string[];
  readonly activation: Activation;
  readonly activationWhy: string;
  readonly inputSize: readonly [number, number] | null;
  readonly batch: number;
  readonly classes: number;
  readonly tensors: readonly TensorSpec[];
  readonly heads: readonly Head[];
  readonly rules: Conventions;
  /** Class numbers to look for; `null`: all. */
  readonly keep: readonly number[] | null;
  /** Rows of the detection columns, an upper bound for good. */
  readonly maxDetections: number;
  /** The background is the last of the class columns: lists that name it do so at their end. */
  readonly backgroundLast: boolean;
  /** Rows of the candidate columns. */
  readonly capacity: number;
  /** How a caller's array can be read in part; `null`: it is copied whole. */
  readonly gather: readonly GatherHead[] | null;
}

/** One head whose cells are gated by objectness: only the rows that pass need to be copied. */
export interface GatherHead {
  readonly tensor: number;
  /** First channel of the row, in elements, and how many channels. */
  readonly offset: number;
  readonly channels: number;
  readonly channel: number;
  readonly cell: number;
}
