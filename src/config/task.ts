/** Reads what a network gives besides boxes. The fields of a task are read by the import of that task. */
import { TASKS, type TaskName, providedReaders } from "../core/tasks.ts";
import type { FamilyTraits } from "../core/families.ts";
import { type FieldReader, oneOf } from "./fields.ts";
import type { Config, TaskConfig } from "./types.ts";

/** The part of a task's reader that reads configs. */
export interface TaskOptions {
  readonly task: TaskName;
  /** Names of the options that belong to the task alone. One of them, without the option `task`, means the task. */
  readonly options: readonly string[];
  /** Rows of families that only this task reads. Core takes them into its table. */
  readonly families: { readonly [family: string]: FamilyTraits };
  /** Reads the task's own options. Reports each value that cannot be. */
  readOptions(r: FieldReader): TaskConfig;
  /**
   * Reads a head's metadata in an NN Archive. Returns `task`, and whatever else of the config it changes: roles, and
   * `headOutputs` with the outputs that the task reads. `null` if the head is of another task.
   */
  readArchive(metadata: FieldReader, config: Config): Partial<Config> | null;
}

/** Returns the readers of the imported tasks. */
export const taskOptions = (): readonly TaskOptions[] => Object.values(providedReaders()) as TaskOptions[];

/** Returns the names of the options that belong to a task. */
export const taskOptionNames = (): string[] => taskOptions().flatMap(({ options }) => options);

/** Reads the option `task` and those that belong to the task; `null` where there are none. */
export function readTask(r: FieldReader): TaskConfig | null {
  const stated = r.take("task", oneOf(Object.keys(TASKS) as TaskName[]));
  const reader = taskOptions().find(({ task, options }) =>
    stated ? task === stated : options.some(r.has, r),
  );
  if (reader) return reader.readOptions(r);
  if (stated && TASKS[stated]) r.reportValue("task", `import "boxwright/${TASKS[stated]}" beside it`);
  return stated && { name: stated };
}

/** Returns what an archive's head says of its task, `null` for boxes alone or if the task is not imported. */
export const archiveTask = (metadata: FieldReader, config: Config): Partial<Config> | null =>
  taskOptions()
    .map((reader) => reader.readArchive(metadata, config))
    .find((task) => task !== null) ?? null;
