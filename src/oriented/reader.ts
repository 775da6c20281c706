/** The reader of the task "oriented", which `boxwright/oriented` leaves for decoders. */
import type { TaskReader } from "../decode/tasks.ts";
import { attachOriented } from "./attach.ts";
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
  // Upright boxes are no measure for oriented ones, and what lies outside the picture stays.
  rules: { nms: "none", clamp: "none" },
  attach: attachOriented,
  readRows: readOrientedRows,
};
