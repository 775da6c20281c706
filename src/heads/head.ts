/** The types of heads. An interpretation is one way to read a list of tensors; it has a head for each map or anchor. */
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

/** The place of a head among the tensors. */
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
  /** For people: tensor, storage order, anchor, rows. Printed from `origin`. */
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
  /** Column of class ids, where scores have one column for all classes. */
  readonly classId: Column | null;
  /** Column whose negative value ends the list. */
  readonly marker: Column | null;
  /** Element that says how many rows count. */
  readonly count: Column | null;
  /** First extra channel: what a task reads besides boxes. Absent where boxes are all. */
  readonly extra?: Column;
  /** First box channel; `channel` is also the step from bin to bin of a distribution. */
  readonly box: Column;
  /** Offsets in elements from `box.offset` to the channels x, y, w, h (or x1 y1 x2 y2, or l t r b). */
  readonly boxChannels: readonly [number, number, number, number];
  /** Bins of each side's distribution; 0: plain numbers. */
  readonly bins: number;
  /** Cells in a row of the map; 1 where rows are no map. */
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

/** One way in which the shapes of the tensors make sense. */
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
  /** [width, height] of the network input in pixels, inferred where the config says nothing. */
  readonly inputSize: readonly [number, number] | null;
  /** Every class of a cell makes a detection, and there are as many at most as cells. Absent: the rules decide. */
  readonly pairs?: true;
  /** Boxes are in pixels of the photo, whatever its place in the input was. */
  readonly inPhoto?: true;
  /** Class ids of lists with an entry per class, where ids have gaps and such lists have none. */
  readonly listIds?: readonly number[];
  /** Index of a tensor whose values would tell this interpretation from another one. Absent: none is open. */
  readonly awaits?: number;
  /** Channels that a task reads besides boxes. Absent if there are only boxes. */
  readonly task?: TaskPlan;
}

/** Channels that a task reads besides boxes. Plain data: each task adds fields of its own. */
export interface TaskPlan {
  readonly name: TaskName;
  /** For people: the task and how it is read. */
  readonly about: string;
  /** Indices of tensors that no head reads: of the outputs in an interpretation, of the plan's tensors in a plan. */
  readonly tensors: readonly number[];
  /** The tensors among these that are maps or rows of bins. Their neighbouring values resemble each other. */
  readonly maps?: readonly HeadTensor[];
  /** True if a plan file cannot hold the task: the network is then refused. */
  readonly notInFiles?: true;
  /** Most detections of an image, if the network can give no more than so many. Usual: what the config says. */
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
