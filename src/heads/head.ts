/** Types of heads. An interpretation is one possible reading of all tensors, with a head for each map or anchor. */
import type { ScoreForm } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TaskName } from "../core/tasks.ts";
import type { TensorSpec } from "../core/tensor.ts";
import type { Rules } from "../core/rules.ts";
import type { Column, Layout } from "./channels.ts";

/** Names the formula from box channels to corners. */
export type Kind = "grid" | "distance" | "prior" | "centre" | "corners" | "topleft";

/** Names a function of one raw value. */
export type Fn = "none" | "sigmoid" | "softmax" | "tanh" | "exp" | "square" | "squareSigmoid" | "clamp";

/** Names a part of a head that a tensor holds. */
export type Part = "boxes" | "scores" | "objectness";

/** One tensor that a head reads. */
export interface HeadTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** Storage order that the shape is read in. */
  readonly layout: Layout;
  /** The parts of the head that the tensor holds. */
  readonly parts: readonly Part[];
}

/** Where a head is in the tensors. */
export interface HeadOrigin {
  /** The tensors of boxes and scores, that of the boxes first. */
  readonly tensors: readonly HeadTensor[];
  /** The anchor of an anchor head: its index in the map, width and height, and their unit. `null`: other heads. */
  readonly anchor: {
    readonly index: number;
    readonly size: readonly [number, number];
    readonly unit: "px" | "cells";
  } | null;
  /** The rows that are the cells of one map, and its stride in pixels. `null`: the tensor has one map, or none. */
  readonly rows: { readonly first: number; readonly count: number; readonly stride: number } | null;
}

/** One tensor, or one anchor of a tensor, that is scanned cell by cell. Plain data. */
export interface Head {
  /** Text for people: tensor, storage order, anchor, rows. Printed from `origin`. */
  readonly about: string;
  readonly origin: HeadOrigin;
  /** Number of cells. */
  readonly cells: number;
  readonly kind: Kind;
  readonly score: Column;
  /** Number of class channels. */
  readonly classes: number;
  /** Class id of the first class channel. */
  readonly classBase: number;
  readonly scoreFn: Fn;
  /**
   * Softmax: where cell 0's logits begin in the score's tensor, in elements, and how many there are, background
   * included.
   */
  readonly softmax: { readonly offset: number; readonly count: number } | null;
  readonly objectness: Column | null;
  readonly objectnessFn: Fn;
  /** How score and objectness combine. */
  readonly rule: "class" | "product" | "objectness" | "power";
  /** Column of class ids, if all classes share one column of scores. */
  readonly classId: Column | null;
  /** Column whose negative value ends the list. */
  readonly marker: Column | null;
  /** Element with the count of valid rows. */
  readonly count: Column | null;
  /** First extra channel, which a task reads. Absent for boxes alone. */
  readonly extra?: Column;
  /** First box channel; `channel` is also the step from bin to bin of a distribution. */
  readonly box: Column;
  /** Offsets in elements from `box.offset` to the channels x, y, w, h (or x1 y1 x2 y2, or l t r b). */
  readonly boxChannels: readonly [number, number, number, number];
  /** Bins of each side's distribution; 0: plain numbers. */
  readonly bins: number;
  /** Cells in a row of the map; 1 if the rows are no map. */
  readonly gridWidth: number;
  readonly xyFn: Fn;
  /** `grid`: factor on f(x) and f(y). `distance`: factor from distances to cells. */
  readonly xyScale: number;
  readonly xyBias: number;
  readonly whFn: Fn;
  /** `grid`: factors on f(w) and f(h): the anchor, normalised. */
  readonly size: readonly [number, number];
  /** Factors from box channels to normalised coordinates. */
  readonly unit: readonly [number, number];
  /** `prior`: f32 rows cx cy w h, normalised. */
  readonly priors: Float32Array | null;
  /** `prior`: factors on the four channels. */
  readonly variances: readonly [number, number, number, number];
}

/** A head before its plan: `unit` is `null` where boxes are in pixels of an input whose size nobody stated. */
export interface HeadDraft extends Omit<Head, "unit"> {
  readonly unit: Head["unit"] | null;
}

/** One possible reading of the tensors. */
export interface Interpretation {
  /** The name that the option `reading` takes. */
  readonly name: ReadingName;
  /** Text for people: the contents of all tensors, and of each tensor. */
  readonly about: string;
  /** Images of the batch. */
  readonly batch: number;
  /** Number of classes. */
  readonly classes: number;
  readonly scores: ScoreForm;
  readonly heads: readonly HeadDraft[];
  /** The tensors of boxes and scores, one list per map. */
  readonly tensors: readonly (readonly HeadTensor[])[];
  /** Indices of all tensors that it uses, those of class ids, counts and priors too. */
  readonly uses: readonly number[];
  readonly notes: readonly string[];
  /** [width, height] of the network input in pixels, inferred if the config states none. */
  readonly inputSize: readonly [number, number] | null;
  /**
   * True: every class of a cell may make a detection, with at most as many detections as cells. Absent: the rules
   * decide.
   */
  readonly pairs?: true;
  /** Boxes are in pixels of the photo, whatever its place in the input was. */
  readonly inPhoto?: true;
  /** Class ids of the entries of lists per class, if ids have gaps and the lists have none. */
  readonly listIds?: readonly number[];
  /**
   * Index of a tensor whose values would decide between this and another interpretation. Absent: nothing is undecided.
   */
  readonly awaits?: number;
  /** What a task reads besides boxes. Absent for boxes alone. */
  readonly task?: TaskPlan;
}

/** What a task reads besides boxes, as plain data. Each task adds fields. */
export interface TaskPlan {
  readonly name: TaskName;
  /** Text for people: the task and how it is read. */
  readonly about: string;
  /** Indices of tensors that no head reads: of the outputs in an interpretation, of the plan's tensors in a plan. */
  readonly tensors: readonly number[];
  /** The tensors among these that are maps or rows of bins. Their neighbouring values resemble each other. */
  readonly maps?: readonly HeadTensor[];
  /** True if a plan file cannot hold the task: the network is then refused. */
  readonly notInFiles?: true;
  /** Largest count of detections of an image that the network can give. Absent: what the config states. */
  readonly mostRows?: number;
  /** Class names, if every network of the family has the same ones. */
  readonly labels?: readonly string[];
  /** Crops that a frame may have (`Ready` of decode/loop.ts). */
  readonly crops?: "turned" | "none";
  /** The score is the square root of what the kernel computes, so that its thresholds are squared. */
  readonly root?: boolean;
  /** The rules of the plan before the task changed them. Only in a plan. */
  readonly rules?: Rules;
}

/**
 * The output tensors, all that is known of them before any data. `extra`: channels after those of boxes and scores,
 * which a task reads.
 */
export type Specs = readonly (TensorSpec & { readonly extra?: number })[];
