/** What a plan says of keypoints. Plain data. */
import type { Edges } from "../core/keypoints.ts";
import type { TaskPlan } from "../heads/head.ts";

/**
 * How channels become x and y of the network's input.
 * - `decoded`: the network finished them, in the unit that `normalised` says
 * - `grid`: x = (factor * raw + column + offset) cells
 * - `prior`: x = centre of the prior + raw * variance * width of the prior
 */
export type PointRule = "decoded" | "grid" | "prior";

/** What a form of tensors settles. */
export interface PointReading {
  readonly rule: PointRule;
  /** Confidences are raw. */
  readonly logits: boolean;
  /** y stands before x. */
  readonly yFirst?: boolean;
  /** The whole network gives one pose and no box. */
  readonly alone?: boolean;
  /** The score is the square root of objectness x class. */
  readonly root?: boolean;
}

export interface PosePlan extends TaskPlan, PointReading {
  readonly count: number;
  readonly values: 2 | 3;
  readonly factor: number;
  readonly offset: number;
  /** Decoded points are 0..1. */
  readonly normalised: boolean;
  readonly names: readonly string[] | null;
  readonly edges: Edges | null;
}
