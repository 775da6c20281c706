/** The reader of the task "oriented". `boxwright/oriented` registers it. */
import type { TaskReader } from "../../decode/tasks.ts";
import { attachPlan } from "./attach.ts";
import { OPTIONS, readArchive, readOptions } from "./options.ts";
import { readOriented } from "./read.ts";
import { readOrientedRows } from "./rows.ts";

export const ORIENTED: TaskReader = {
  task: "oriented",
  options: OPTIONS,
  families: {},
  readOptions,
  readArchive,
  read: readOriented,
  // Turn off suppression and clamp of the kernel: both work on upright boxes. attach.ts suppresses oriented ones.
  rules: { nms: "none", clamp: "none" },
  attach: attachPlan,
  readRows: readOrientedRows,
};
