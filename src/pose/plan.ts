/** The part of a plan about keypoints. Plain data. */
import type { Edges } from "../core/keypoints.ts";
import type { TaskPlan } from "../heads/head.ts";

/**
 * How channels become x and y of the network's input.
 * - `decoded`: the network finished them, in the unit that `normalised` says
 * - `grid`: x = (factor * raw + column + offset) cells, or, with `byAnchor`, raw * anchor width + column cells
 * - `prior`: x = centre of the prior + raw * variance * width of the prior
 */
export type PointRule = "decoded" | "grid" | "prior";

/** The facts about points that follow from the form of the tensors. */
export interface PointReading {
  readonly rule: PointRule;
  /** True if confidences are raw, before the sigmoid. */
  readonly logits: boolean;
  /** True if the rule `grid` multiplies raw values by the size of the head's anchor, not by that of a cell. */
  readonly byAnchor?: boolean;
  /** True if y stands before x. */
  readonly yFirst?: boolean;
  /** True if the network outputs one pose and no box. */
  readonly alone?: boolean;
  /** True if the score is the square root of objectness x class score. The kernel computes the product only. */
  readonly root?: boolean;
}

export interface PosePlan extends TaskPlan, PointReading {
  /** Count of the keypoints of an object. */
  readonly count: number;
  /** Channels of a keypoint: x and y, or x, y and confidence. */
  readonly values: 2 | 3;
  /** Factor of the rule `grid`. */
  readonly factor: number;
  /** Offset of the rule `grid`, in cells. */
  readonly offset: number;
  /** True if decoded points are 0..1 across the network's input; false: pixels of the input. */
  readonly normalised: boolean;
  readonly names: readonly string[] | null;
  readonly edges: Edges | null;
}
