/**
 * Turns a config and its output shapes into a plan in memory, in three steps: `readConfig`, `interpretConfig`,
 * `assemble`. The decoder and `compile` use all three, `inspect` the first two.
 */
import { HEAD_WORDS, PLAN_WORDS } from "../core/abi.ts";
import { checkSize } from "../core/memory.ts";
import { type MemoryLayout, layoutOf } from "./layout.ts";
import { checkPerClass } from "../plan/classes.ts";
import type { Explain } from "../plan/explain.ts";
import { type Interpreted, planOf } from "../plan/make.ts";
import type { Plan } from "../plan/plan.ts";

/** Words of a detection: four corners, score, class id and source. */
const COLUMNS = 7;

export interface AssembleOptions {
  /** False: the host writes whole tensors to the slots, so the plan needs no memory for gathered rows. Default true. */
  readonly gathers?: boolean;
  /** True: only the scalar kernel will run, and it needs less scratch. */
  readonly scalarOnly?: boolean;
}

/** A plan, and its layout in memory. */
export interface Assembly {
  readonly plan: Plan;
  readonly layout: MemoryLayout;
}

/** Makes the plan and the layout of an interpreted config. Throws if shapes do not fit, or the batch is too large. */
export function assemble(
  interpreted: Interpreted,
  explain: Explain | null,
  { gathers = true, scalarOnly = false }: AssembleOptions = {},
): Assembly {
  const made = planOf(interpreted, explain);
  const plan = gathers ? made : { ...made, gather: null };
  checkPerClass(plan, interpreted.config.confidenceThreshold);
  // Refuse a batch that is too large before listing its images: each image needs plan blocks and detection columns.
  const words = PLAN_WORDS + HEAD_WORDS * plan.heads.length + COLUMNS * plan.maxDetections;
  if (plan.batch > 1) checkSize(plan.batch * words * 4, RangeError);
  return { plan, layout: layoutOf(plan, scalarOnly) };
}
