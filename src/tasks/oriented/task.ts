import type { NetworkTask } from "../../decode/tasks.ts";
import { attachPlan } from "./attach.ts";
import { readOriented } from "./read.ts";
import { readOrientedRows } from "./rows.ts";

/**
 * Oriented boxes.
 * @example
 * import { createDecoderSync, oriented } from "boxwright/core";
 *
 * const config = { family: "yolov8", task: "oriented", classes: 15, inputSize: [1024, 1024] };
 * const decoder = createDecoderSync(config, { tasks: [oriented] });
 * console.log(decoder.config.task?.name); // oriented
 */
export const oriented: NetworkTask<"oriented"> = {
  task: "oriented",
  read: readOriented,
  // Turn off suppression and clamping in the kernel, which treat boxes as upright. attach.ts suppresses oriented boxes.
  rules: { suppress: "none", clamp: "none" },
  attach: attachPlan,
  readRows: readOrientedRows,
};
