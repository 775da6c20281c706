/** Reads the option `task`, and hands a task's own options to the import of that task. */
import { TASKS, type TaskName, providedReaders } from "../core/tasks.ts";
import { type Family, type FamilyTraits, TRAITS } from "../core/families.ts";
import { type FieldReader, oneOf } from "./fields.ts";
import type { Config, TaskConfig, TaskFields } from "./types.ts";

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

/** The task of each option, so that an option of a task that is not imported is reported too. */
const OWNERS: { readonly [O in keyof Required<TaskFields>]: TaskName } = {
  keypoints: "pose",
  keypointNames: "pose",
  edges: "pose",
  keypointActivation: "pose",
  keypointCoordinates: "pose",
  keypointRefinement: "pose",
  keypointScale: "pose",
  maskCoefficients: "segment",
  orientedNms: "oriented",
  angleRange: "oriented",
  angleActivation: "oriented",
};

/** Returns the task that each option belongs to, those of imported tasks included. */
function owners(): { readonly [option: string]: TaskName } {
  const imported = taskOptions().flatMap(({ task, options }) => options.map((name) => [name, task] as const));
  return { ...OWNERS, ...Object.fromEntries(imported) };
}

/** Returns the names of the options that belong to any task. */
export const taskOptionNames = (): string[] => Object.keys(owners());

/** Reads the option `task` and the options of that task. Returns `null` if none of them is stated. */
export function readTask(r: FieldReader): TaskConfig | null {
  const stated = r.take("task", oneOf(Object.keys(TASKS) as TaskName[]));
  const options = Object.entries(owners()).filter(([option]) => r.has(option));
  const task = stated ?? (options.length > 0 ? (familyTask(r) ?? options[0][1]) : null);
  if (task === null) return null;
  for (const [option, owner] of options)
    if (owner !== task)
      r.report(
        option,
        `it with task "${task}"`,
        `task "${owner}" beside it: the option belongs to that task`,
      );
  const reader = taskOptions().find((one) => one.task === task);
  if (reader) return reader.readOptions(r);
  if (TASKS[task])
    r.reportValue(stated ? "task" : options[0][0], `import "boxwright/${TASKS[task]}" beside it`);
  return { name: task };
}

/** Returns the task of all networks of the stated family; undefined if they have several, or no family is stated. */
const familyTask = ({ json }: FieldReader): TaskName | undefined =>
  Object.hasOwn(TRAITS, String(json.family)) ? TRAITS[json.family as Family].task : undefined;

/** Returns the config fields of an archive's task. Returns `null` for boxes alone, or if the task is not imported. */
export const archiveTask = (metadata: FieldReader, config: Config): Partial<Config> | null =>
  taskOptions()
    .map((reader) => reader.readArchive(metadata, config))
    .find((task) => task !== null) ?? null;
