/** Reads the option `task`, and hands a task's own options to the import of that task. */
import { TASKS, type TaskName, providedReaders } from "../core/tasks.ts";
import type { FamilyTraits } from "../core/families.ts";
import { type FieldReader, oneOf } from "./fields.ts";
import type { Config, TaskConfig } from "./types.ts";

/** The functions of a task's reader that read configs. */
export interface TaskOptions {
  readonly task: TaskName;
  /** Names of the options that only this task has. Any of them selects the task if the option `task` is absent. */
  readonly options: readonly string[];
  /** Families that only this task can read. Reading a config adds them to the table of core/families.ts. */
  readonly families: { readonly [family: string]: FamilyTraits };
  /** Reads the task's own options. Reports each invalid value to `r`. */
  readOptions(r: FieldReader): TaskConfig;
  /**
   * Reads a head's metadata in an NN Archive. Returns the fields of the config to replace: `task`, `roles`, and
   * `headOutputs` extended by the outputs that the task reads. Returns `null` if the head is of another task.
   */
  readArchive(metadata: FieldReader, config: Config): Partial<Config> | null;
}

/** Returns the readers of the imported tasks. */
export const taskOptions = (): readonly TaskOptions[] => Object.values(providedReaders()) as TaskOptions[];

/** Returns the names of the options that belong to any imported task. */
export const taskOptionNames = (): string[] => taskOptions().flatMap(({ options }) => options);

/** Reads the option `task` and the options of that task. Returns `null` if none of them is stated. */
export function readTask(r: FieldReader): TaskConfig | null {
  const stated = r.take("task", oneOf(Object.keys(TASKS) as TaskName[]));
  const reader = taskOptions().find(({ task, options }) =>
    stated ? task === stated : options.some(r.has, r),
  );
  if (reader) return reader.readOptions(r);
  if (stated && TASKS[stated]) r.reportValue("task", `import "boxwright/${TASKS[stated]}" beside it`);
  return stated && { name: stated };
}

/** Returns the config fields of an archive's task. Returns `null` for boxes alone, or if the task is not imported. */
export const archiveTask = (metadata: FieldReader, config: Config): Partial<Config> | null =>
  taskOptions()
    .map((reader) => reader.readArchive(metadata, config))
    .find((task) => task !== null) ?? null;
