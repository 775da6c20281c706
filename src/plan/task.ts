/** The part of a task for making a plan: it finds the task's tensors, and overrides rules. */
import type { Rules } from "../core/rules.ts";
import { type TaskName, neededTask } from "../core/tasks.ts";
import type { Interpretation, Specs } from "../heads/head.ts";
import type { HeadQuery } from "../heads/query.ts";

export interface TaskPlanner {
  readonly task: string;
  /** Returns every interpretation with `head.extra`, `task` and `uses` set. Throws with the task's shapes. */
  read(query: HeadQuery, specs: Specs): readonly Interpretation[];
  /** Rules of the kernel that override the config's. `plan.task.rules` keeps the config's. */
  readonly rules?: Partial<Rules>;
}

/** The available tasks. A plan ignores tasks without `read`. */
export type Planners = readonly (TaskPlanner | { readonly task: "suppression" | "prepare" })[];

/**
 * Returns the planner of a task. Returns undefined for boxes alone. Throws a ConfigError if the task is not available.
 */
export const plannerOf = (planners: Planners, task: TaskName = "detect"): TaskPlanner | undefined =>
  task === "detect" ? undefined : (neededTask(planners, task) as TaskPlanner);
