/** The common interface for measuring engines and peers. */
import type { Columns } from "../../spec/definition.ts";
import type { Workload } from "../workloads.ts";

/**
 * Detections in columns, of all images one after the other. Corners are in 0..1 of the network's input. For suppression
 * alone only `kept` is filled, the indices of the kept boxes.
 */
export type Answer = Columns;

export const keptOnly = (kept: ArrayLike<number>): Answer => ({
  count: kept.length,
  kept,
  boxes: [],
  scores: [],
  classIds: [],
});

export interface Prepared {
  /** Decodes once. Returns the count of detections. */
  run(): number | Promise<number>;
  /** Returns the result of the last run. */
  answer(): Answer;
}

/** The reason, in a sentence, why an engine has no row for a workload. */
export class NotApplicable extends Error {}

/** Turns centre and size in pixels into corners in 0..1, clamped. This conversion is not measured. */
export function cornersIn01(
  { inputSize }: Workload,
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  classIds: ArrayLike<number | bigint>,
): Answer {
  const corner = (i: number, side: number): number => {
    const half = (side < 2 ? -0.5 : 0.5) * boxes[4 * i + 2 + (side & 1)];
    return Math.min(1, Math.max(0, (boxes[4 * i + (side & 1)] + half) / inputSize));
  };
  return {
    count: scores.length,
    boxes: Array.from({ length: 4 * scores.length }, (_, j) => corner(j >> 2, j & 3)),
    scores: Array.from(scores),
    classIds: Array.from(classIds, Number),
  };
}
