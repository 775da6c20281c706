import { prototypesOf, typeProblem } from "../tasks/masks/plan.ts";
import { PROTOTYPE_TYPES, type Prototypes } from "../tasks/masks/source.ts";
import { attachMasks } from "../tasks/masks/attach.ts";
import { volume } from "../core/tensor.ts";
import { refusePlan, within } from "./bytes.ts";
import { MASKS } from "./fields.ts";
import { openSection } from "./section.ts";
import type { FileTask } from "./tasks.ts";

/** Largest ratio of the input's side to the side of the prototypes. Real networks have 2 to 8. */
const MOST_STRIDE = 64;

/** The task "segment" of plan files. */
export const masks: FileTask<"segment"> = {
  task: "segment",

  attachFile(loaded) {
    const { work, task, heads } = openSection(loaded, MASKS);
    const { tensors, batch, inputSize } = work.plan;
    const { count, width, height } = task;
    const tensor = within(task.slot, 0, tensors.length - 1, 0);
    const spec = tensors[tensor];
    const problem = typeProblem(spec);
    if (problem) refusePlan(...problem);
    const hasFileSteps = ({ type, ...steps }: Prototypes): boolean => {
      const { bytes } = PROTOTYPE_TYPES[type];
      return (["column", "row", "plane"] as const).every((step) => steps[step] === task[step] * bytes);
    };
    // Accept only the steps of NCHW or NHWC without gaps: kernels read no other storage order.
    const prototypes =
      (["NCHW", "NHWC"] as const)
        .map((order) => prototypesOf({ count, width, height, order }, spec))
        .find(hasFileSteps) ??
      refusePlan("prototypes with gaps", "elements that follow each other, as NCHW or NHWC");
    const elements = volume(spec.dims) / batch;
    if (task.image !== elements || count * width * height !== elements)
      refusePlan(
        `${elements} elements for ${count} prototypes of ${width}x${height}`,
        "as many as these have",
      );
    // Limit the input size, since a forged file can state any: a mask of size "network" has as many pixels as the
    // input.
    inputSize?.forEach((side, k) => within(side, 0, MOST_STRIDE * (k === 0 ? width : height), 1));
    return { known: { name: "segment" }, afterImage: attachMasks(work, { tensor, prototypes, heads }) };
  },
};
