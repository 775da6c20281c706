/**
 * The answer of the specification in columns, and a digest of it. With the digest, a row of the benchmark shows that it
 * found the same answer.
 */
import { createHash } from "node:crypto";
import type { Plan } from "../src/plan/plan.ts";
import type { Box } from "./boxes.ts";
import { type Frame, type Tensors, type Thresholds, decode } from "./decode.ts";
import { type Suppression, inOrder, suppress } from "./suppress.ts";

/** Detections of one image in columns. Suppression alone gives only `kept`, indices of boxes. */
export interface Columns {
  readonly count: number;
  /** Four numbers per detection, 0..1. */
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number>;
  readonly kept?: ArrayLike<number>;
}

export interface Definition extends Columns {
  readonly candidates: number;
}

/** Returns the detections of a plan for the tensors of one image. */
export function definition(plan: Plan, tensors: Tensors, thresholds: Thresholds, frame?: Frame): Definition {
  const [{ detections, candidates }] = decode(plan, tensors, thresholds, frame);
  return {
    count: detections.length,
    boxes: Float64Array.from(detections.flatMap((d) => d.box)),
    scores: Float64Array.from(detections, (d) => d.score),
    classIds: Int32Array.from(detections, (d) => d.classId),
    candidates,
  };
}

/**
 * Returns the boxes that suppression keeps, for boxes without a network: corners, four numbers per box. Without
 * `classIds`, all boxes have the same class.
 */
export function definitionOfNms(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  rule: Suppression,
  classIds?: ArrayLike<number>,
): Definition {
  const candidates = Array.from(scores, (score, index) => ({
    score,
    index,
    classId: classIds?.[index] ?? 0,
    box: [0, 1, 2, 3].map((i) => boxes[4 * index + i]) as unknown as Box,
  }));
  const { kept } = suppress(inOrder(candidates), rule);
  return {
    count: kept.length,
    boxes: Float64Array.from(kept.flatMap((k) => k.box)),
    scores: Float64Array.from(kept, (k) => k.score),
    classIds: Int32Array.from(kept, (k) => k.classId),
    kept: Int32Array.from(kept, (k) => k.index),
    candidates: candidates.length,
  };
}

/**
 * Returns the digest of an answer. An f32 engine differs from doubles in the last bits, so each value is first compared
 * with the true value. Within the tolerance, the true value enters the digest, else the value itself. The tolerance is
 * 1e-4 of the input for corners. For scores it is two parts in a million and 1e-7, since some runtimes approximate the
 * sigmoid. Equal digests mean: as many detections, in the same order, of the same classes (or the same indices), and
 * every value within the tolerance.
 */
export function digest(found: Columns, truth: Columns): string {
  const hash = createHash("sha256");
  if (truth.kept !== undefined) {
    hash.update(Int32Array.from({ length: found.count }, (_, i) => found.kept?.[i] ?? -1));
    return hash.digest("hex").slice(0, 12);
  }
  const near = (value: number, truth: number, tolerance: number): number =>
    Math.abs(value - truth) <= tolerance ? truth : value;
  const row = new Float64Array(6);
  for (let i = 0; i < found.count; i++) {
    row[0] = found.classIds[i];
    row[1] = near(found.scores[i], truth.scores[i], 2e-6 * truth.scores[i] + 1e-7);
    for (let j = 4 * i; j < 4 * i + 4; j++) row[2 + (j % 4)] = near(found.boxes[j], truth.boxes[j], 1e-4);
    hash.update(row);
  }
  return hash.digest("hex").slice(0, 12);
}
