/** The reader of the task "pose". `boxwright/pose` registers it. */
import { POSE_FAMILIES } from "../../core/pose-families.ts";
import type { TaskReader } from "../../decode/tasks.ts";
import { OPTIONS, readArchive, readOptions } from "./options.ts";
import { attachPose } from "./points.ts";
import { readPose } from "./read.ts";
import { readPoseRows } from "./rows.ts";

export const poseReader: TaskReader = {
  task: "pose",
  options: OPTIONS,
  families: POSE_FAMILIES,
  readOptions,
  readArchive,
  read: readPose,
  attach: attachPose,
  readRows: readPoseRows,
};
