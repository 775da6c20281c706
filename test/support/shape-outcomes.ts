/**
 * Finds the outcomes of the seeded cases. Keep this out of `plan-record.ts`: `plan-recorder.ts` replaces
 * src/plan/make.ts and imports `plan-record.ts` meanwhile.
 */
import { readConfig } from "../../src/config/config.ts";
import type { TensorSpec } from "../../src/core/tensor.ts";
import { specsOf } from "../../src/heads/query.ts";
import { explain } from "../../src/plan/explain.ts";
import { interpretConverted } from "../../src/plan/converted.ts";
import { planOf } from "../../src/plan/make.ts";
import { ALL_TASKS } from "../../src/whole/tasks.ts";
import { type Outcome, outcomeWith } from "./plan-record.ts";
import { shapeCase } from "./shape-cases.ts";

/** Returns the outcome of a seeded case. */
export function outcomeOfCase(number: number): Outcome {
  const { options, outputs } = shapeCase(number);
  return outcomeWith(() => {
    const config = readConfig(options, { outputs });
    return planOf(interpretConverted(config, specsOf(config) as TensorSpec[], ALL_TASKS), explain);
  });
}
