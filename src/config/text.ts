/** Reads the options of text detection. */
import { UNIT, oneOf } from "../core/options.ts";
import { type FieldReader } from "./fields.ts";
import type { TaskOptions } from "./task-options.ts";
import type { TaskConfig } from "./types.ts";

/** Reads the options of a text network. */
function readOptions(r: FieldReader): TaskConfig {
  const read = Object.entries({
    textRule: r.take("textRule", oneOf(["paddleocr", "depthai"] as const)),
    maskThreshold: r.take("maskThreshold", UNIT),
    unclipRatio: r.take<number>("unclipRatio", [
      "a positive number",
      (x) => typeof x === "number" && x > 0 && x < Infinity,
    ]),
  });
  const task: TaskConfig = {
    name: "text",
    ...Object.fromEntries(read.filter(([, value]) => value !== null)),
  };
  if (task.textRule === "depthai" && task.unclipRatio !== undefined)
    r.report(
      "unclipRatio",
      `${task.unclipRatio} with textRule "depthai"`,
      'textRule "paddleocr" beside it: the other rule has none',
    );
  return task;
}

export const TEXT_OPTIONS: TaskOptions = {
  options: ["textRule", "maskThreshold", "unclipRatio"],
  readOptions,
};
