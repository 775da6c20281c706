/** Computes the right answer of a workload by the specification, in plain doubles, from the plan of the network. */
import { definition, definitionOfNms } from "../spec/definition.ts";
import { readConfig } from "../src/config/config.ts";
import { numbersOf } from "../src/core/number.ts";
import { specOf, type TensorInput } from "../src/core/tensor.ts";
import { explain } from "../src/plan/explain.ts";
import { interpretConfig, planOf } from "../src/plan/make.ts";
import { optionsOf } from "./engines.ts";
import { keptOnly, type Answer } from "./peers/prepared.ts";
import { nmsOptions, type Workload } from "./workloads.ts";
import { ALL_TASKS } from "../src/whole/tasks.ts";

export { digest as digestOf } from "../spec/definition.ts";

/** Returns the tensors of one image of a batch. */
const imageOf = ({ tensors, images }: Workload, image: number): Record<string, TensorInput> =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, { data, dims, ...rest }]) => {
      const size = data.length / images;
      return [
        name,
        { ...rest, data: data.subarray(image * size, (image + 1) * size), dims: [1, ...dims.slice(1)] },
      ];
    }),
  );

/** Decodes one image by the specification. The plan is made as in the decoder. */
function defineImage(workload: Workload, image: number): Answer {
  const outputs = imageOf(workload, image);
  const config = readConfig(optionsOf(workload), {});
  const named = Object.entries(outputs);
  const specs = named.map(([name, tensor]) => specOf(name, tensor));
  const plan = planOf(
    interpretConfig(config, specs, ALL_TASKS, (i) => numbersOf(specs[i], named[i][1].data)),
    explain,
  );
  const elements = Object.fromEntries(named.map(([name, { data }]) => [name, data as ArrayLike<number>]));
  return definition(plan, elements, config);
}

function defineSuppression(workload: Workload): Answer {
  const { boxes, scores } = workload.tensors;
  const { classIds, ...limits } = nmsOptions(workload);
  const rule = { suppress: classIds ? "class" : "all", iouGate: ">", offset: [0, 0] } as const;
  const { kept = [] } = definitionOfNms(boxes.data, scores.data, { ...rule, ...limits }, classIds);
  return keptOnly(kept);
}

/** Returns the right answer of a workload: all images one after the other. */
export function define(workload: Workload): Answer {
  if (workload.kind === "nms") return defineSuppression(workload);
  const images = Array.from({ length: workload.images }, (_, image) => defineImage(workload, image));
  const join = (column: "boxes" | "scores" | "classIds"): number[] =>
    images.flatMap((answer) => Array.from(answer[column]));
  return {
    count: images.reduce((sum, { count }) => sum + count, 0),
    boxes: join("boxes"),
    scores: join("scores"),
    classIds: join("classIds"),
  };
}
