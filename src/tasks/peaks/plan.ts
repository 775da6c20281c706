/** The part of a plan for networks that mark the centres of objects in a map. Plain data. */
import type { PeakForm } from "../../core/family.ts";
import type { TaskPlan } from "../../heads/head.ts";
import type { Plan } from "../../plan/plan.ts";
import type { CellTask } from "./attach-cells.ts";
import type { CellGroups } from "./cells.ts";

export interface PeakPlan extends TaskPlan {
  readonly form: PeakForm;
  /** Rule that groups cells into objects. Only for the form "cells". */
  readonly groups: CellGroups | null;
  /** Height of the map in cells. The head states the width of the map. */
  readonly height: number;
  /** Count of keypoints of an object; 0 for none. The channels hold x of all keypoints, then y of all keypoints. */
  readonly points: number;
}

/** Returns the facts about a plan that the grouping of cells needs. */
export const cellTaskOf = ({ heads: [head], capacity, rules }: Plan, task: PeakPlan): CellTask => ({
  groups: task.groups ?? "edge-impulse",
  gridWidth: head.gridWidth,
  unit: head.unit,
  capacity,
  clamp: (task.rules ?? rules).clamp,
});
