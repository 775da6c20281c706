/** Scores: activations, objectness, the choice of a class, thresholds. */
import type { Head, Fn } from "../src/heads/head.ts";
import type { TensorSpec } from "../src/core/tensor.ts";
import type { Plan } from "../src/plan/plan.ts";
import type { ColumnReader } from "./element.ts";

/** Thresholds, which may change between frames. A list of confidences has one entry per class. */
export interface Thresholds {
  readonly confidenceThreshold: number | readonly number[];
  readonly iouThreshold: number;
  readonly maxDetections: number;
}

/** One class of one cell. */
export interface ClassScore {
  readonly classId: number;
  /** Value of the class channel before its activation. The choice of a class compares these values. */
  readonly raw: number;
  /** The class score after its activation. */
  readonly classScore: number;
  /** Objectness after its activation; `null`: the head has none. */
  readonly objectness: number | null;
  /** The confidence of a detection. */
  readonly score: number;
}

/** Values of one cell. */
export interface CellScores {
  /** Classes that become candidates. */
  readonly passing: readonly ClassScore[];
  /** True if a class that passes has a probability above 1. Such a frame is refused with a `TensorError`. */
  readonly outOfRange: boolean;
}

type PlainFn = Exclude<Fn, "softmax">;
type Gate = Plan["rules"]["gate"];

// ---- Activations -------------------------------------------------------------------------------------

/** Source: every YOLO from v2 on; `sg` in the notation of depthai-core. */
export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/**
 * Returns e^x_i / (e^x_0 + e^x_1 + ...). A NaN stays NaN and is not part of the sum. If a logit is infinite, all
 * results are NaN, as in PyTorch. Source: YOLOv2, DETR, Caffe's Softmax layer.
 */
export function softmax(logits: readonly number[]): number[] {
  const numbers = logits.filter((x) => !Number.isNaN(x));
  const largest = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = numbers.reduce((total, x) => total + Math.exp(x - largest), 0);
  return logits.map((x) => Math.exp(x - largest) / sum);
}

/** Returns the activation of x, for activations of one channel. */
export function activate(fn: PlainFn, x: number): number {
  if (fn === "sigmoid") return sigmoid(x);
  if (fn === "tanh") return Math.tanh(x); // FastestDet: offsets in the cell
  if (fn === "exp") return Math.exp(x); // YOLOv2 to v4, YOLOX, SSD: sizes
  if (fn === "square") return (2 * x) ** 2; // YOLOv5, v7: sizes, where the network has applied the sigmoid
  if (fn === "clamp") return x < 0 ? 0 : x > 1 ? 1 : x; // YuNet of 2022: the predicted IoU
  if (fn === "squareSigmoid") return (2 * sigmoid(x)) ** 2; // the same, where it has not
  return x;
}

// ---- Score of a class --------------------------------------------------------------------------------

/**
 * Combines objectness and class score.
 * - "product": objectness x class. Source: YOLOv3, v5 and X, Ultralytics, depthai-core.
 * - "class": the class score; objectness is only compared with the threshold. Source: depthai-nodes; depthai-core for
 *   YOLOv6 r2 and v8.
 * - "objectness": the network has one class and no channel for it. Source: face-api's tiny YOLOv2.
 * - "power": objectness^0.6 x class^0.4. Source: FastestDet.
 */
export function combine(rule: Head["rule"], objectness: number | null, classScore: number): number {
  const o = objectness ?? 1;
  if (rule === "product") return o * classScore;
  if (rule === "objectness") return o;
  if (rule === "power") return Math.max(0, o) ** 0.6 * Math.max(0, classScore) ** 0.4;
  return classScore;
}

/**
 * True if a score passes a threshold. Both are rounded to f32 first. NaN passes nothing. Source: the column "gate" of
 * the table of conventions; the published decoders hold scores and thresholds in f32.
 */
export const passes = (score: number, threshold: number, gate: Gate): boolean =>
  gate === ">" ? Math.fround(score) > Math.fround(threshold) : Math.fround(score) >= Math.fround(threshold);

/**
 * True if objectness lets a cell pass. Objectness must reach the lowest threshold of the classes in use. Source:
 * Ultralytics, depthai-core and depthai-nodes compare objectness first, then the score. FastestDet compares only the
 * score: there, the score that the best possible class would give must pass.
 */
export const passesObjectness = (
  rule: Head["rule"],
  objectness: number,
  bestClass: number,
  lowest: number,
  gate: Gate,
): boolean => passes(rule === "power" ? combine(rule, objectness, bestClass) : objectness, lowest, gate);

/**
 * Returns the first of the classes with the largest raw value. NaN is never chosen. Raw values decide, not scores:
 * logits 20 and 30 differ, although f32 has the same probability for both.
 */
export function firstOfLargest(classes: readonly ClassScore[]): ClassScore[] {
  let best: ClassScore | null = null;
  for (const c of classes) if (c.raw > (best?.raw ?? -Infinity)) best = c;
  return best === null ? [] : [best];
}

// ---- Thresholds --------------------------------------------------------------------------------------

/**
 * Returns the class id of the first entry in a list with one entry per class. The list of an SSD may omit the
 * background although class ids count it, or include it although they do not. The length of the list shows which.
 */
export function firstInList(plan: Plan, length: number): number {
  const first = Math.min(...plan.heads.map((h) => (h.classId ? 0 : h.classBase)));
  if (length === plan.classes - first) return first;
  const namesBackground = !plan.rules.countBackground && !plan.backgroundLast && length === plan.classes + 1;
  return namesBackground ? -1 : 0;
}

/** The classes of a head that are in use, and the threshold of each. */
export interface HeadThresholds {
  readonly classIds: readonly number[];
  /** The lowest threshold of these classes. Objectness must reach it. */
  readonly lowest: number;
  /**
   * Returns the threshold of a class: the single number, or the class's entry in the list. Classes without an entry get
   * the lowest threshold.
   */
  readonly of: (classId: number) => number;
}

/** Returns the classes of a head that `keep` allows, with their thresholds. */
export function headThresholds(
  plan: Plan,
  head: Head,
  confidence: Thresholds["confidenceThreshold"],
): HeadThresholds {
  const count = head.classId ? plan.classes : head.classes;
  const all = Array.from({ length: count }, (_, channel) => channel + (head.classId ? 0 : head.classBase));
  // A column of class ids may hold any id, and `keep` may name ids beyond the known classes.
  const classIds = head.classId ? (plan.keep ?? all) : all.filter((id) => plan.keep?.includes(id) ?? true);
  if (typeof confidence === "number") return { classIds, lowest: confidence, of: () => confidence };
  const first = firstInList(plan, confidence.length);
  const entry = (id: number): number => confidence[id - first] ?? Math.min(...confidence);
  const lowest = Math.min(...classIds.map(entry));
  return { classIds, lowest, of: (id) => (classIds.includes(id) ? entry(id) : lowest) };
}

// ---- Range -------------------------------------------------------------------------------------------

/** Returns by how much a probability may exceed 1: 1e-5 for f32, two steps of f16, one quantisation step. */
export function slack({ type, scale }: TensorSpec): number {
  if (type === "f32") return 1e-5;
  return type === "f16" ? 2 ** -9 : (scale ?? 1);
}

/** Returns the largest probability that a tensor may hold. Logits and absent columns have no limit. */
function highest(plan: Plan, column: Head["objectness"], fn: Fn): number {
  const isProbability = column !== null && fn === "none" && plan.scores !== "logits";
  return isProbability ? 1 + slack(plan.tensors[column.tensor]) : Infinity;
}

// ---- One cell ----------------------------------------------------------------------------------------

/** Returns the class scores of a cell, channel by channel. */
function activatedScores(head: Head, read: ColumnReader, cell: number): number[] {
  const { score, scoreFn, softmax: logits } = head;
  const channels = Array.from({ length: head.classes }, (_, channel) => channel);
  if (scoreFn !== "softmax" || logits === null)
    return channels.map((c) => activate(scoreFn as PlainFn, read.real(score, cell, c)));
  const row = { ...score, offset: logits.offset };
  const all = softmax(Array.from({ length: logits.count }, (_, i) => read.real(row, cell, i)));
  // The background may come before the first class.
  const first = (score.offset - logits.offset) / score.channel;
  return channels.map((c) => all[first + c]);
}

/** Returns the scores of the classes in use, before any threshold. */
function classesOf(head: Head, read: ColumnReader, cell: number, classIds: readonly number[]): ClassScore[] {
  const { rule, classBase } = head;
  const objectness = head.objectness
    ? activate(head.objectnessFn as PlainFn, read.real(head.objectness, cell))
    : null;
  const make = (classId: number, raw: number, classScore: number): ClassScore => ({
    classId,
    raw,
    classScore,
    objectness,
    score: combine(rule, objectness, classScore),
  });
  if (rule === "objectness") return [make(classBase, objectness as number, 1)];
  const scores = activatedScores(head, read, cell);
  const rawOf = (channel: number): number => read.real(head.score, cell, channel);
  // Round the class id to the nearest whole number: a quantised column differs by at most half a step. Published
  // decoders truncate, which gives the same for whole numbers.
  if (head.classId)
    return [make(Math.floor(read.real(head.classId, cell) + 0.5) + classBase, rawOf(0), scores[0])];
  return classIds.map((id) => make(id, rawOf(id - classBase), scores[id - classBase]));
}

/**
 * Returns the classes of a cell that become candidates: the best one that passes, or with `multiLabel` every one that
 * passes. A masked value (-Infinity before its activation) passes no threshold, not even 0.
 */
export function scoreCell(
  plan: Plan,
  head: Head,
  read: ColumnReader,
  cell: number,
  thresholds: HeadThresholds,
): CellScores {
  const { gate, multiLabel } = plan.rules;
  const { rule } = head;
  const isMasked = head.objectness !== null && read.real(head.objectness, cell) === -Infinity;
  const classes = isMasked ? [] : classesOf(head, read, cell, thresholds.classIds);
  const mostObjectness = highest(plan, head.objectness, head.objectnessFn);
  const mostClass = rule === "objectness" ? Infinity : highest(plan, head.score, head.scoreFn);

  // Test each factor with the largest allowed value of the other: an invalid value above 1 must not lift a cell.
  const bestClass = Number.isFinite(mostClass) ? mostClass : 1;
  const open = classes.filter(({ raw, objectness: o, classScore }) => {
    if (raw === -Infinity || (o !== null && !passesObjectness(rule, o, bestClass, thresholds.lowest, gate)))
      return false;
    const atBest = rule === "objectness" ? o : Number.isFinite(mostObjectness) ? mostObjectness : 1;
    return passes(combine(rule, atBest, classScore), thresholds.lowest, gate);
  });
  const isAbove = (probability: number, most: number): boolean =>
    Number.isFinite(probability) && probability > most;
  const outOfRange = open.some(
    ({ objectness: o, classScore }) => isAbove(o ?? 0, mostObjectness) || isAbove(classScore, mostClass),
  );
  const passing = open.filter(({ classId, score }) => passes(score, thresholds.of(classId), gate));
  return { passing: multiLabel ? passing : firstOfLargest(passing), outOfRange };
}
