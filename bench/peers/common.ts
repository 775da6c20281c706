/** What every peer has in common: run once, then hand over columns in the form the digest wants. */
import type { Found } from "../definition.ts";
import { INPUT, INPUT_V3, type Workload } from "../workloads.ts";

export interface Prepared {
  /** Decodes once; the number of detections goes to the sink. */
  run(): number | Promise<number>;
  found(): Found;
}

/** Why an engine has no row for a workload, in a sentence for the report. */
export class NotApplicable extends Error {}

/** Pixel centre and size to corners in 0..1, clamped, as our columns are. Not measured: at most 300 boxes. */
export function columnsOf(
  workload: Workload,
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  labels: ArrayLike<number | bigint>,
): Found {
  const size = workload.kind === "v3" ? INPUT_V3 : INPUT;
  const corners: number[] = [];
  for (let i = 0; i < scores.length; i++) {
    for (let j = 0; j < 4; j++) {
      const corner = boxes[4 * i + (j & 1)] + (j < 2 ? -0.5 : 0.5) * boxes[4 * i + 2 + (j & 1)];
      corners.push(Math.min(1, Math.max(0, corner / size)));
    }
  }
  return { count: scores.length, boxes: corners, scores, classIds: Array.from(labels, Number) };
}
