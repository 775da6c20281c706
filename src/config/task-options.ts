import type { FieldReader } from "./fields.ts";
import type { TaskConfig, TaskFields } from "./types.ts";

/** How the fields of a task are read. */
export interface TaskOptions {
  /** Names of the options that only this task has. Any of them selects the task if the option `task` is absent. */
  readonly options: readonly (keyof TaskFields)[];
  /** Reads the task's own options. Reports each invalid value to `r`. */
  readOptions(r: FieldReader): TaskConfig;
}
