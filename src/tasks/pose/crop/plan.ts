/** The part of a plan about the points of a network that gets the crop of one object. Plain data. */
import type { CropRule } from "../../../core/crop.ts";
import type { Edges } from "../../../core/keypoints.ts";
import type { Refinement } from "../../../core/pose-families.ts";
import type { TaskPlan } from "../../../heads/head.ts";

/** Facts about points that all such networks share. */
interface SharedPlan extends TaskPlan {
  readonly name: "pose";
  /** Count of the points of the object. */
  readonly count: number;
  readonly names: readonly string[] | null;
  readonly edges: Edges | null;
  /** Rule that makes the next frame's crop from the rows; `null`: there is none. */
  readonly next: CropRule | null;
}

/** Plan of SimCC: a row along x and a row along y for each point. `tensors` are x, y. */
export interface SimccPlan extends SharedPlan {
  readonly network: "simcc";
  /** A point has x, y and a confidence. */
  readonly values: 3;
  /** Bins along each axis. */
  readonly bins: readonly [x: number, y: number];
}

/** Plan of heat maps, one for each point. `tensors` holds the index of the maps' tensor. */
export interface HeatmapPlan extends SharedPlan {
  readonly network: "heatmaps";
  readonly values: 3;
  readonly refinement: Exclude<Refinement, "heatmap">;
  /** Cells of a map. */
  readonly size: readonly [width: number, height: number];
  /** Steps from point to point and from cell to cell, in elements. */
  readonly channel: number;
  readonly cell: number;
}

/** Plan of points as numbers. `tensors` holds the index of their tensor. */
export interface VectorPlan extends SharedPlan {
  readonly network: "vector";
  readonly values: 2 | 3;
  /** Divisors of x, y, z that make 0..1 of the network's input. */
  readonly divisors: readonly [number, number, number];
}

/** MediaPipe's landmarks. `tensors` are the points, the presence, and those that the indices below name. */
export interface LandmarkPlan extends SharedPlan {
  readonly network: "landmarks";
  readonly rows: number;
  readonly values: 3 | 5;
  readonly divisors: readonly [number, number, number];
  /** True if the presence is raw, before the sigmoid. */
  readonly logits: boolean;
  /** Indices in `tensors`; -1: the network has none. */
  readonly side: number;
  readonly world: number;
  readonly heat: number;
  /** Width and height of the heat maps, which have one channel for each row. */
  readonly heatSize: readonly [number, number];
}

export type CropPlan = SimccPlan | HeatmapPlan | VectorPlan | LandmarkPlan;

/** True for the plan of a network that gets the crop of one object. */
export const isCropPlan = (plan: TaskPlan | undefined): plan is CropPlan =>
  plan !== undefined && "network" in plan;
