/**
 * Types of heads and interpretations. An interpretation says how all tensors are read. It has a head for each map, or
 * for each anchor of a map.
 */
import type { ScoreForm } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { TaskName } from "../core/tasks.ts";
import type { TensorSpec } from "../core/tensor.ts";
import type { Rules } from "../core/rules.ts";
import type { Column, Layout } from "./channels.ts";

/** Name of the formula from box channels to corners. */
export type Kind = "grid" | "distance" | "prior" | "centre" | "corners" | "topleft";

/** Name of a function of one raw value. */
export type Fn = "none" | "sigmoid" | "softmax" | "tanh" | "exp" | "square" | "squareSigmoid" | "clamp";

/** Name of a part of a head that a tensor holds. */
export type Part = "boxes" | "scores" | "objectness";

/** One tensor that a head reads. */
export interface HeadTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** Storage order of the tensor. */
  readonly layout: Layout;
  /** The parts of the head that the tensor holds. */
  readonly parts: readonly Part[];
}

/** The place of a head in the tensors. */
export interface HeadOrigin {
  /** The tensors of boxes and scores. The tensor of boxes comes first. */
  readonly tensors: readonly HeadTensor[];
  /** For anchor heads: index of the anchor in its map, [width, height] and their unit. `null` for other heads. */
  readonly anchor: {
    readonly index: number;
    readonly size: readonly [number, number];
    readonly unit: "px" | "cells";
  } | null;
  /** The rows that are the cells of this head's map, if a tensor of rows has several maps. `stride` is in pixels. */
  readonly rows: { readonly first: number; readonly count: number; readonly stride: number } | null;
}

/** One map or set of rows, or one anchor of a map, which the kernel scans cell by cell. Plain data. */
export interface Head {
  /** Text for people: tensor, storage order, anchor, rows. Made from `origin`. */
  readonly about: string;
  readonly origin: HeadOrigin;
  readonly cells: number;
  readonly kind: Kind;
  readonly score: Column;
  readonly classes: number;
  /** Class id of the first class channel. */
  readonly classBase: number;
  readonly scoreFn: Fn;
  /** For a softmax: offset of cell 0's first logit in elements, and logits per cell, background included. */
  readonly softmax: { readonly offset: number; readonly count: number } | null;
  readonly objectness: Column | null;
  readonly objectnessFn: Fn;
  /** Rule that combines class score and objectness. */
  readonly rule: "class" | "product" | "objectness" | "power";
  /** Column of class ids, if each row has only one score. */
  readonly classId: Column | null;
  /** Column in which a negative value ends the list of rows. */
  readonly marker: Column | null;
  /** Place of the count of valid rows. */
  readonly count: Column | null;
  /** First extra channel, which a task reads. Absent if the network has only boxes. */
  readonly extra?: Column;
  /** First box channel. `box.channel` is also the step between the bins of a distribution. */
  readonly box: Column;
  /** Offsets of the four box channels from `box.offset`, in elements: x y w h, x1 y1 x2 y2, or l t r b. */
  readonly boxChannels: readonly [number, number, number, number];
  /** Bins of each distance's distribution. 0: box channels are plain numbers. */
  readonly bins: number;
  /** Width of the map in cells, 1 for rows. */
  readonly gridWidth: number;
  readonly xyFn: Fn;
  /** For `grid`: factor on f(x) and f(y). For `distance`: factor that converts distances to cells. */
  readonly xyScale: number;
  readonly xyBias: number;
  readonly whFn: Fn;
  /** For `grid`: factors on f(w) and f(h). They are the normalised size of the anchor. */
  readonly size: readonly [number, number];
  /** Factors that convert box channels to normalised coordinates. */
  readonly unit: readonly [number, number];
  /** For `prior`: rows of f32 cx cy w h, normalised. */
  readonly priors: Float32Array | null;
  /** For `prior`: factors on the four box channels. */
  readonly variances: readonly [number, number, number, number];
}

/** A head of an interpretation. `unit` is `null` if boxes are in pixels of an input of unknown size. */
export interface HeadDraft extends Omit<Head, "unit"> {
  readonly unit: Head["unit"] | null;
}

/** One possible reading of the tensors. */
export interface Interpretation {
  /** Value of the option `reading` that selects this interpretation. */
  readonly name: ReadingName;
  /** Text for people: the contents of the tensors, and their list. */
  readonly about: string;
  /** Count of images in the batch. */
  readonly batch: number;
  readonly classes: number;
  readonly scores: ScoreForm;
  readonly heads: readonly HeadDraft[];
  /** The tensors of boxes and scores, one list per map. */
  readonly tensors: readonly (readonly HeadTensor[])[];
  /** Indices of all tensors that the interpretation uses, including class ids, counts and priors. */
  readonly uses: readonly number[];
  readonly notes: readonly string[];
  /** [width, height] of the network input in pixels. Inferred from the shapes if the config states none. */
  readonly inputSize: readonly [number, number] | null;
  /**
   * True: each class of a cell may give a detection, but only as many as there are cells, the best. Absent: the rule
   * `multiLabel` applies.
   */
  readonly pairs?: true;
  /** Boxes are in pixels of the photo, not of the network input. */
  readonly inPhoto?: true;
  /** Class id of each entry of the caller's lists per class, if class ids have gaps (COCO's 1..90 for 80 names). */
  readonly listIds?: readonly number[];
  /** Index of a tensor whose values decide between this interpretation and another one. Absent: the shapes decide. */
  readonly awaits?: number;
  /** Tensors and channels that a task reads besides the boxes. Absent if only boxes are read. */
  readonly task?: TaskPlan;
}

/** A task's part of a plan, as plain data. Each task adds fields to this type. */
export interface TaskPlan {
  readonly name: TaskName;
  /** Text for people: the task and how it is read. */
  readonly about: string;
  /** Indices of tensors that no head reads. In an interpretation, indices of outputs; in a plan, of plan.tensors. */
  readonly tensors: readonly number[];
  /** The tensors among `tensors` in which neighbouring values are similar: maps, or rows of bins. */
  readonly maps?: readonly HeadTensor[];
  /** True: plan files cannot store this task, so the compiler refuses the network. */
  readonly notInFiles?: true;
  /** Largest count of detections that the network can output for an image. Absent: only the config limits the count. */
  readonly mostRows?: number;
  /** Class names, if every network of the family has the same ones. */
  readonly labels?: readonly string[];
  /** Kinds of crops that a frame may have (see `Ready` in decode/loop.ts). */
  readonly crops?: "turned" | "none";
  /** True if the score is the square root of the kernel's score. The kernel then compares with squared thresholds. */
  readonly root?: boolean;
  /** The plan's rules before the task changed them. Absent in interpretations. */
  readonly rules?: Rules;
}

/**
 * Names, shapes and types of the output tensors. `extra`: count of a task's channels after the channels of boxes and
 * scores.
 */
export type Specs = readonly (TensorSpec & { readonly extra?: number })[];
