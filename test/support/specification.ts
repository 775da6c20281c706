/** The specification in `spec/`, asked as a user asks the decoder: a config, options, tensors, a frame. */
import { type Decoded, type Frame, type Tensors, type Thresholds, decode } from "../../spec/decode.ts";
import { readConfig } from "../../src/config/config.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { numbersOf } from "../../src/core/number.ts";
import { type TensorInput, specOf } from "../../src/core/tensor.ts";
import { explain } from "../../src/plan/explain.ts";
import { interpretConfig, planOf } from "../../src/plan/make.ts";
import type { Plan } from "../../src/plan/plan.ts";
import type { Row } from "./shared-data.ts";
import { ALL_TASKS } from "../../src/whole/tasks.ts";

export interface Asked {
  readonly plan: Plan;
  readonly thresholds: Thresholds;
}

/** Returns the plan and the thresholds that a config and tensors lead to. */
export function askedOf(
  config: unknown,
  options: DecoderOptions,
  outputs: { readonly [name: string]: TensorInput },
): Asked {
  const settled = readConfig(config, options);
  const named = Object.entries(outputs);
  const specs = named.map(([name, tensor]) => specOf(name, tensor));
  const plan = planOf(
    interpretConfig(settled, specs, ALL_TASKS, (i) => numbersOf(specs[i], named[i][1].data)),
    explain,
  );
  return { plan, thresholds: settled };
}

/** Returns the elements of tensors as `spec/` reads them. */
export const elementsOf = (outputs: { readonly [name: string]: TensorInput }): Tensors =>
  Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, data as ArrayLike<number>]));

/** Returns what the specification makes of the tensors, one entry per image. */
export function specify(
  config: unknown,
  options: DecoderOptions,
  outputs: { readonly [name: string]: TensorInput },
  frame?: Frame,
): Decoded[] {
  const { plan, thresholds } = askedOf(config, options, outputs);
  return decode(plan, elementsOf(outputs), thresholds, frame);
}

/** Returns detections as rows, as decoders print them. */
export const rowsOf = ({ detections }: Decoded): Row[] =>
  detections.map(({ classId, score, box: [x_min, y_min, x_max, y_max] }) => ({
    class_id: classId,
    confidence: score,
    x_min,
    y_min,
    x_max,
    y_max,
  }));
