/**
 * The one route from a config and the shapes of its outputs to a plan in memory: `readConfig`, `interpretConfig`, then
 * `assemble`. The decoder and `compile` take it; `inspect` takes its first two steps.
 */
import { type Layout, layoutOf } from "../memory/layout.ts";
import { checkPerClass } from "../plan/classes.ts";
import { type Interpreted, planOf } from "../plan/make.ts";
import type { Plan } from "../plan/plan.ts";

export interface AssembleOptions {
  /**
   * False: the host writes whole tensors into the slots, so that no room is kept for rows gathered from a caller's
   * array. Default true.
   */
  readonly gathers?: boolean;
  /** True: only the scalar kernel will run, which needs less scratch. */
  readonly scalarOnly?: boolean;
}

/** A plan and where each part of it stands in memory. */
export interface Assembly {
  readonly plan: Plan;
  readonly layout: Layout;
}

/**
 * Makes the plan and the layout of a config whose tensors `interpretConfig` has interpreted.
 * @throws TensorError if the shapes do not fit the config, or fit in several ways
 */
export function assemble(
  interpreted: Interpreted,
  { gathers = true, scalarOnly = false }: AssembleOptions = {},
): Assembly {
  const made = planOf(interpreted);
  const plan = gathers ? made : { ...made, gather: null };
  checkPerClass(plan, interpreted.config.confidenceThreshold);
  return { plan, layout: layoutOf(plan, scalarOnly) };
}
