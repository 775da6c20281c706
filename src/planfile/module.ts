/** Writes a plan as an ES module that decodes without the package boxwright. */
import type { EmbeddedPlan } from "../compiled/decode.ts";
import { refuse, refuseFor } from "../core/errors.ts";
import type { CompiledPlan } from "./write.ts";

/** Text in a template that is replaced by the plan. */
const PLACE = "BOXWRIGHT_PLAN";

/**
 * Returns the source of a module whose only export is `decode(outputs, frame)`.
 * @param template the built file of compiled/simd.ts or ts.ts
 * @throws TensorError if the plan has a task, such as keypoints, masks or angles, or if the outputs hold a batch
 */
export function moduleSource(template: string, compiled: CompiledPlan): string {
  const { plan } = compiled;
  if (plan.task)
    refuseFor(
      [{ option: "task", value: "detect" }],
      "",
      plan.task.about,
      "boxes alone: a module holds nothing else. Write a plan file (--out plan.bin) for boxwright/plan, or say " +
        'task: "detect"',
    );
  if (plan.batch !== 1) refuse("batch", String(plan.batch), "1: a module decodes one image a call");
  const data = JSON.stringify(embedded(compiled));
  return (
    `// Made by "boxwright compile". ${plan.about.replace(/\s+/g, " ")}\n` +
    "// decode(outputs, frame) returns detections, which the next call overwrites: copy() keeps them.\n" +
    template.replace(PLACE, () => data)
  );
}

/** Returns the type declarations of a module. They import types from boxwright, for the TypeScript compiler alone. */
export const moduleTypes = (): string => `// Made by "boxwright compile", beside the module.
import type { Detections, Frame, Outputs, TensorInput } from "boxwright";

/** Decodes one image. The next call overwrites the detections: \`copy()\` keeps them. */
export declare function decode(outputs: Outputs | TensorInput, frame?: Frame): Detections;
`;

function embedded({ image, plan, layout, labels, outputs }: CompiledPlan): EmbeddedPlan {
  const [columns] = layout.detections;
  return {
    image: [...new Int32Array(image.buffer, image.byteOffset, image.byteLength / 4)],
    memoryBytes: layout.bytes,
    block: layout.imageBlocks[0],
    columns,
    rows: plan.maxDetections,
    labels: labels.length > 0 ? labels : null,
    tensors: plan.tensors,
    addresses: layout.slots,
    places: plan.tensors.map((t) => outputs.findIndex((o) => o.name === t.name)),
    outputs: outputs.length,
    inputSize: plan.inputSize,
  };
}
