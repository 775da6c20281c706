/** The functions of a task that find its tensors, and the rules that a task sets in the plan. */
import type { Rules } from "../core/rules.ts";
import { type TaskName, neededTask } from "../core/tasks.ts";
import type { Interpretation, Specs } from "../heads/head.ts";
import type { HeadQuery } from "../heads/query.ts";

export interface TaskPlanner {
  readonly task: string;
  /**
   * Returns every interpretation of the tensors, with `head.extra` of each head, `interpretation.task`, and the task's
   * tensors added to `uses`. Throws if there is none: only the task can say which tensors it expects.
   */
  read(query: HeadQuery, specs: Specs): readonly Interpretation[];
  /** Rules that replace the config's in the kernel. `plan.task.rules` keeps the config's. */
  readonly rules?: Partial<Rules>;
}

/** The tasks at hand. Those without `read` are of no matter to a plan. */
export type Planners = readonly (TaskPlanner | { readonly task: "suppression" | "prepare" })[];

/** Returns the planner of a task; undefined for boxes alone. Throws a ConfigError if the task is not at hand. */
export const plannerOf = (planners: Planners, task: TaskName = "detect"): TaskPlanner | undefined =>
  task === "detect" ? undefined : (neededTask(planners, task) as TaskPlanner);
