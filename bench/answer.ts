/** The answer of a row, and the digest by which the row shows that it found what the definition finds. */
import { createHash } from "node:crypto";

/** Detections in columns, of all images one after the other. */
export interface Answer {
  readonly count: number;
  /** Corners x_min, y_min, x_max, y_max in 0..1 of the network's input. */
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number>;
  /** Indices of the kept boxes, for suppression alone. The other columns are then empty. */
  readonly kept?: ArrayLike<number>;
}

export const keptOnly = (kept: ArrayLike<number>): Answer => ({
  count: kept.length,
  kept,
  boxes: [],
  scores: [],
  classIds: [],
});

const CORNER_TOLERANCE = 1e-4;
/** Some runtimes approximate the sigmoid. */
const scoreTolerance = (score: number): number => 2e-6 * score + 1e-7;

/**
 * Returns the digest of `answer`. A value within the tolerance of the definition's is hashed as the definition's.
 * Plain rounding would tear two close values apart wherever a rounding boundary lies between them. Equal digests
 * mean the same detections in the same order with the same classes, every number within the tolerance. For
 * suppression alone they mean the same indices.
 */
export function digestOf(answer: Answer, truth: Answer): string {
  const hash = createHash("sha256");
  if (truth.kept !== undefined) {
    hash.update(Int32Array.from({ length: answer.count }, (_, i) => answer.kept?.[i] ?? -1));
    return hash.digest("hex").slice(0, 12);
  }
  const snap = (value: number, to: number, tolerance: number): number =>
    Math.abs(value - to) <= tolerance ? to : value;
  for (let i = 0; i < answer.count; i++) {
    const score = truth.scores[i];
    const row = [answer.classIds[i], snap(answer.scores[i], score, scoreTolerance(score))];
    for (let j = 4 * i; j < 4 * i + 4; j++) row.push(snap(answer.boxes[j], truth.boxes[j], CORNER_TOLERANCE));
    hash.update(Float64Array.from(row));
  }
  return hash.digest("hex").slice(0, 12);
}
