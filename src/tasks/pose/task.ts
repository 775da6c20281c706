import type { NetworkTask } from "../../decode/tasks.ts";
import { attachPose } from "./points.ts";
import { readPose } from "./read.ts";
import { readPoseRows } from "./rows.ts";

/**
 * Keypoints of pose, face and hand networks.
 * @example
 * import { createDecoderSync, pose } from "boxwright/core";
 *
 * const config = { family: "yolov8", task: "pose", classes: 1, inputSize: [64, 64], keypoints: [17, 3] };
 * const decoder = createDecoderSync(config, { tasks: [pose] });
 * console.log(decoder.config.task?.name); // pose
 */
export const pose: NetworkTask<"pose"> = {
  task: "pose",
  read: readPose,
  attach: attachPose,
  readRows: readPoseRows,
};
