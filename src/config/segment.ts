/** Reads the options of instance masks. */
import { COUNT } from "../core/options.ts";
import type { TaskOptions } from "./task-options.ts";
import type { TaskConfig } from "./types.ts";

/** Returns the task's config without the fields that are not stated. */
export function segmentTaskOf(fields: Omit<TaskConfig, "name">): TaskConfig {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { name: "segment", ...Object.fromEntries(said) };
}

export const SEGMENT_OPTIONS: TaskOptions = {
  options: ["maskCoefficients"],
  readOptions: (r) => segmentTaskOf({ maskCoefficients: r.take("maskCoefficients", COUNT) ?? undefined }),
};
