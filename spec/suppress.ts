/** Order and suppression: decides which candidates stay. */
import type { Rules } from "../src/core/rules.ts";
import type { Box } from "./boxes.ts";

/** The part of a box that order and suppression need. */
export interface Ranked {
  readonly score: number;
  readonly classId: number;
  readonly box: Box;
}

/** Rule by which boxes suppress each other. */
export interface Suppression extends Pick<Rules, "suppress" | "iouGate"> {
  readonly iouThreshold: number;
  readonly maxDetections: number;
  /** Added to widths and heights, in the unit of the boxes. */
  readonly offset: readonly [number, number];
}

export interface Suppressed<T> {
  readonly kept: readonly T[];
  /** Count of candidates that were compared: all, or those up to the one with which `maxDetections` were kept. */
  readonly visited: number;
}

/**
 * Returns the candidates from the best score down. Equal scores stay in the order of their sources: head by head, cell
 * by cell, class by class.
 */
export const inOrder = <T extends Ranked>(candidates: readonly T[]): T[] =>
  [...candidates].sort((a, b) => b.score - a.score);

/** Returns a length of at least 0. */
const length = (from: number, to: number, offset: number): number => Math.max(0, to - from + offset);

/**
 * Returns intersection and union of two boxes. `offset` is the pixel that decoders with inclusive corners add. Source:
 * every published decoder; for the pixel: Fast R-CNN, depthai-nodes.
 */
export function overlap(a: Box, b: Box, [ox, oy]: Suppression["offset"]): { shared: number; union: number } {
  const shared =
    length(Math.max(a[0], b[0]), Math.min(a[2], b[2]), ox) *
    length(Math.max(a[1], b[1]), Math.min(a[3], b[3]), oy);
  const area = (box: Box): number => length(box[0], box[2], ox) * length(box[1], box[3], oy);
  return { shared, union: area(a) + area(b) - shared };
}

/**
 * True if a kept box removes another box: IoU = intersection / union is above the threshold, or with ">=" equals it.
 * Quotient and threshold are rounded to f32, so that 30 / 50 equals a threshold of 0.6. Boxes without area remove
 * nothing. Source: the row "suppress at IoU" of the table of conventions; f32: OpenCV, ONNX Runtime, depthai-core.
 */
export function suppresses(kept: Ranked, other: Ranked, rule: Suppression): boolean {
  if (rule.suppress === "none" || (rule.suppress === "class" && kept.classId !== other.classId)) return false;
  const { shared, union } = overlap(kept.box, other.box, rule.offset);
  if (!(union > 0)) return false;
  const iou = Math.fround(shared / union);
  const threshold = Math.fround(rule.iouThreshold);
  return rule.iouGate === ">" ? iou > threshold : iou >= threshold;
}

/**
 * Greedy non-maximum suppression: from the best score down, a candidate stays unless a candidate that stays removes it.
 * Source: every published decoder. `candidates` must be in order.
 */
export function suppress<T extends Ranked>(candidates: readonly T[], rule: Suppression): Suppressed<T> {
  const kept: T[] = [];
  let visited = 0;
  while (visited < candidates.length && kept.length < rule.maxDetections) {
    const candidate = candidates[visited++];
    if (!kept.some((k) => suppresses(k, candidate, rule))) kept.push(candidate);
  }
  return { kept, visited };
}
