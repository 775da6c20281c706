/** The part of a task's reader that makes the plan. */
import type { Conventions } from "../core/conventions.ts";
import type { refuseFor } from "../core/errors.ts";
import { type TaskName, providedReaders } from "../core/tasks.ts";
import type { Interpretation, Specs } from "../heads/head.ts";
import type { HeadQuery } from "../heads/query.ts";

/** Functions of core that a reader gets, since its own copies would throw errors of another class. */
export interface PlanTools {
  /**
   * Finds every interpretation of the boxes. A spec with `extra` channels has so many more than those of its head, as
   * the last ones.
   */
  readonly interpret: (query: HeadQuery, specs: Specs) => readonly Interpretation[];
  readonly refuseFor: typeof refuseFor;
}

export interface TaskPlanner {
  /**
   * Returns every interpretation of the tensors with all that the task needs: `head.extra` of each head,
   * `interpretation.task`, and `uses` of the tensors that hold them. Throws if there is none, as core cannot say what
   * was expected.
   */
  read(query: HeadQuery, specs: Specs, tools: PlanTools): readonly Interpretation[];
  /** Rules that the kernel has in place of those of the config, which `plan.task.rules` keeps. */
  readonly rules?: Partial<Conventions>;
}

/** Returns the planner of a task, undefined for boxes alone. */
export const plannerOf = (task: TaskName = "detect"): TaskPlanner | undefined =>
  providedReaders()[task] as TaskPlanner | undefined;
