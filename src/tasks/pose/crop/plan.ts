/** The part of a plan for the points of a network whose input is the crop of one object. Plain data. */
import type { CropRule } from "../../../core/crop.ts";
import type { Edges } from "../../../core/keypoints.ts";
import type { Refinement } from "../../../core/pose-families.ts";
import type { TaskPlan } from "../../../heads/head.ts";

/** Facts about the points of all networks whose input is a crop. */
interface SharedPlan extends TaskPlan {
  readonly name: "pose";
  /** Count of the points of the object. */
  readonly count: number;
  readonly names: readonly string[] | null;
  readonly edges: Edges | null;
  /** Rule that calculates the next frame's crop from the points; `null` if the family has none. */
  readonly next: CropRule | null;
}

/** Plan of SimCC. Each point has one row of scores along x and one along y. `tensors` are the indices of x and y. */
export interface SimccPlan extends SharedPlan {
  readonly network: "simcc";
  /** A point has x, y and a confidence. */
  readonly values: 3;
  /** Bins along each axis. */
  readonly bins: readonly [x: number, y: number];
}

/** Plan of heat maps, one map for each point. `tensors` holds the index of the tensor of maps. */
export interface HeatmapPlan extends SharedPlan {
  readonly network: "heatmaps";
  readonly values: 3;
  readonly refinement: Exclude<Refinement, "heatmap">;
  /** Cells of a map. */
  readonly size: readonly [width: number, height: number];
  /** Step from a point to the next point, in elements. `cell`: step from a cell to the next cell. */
  readonly channel: number;
  readonly cell: number;
}

/** Plan of points that are output as numbers. `tensors` holds the index of their tensor. */
export interface VectorPlan extends SharedPlan {
  readonly network: "vector";
  readonly values: 2 | 3;
  /** Divisors that convert x, y and z to 0..1 of the network's input. */
  readonly divisors: readonly [number, number, number];
}

/** Plan of MediaPipe's landmarks. `tensors`: points, presence, then the tensors at `side`, `world` and `heat`. */
export interface LandmarkPlan extends SharedPlan {
  readonly network: "landmarks";
  readonly rows: number;
  readonly values: 3 | 5;
  readonly divisors: readonly [number, number, number];
  /** True if the presence is raw: the sigmoid is not yet applied. */
  readonly logits: boolean;
  /** Indices in `tensors`: of the tensor of sides, points in metres (`world`), heat maps. -1: none. */
  readonly side: number;
  readonly world: number;
  readonly heat: number;
  /** Width and height of the heat maps. Each row of points has one channel. */
  readonly heatSize: readonly [number, number];
}

export type CropPlan = SimccPlan | HeatmapPlan | VectorPlan | LandmarkPlan;

/** True for the plan of a network that gets the crop of one object. */
export const isCropPlan = (plan: TaskPlan | undefined): plan is CropPlan =>
  plan !== undefined && "network" in plan;
