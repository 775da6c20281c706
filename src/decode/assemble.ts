/**
 * The one route from a config and the shapes of its outputs to a plan in memory. The decoder, `compile` and the tests take
 * it; `inspect` takes its first step.
 */
import type { Config } from "../config/types.ts";
import { type Layout, layoutOf } from "../memory/layout.ts";
import { checkPerClass } from "../plan/classes.ts";
import { makePlan } from "../plan/make.ts";
import type { Plan } from "../plan/plan.ts";
import type { TensorSpec } from "../core/tensor.ts";

/** Returns the values of an output, or null where they are not at hand. Priors may be such an output. */
export type ValuesOf = (index: number) => ArrayLike<number> | null;

export interface AssembleOptions {
  readonly valuesOf?: ValuesOf;
  /**
   * False: the host writes whole tensors into the slots, so that no room is kept for rows gathered from a caller's array.
   * Default true.
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
 * Makes the plan and the layout of a config whose output shapes are known.
 * @throws TensorError if the shapes do not fit the config, or fit in several ways
 */
export function assemble(
  config: Config,
  specs: readonly TensorSpec[],
  { valuesOf, gathers = true, scalarOnly = false }: AssembleOptions = {},
): Assembly {
  const made = makePlan(config, specs, valuesOf);
  const plan = gathers ? made : { ...made, gather: null };
  checkPerClass(plan, config.confidenceThreshold);
  return { plan, layout: layoutOf(plan, scalarOnly) };
}
