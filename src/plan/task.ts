/** The functions of a task that help to make a plan: they find the task's tensors, and override rules. */
import type { Rules } from "../core/rules.ts";
import { type TaskName, neededTask } from "../core/tasks.ts";
import type { Interpretation, Specs } from "../heads/head.ts";
import type { HeadQuery } from "../heads/query.ts";

export interface TaskPlanner {
  readonly task: string;
  /**
   * Returns every interpretation, with `head.extra`, `task` and `uses` set. If there is none, throws an error that
   * lists the shapes which the task can read.
   */
  read(query: HeadQuery, specs: Specs): readonly Interpretation[];
  /** Rules for the kernel that override the config's rules. `plan.task.rules` has the config's rules. */
  readonly rules?: Partial<Rules>;
}

/** The available tasks. Planning ignores entries without `read`. */
export type Planners = readonly (TaskPlanner | { readonly task: "suppression" | "prepare" })[];

/**
 * Returns the planner of a task. Returns undefined for boxes alone. Throws a ConfigError if the task is not available.
 */
export const plannerOf = (planners: Planners, task: TaskName = "detect"): TaskPlanner | undefined =>
  task === "detect" ? undefined : (neededTask(planners, task) as TaskPlanner);
