import type { Edges } from "../../core/keypoints.ts";
import type { Rules } from "../../core/rules.ts";
import type { Column } from "../../heads/channels.ts";
import type { Head, TaskPlan } from "../../heads/head.ts";
import type { Plan } from "../../plan/plan.ts";

/**
 * Conversion of the channels of a point to x and y of the network's input.
 * - `decoded`: the network decoded the points. The field `normalised` states the unit
 * - `grid`: x = (factor * raw + column + offset) cells, or, with `byAnchor`, raw * anchor width + column cells
 * - `prior`: x = centre of the prior + raw * variance * width of the prior
 */
export type PointRule = "decoded" | "grid" | "prior";

/** Facts about points that depend on the form of the tensors. */
export interface PointReading {
  readonly rule: PointRule;
  /** True if confidences are raw: the sigmoid is not yet applied. */
  readonly logits: boolean;
  /** True if the rule `grid` multiplies raw values by the size of the anchor, false by the size of the cell. */
  readonly byAnchor?: boolean;
  /** True if y comes before x. */
  readonly yFirst?: boolean;
  /** True if the network outputs one pose and no box. */
  readonly alone?: boolean;
  /** True if the score is the square root of objectness x class score. The kernel calculates only the product. */
  readonly root?: boolean;
  /** True if one tensor holds all points as if decoded, but the boxes are maps. The points may then be raw. */
  readonly mayBeRaw?: boolean;
  /** Set if a query has points for each class. Absent if a row has one set of points. */
  readonly slots?: PointSlots;
}

/** The points of a query, class by class. Each point has `POINT_CHANNELS` channels. */
export interface PointSlots {
  /** Id of the class whose points come first. */
  readonly firstClass: number;
}

/**
 * Count of channels of a point of RF-DETR: x, y, findable, visible, then log l11, l21, log l22, and a part of the class
 * score. The l values are a Cholesky factor of the precision matrix.
 */
export const POINT_CHANNELS = 8;

/** The facts about points that do not depend on the head. */
export interface PointFacts extends PointReading {
  /** Text for messages: what the points are and how they are read. */
  readonly about: string;
  /** Count of the keypoints of an object. */
  readonly count: number;
  /** Channels of a keypoint: x and y, or x, y and confidence. */
  readonly values: 2 | 3;
  /** True if decoded points are 0..1 across the network's input; false: pixels of the input. */
  readonly normalised: boolean;
  readonly names: readonly string[] | null;
  readonly edges: Edges | null;
}

export interface PosePlan extends TaskPlan, PointFacts {
  /** The number `factor` in the rule `grid`. */
  readonly factor: number;
  /** The number `offset` in the rule `grid`, in cells. */
  readonly offset: number;
}

/**
 * The channels of a head's points, and the numbers that convert them to 0..1 of the network's input. For a cell at
 * `column` and a raw x, the result is:
 * - `decoded`: raw * scale
 * - `grid`: raw * scale + (column + add) * unit
 * - `prior`: raw * (scale * width of the prior) + centre of the prior
 */
export interface PointHead extends Pick<Head, "cells" | "gridWidth"> {
  readonly extra: Column;
  readonly scale: readonly [x: number, y: number];
  /** Width and height of a cell for the rule `grid`; 0 for other rules. */
  readonly unit: readonly [x: number, y: number];
  readonly add: number;
  /** Rows of cx cy w h, one per cell, for the rule `prior`; `null` for other rules. */
  readonly priors: Float32Array | null;
}

/** Facts that `attachPoints` needs. Plan files contain the same facts. */
export interface PointTask extends PointFacts {
  readonly clamp: Rules["clamp"];
  readonly heads: readonly PointHead[];
}

/** Returns the channels of a head's points and the numbers that convert them. */
export function pointHeadOf({ inputSize }: Plan, pose: PosePlan, head: Head): PointHead {
  const { cells, gridWidth, priors, variances, unit, size } = head;
  const { rule, factor, offset, normalised, byAnchor } = pose;
  const shared = {
    cells,
    gridWidth,
    extra: head.extra as Column,
    unit: [0, 0],
    add: 0,
    priors: null,
  } as const;
  if (rule === "grid") {
    const [width, height] = byAnchor ? size : unit;
    return { ...shared, scale: [factor * width, factor * height], unit, add: offset };
  }
  if (rule === "prior") return { ...shared, scale: [variances[0], variances[1]], priors };
  return { ...shared, scale: inputSize && !normalised ? [1 / inputSize[0], 1 / inputSize[1]] : [1, 1] };
}
