import * as A from "../core/abi.ts";
import { readOrientedRows } from "../tasks/oriented/rows.ts";
import { attachOriented } from "../tasks/oriented/attach.ts";
import { SIGMOID_RANGE } from "../tasks/oriented/plan.ts";
import { refusePlan } from "./bytes.ts";
import { ORIENTED } from "./fields.ts";
import { openSection, refuseKernelNms } from "./section.ts";
import type { FileTask } from "./tasks.ts";

/** The task "oriented" of plan files. */
export const oriented: FileTask<"oriented"> = {
  task: "oriented",
  readRows: readOrientedRows,

  attachFile(loaded) {
    const { file, images, inputSize } = loaded.plan;
    const { work, task, heads } = openSection(loaded, ORIENTED);
    const { suppression, iou } = task;
    // Refuse a plan without input size, since angles are measured in pixels of the input.
    if (inputSize === null) refusePlan("no input size", "the width and height of the network's input");
    refuseKernelNms(loaded, "oriented boxes");
    for (const threshold of [...images.map(({ plan }) => file.float(plan, A.P_IOU)), iou])
      if (!(threshold >= 0 && threshold <= 1)) refusePlan(`an IoU threshold of ${threshold}`, "0..1");
    const { f32 } = work.memory;
    const iouAt = images[0].plan / 4 + A.P_IOU;
    return {
      known: { name: "oriented" },
      afterImage: attachOriented(work, {
        ...task,
        about: "oriented boxes",
        range: task.halfTurn ? SIGMOID_RANGE : null,
        suppression: suppression === "none" ? "ultralytics" : suppression,
        nms: suppression === "none" ? "none" : task.perClass ? "class" : "all",
        // The threshold in memory is an f32, but overlaps are doubles, and the f32 of 0.7 is below 0.7. Return the
        // file's double if the f32 comes from it. After `update`, round the f32 to 7 digits.
        iouThreshold: () => (f32[iouAt] === Math.fround(iou) ? iou : Number(f32[iouAt].toPrecision(7))),
        heads: heads.map(({ turns, ...head }) => ({ ...head, rotatesCentre: turns === 1 })),
      }),
    };
  },
};
