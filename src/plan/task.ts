/** The functions of a task's reader that find its tensors, and the rules that a task sets in the plan. */
import type { Conventions } from "../core/conventions.ts";
import type { refuseFor } from "../core/errors.ts";
import { type TaskName, providedReaders } from "../core/tasks.ts";
import type { Interpretation, Specs } from "../heads/head.ts";
import type { HeadQuery } from "../heads/query.ts";

/** Functions of the decoder's bundle. A task's bundle has copies, whose errors fail `instanceof`. */
export interface PlanTools {
  /**
   * Returns every interpretation of the boxes. The last `extra` channels of a spec belong to the task and are left out.
   */
  readonly interpret: (query: HeadQuery, specs: Specs) => readonly Interpretation[];
  readonly refuseFor: typeof refuseFor;
}

export interface TaskPlanner {
  /**
   * Returns every interpretation of the tensors, with `head.extra` of each head, `interpretation.task`, and the task's
   * tensors added to `uses`. Throws if there is none: only the task can say which tensors it expects.
   */
  read(query: HeadQuery, specs: Specs, tools: PlanTools): readonly Interpretation[];
  /** Rules that replace the config's in the kernel. `plan.task.rules` keeps the config's. */
  readonly rules?: Partial<Conventions>;
}

/** Returns the planner of a task; undefined for boxes alone. */
export const plannerOf = (task: TaskName = "detect"): TaskPlanner | undefined =>
  providedReaders()[task] as TaskPlanner | undefined;
