/**
 * The interface of tasks in plan files. `loadPlan` itself reads only boxes. It passes the section of a task (task
 * record and head table, see format.ts) to the task of this name in the option `tasks`. If `tasks` lacks the task,
 * `loadPlan` refuses the file.
 */
import { TASKS, type TaskName, type TaskValueName, neededTask } from "../core/tasks.ts";
import type { Detections } from "../decode/detections.ts";
import type { KnownTask, RowReader } from "../decode/records.ts";
import type { AfterImageOfTask } from "../decode/tasks.ts";
import type { Engine } from "../engine/engine.ts";
import * as F from "./format.ts";
import type { PlanFile } from "./read.ts";

/** A plan file in memory. */
export interface LoadedFile {
  readonly plan: PlanFile;
  readonly engine: Engine;
  /** One entry for each image of the batch. */
  readonly detections: readonly Detections[];
  /** Adds a note for `onNote`. */
  readonly note: (text: string) => void;
}

/** A task whose columns are added to the detections. */
export interface AttachedTask {
  /** Name of the task and edges of the skeleton. The records of packets do not state them. */
  readonly known: KnownTask;
  readonly afterImage: AfterImageOfTask;
}

/** A task for plan files. It contains no reader of configs or shapes, so that pages stay small. */
export interface FileTask<N extends TaskName = TaskName> extends RowReader {
  readonly task: N;
  /**
   * Checks the counts and addresses of the task section, and adds the task's columns to the detections. Throws if the
   * section contradicts the file.
   */
  readonly attachFile: (loaded: LoadedFile) => AttachedTask;
}

/** The tasks, in the order of TASK_* in format.ts. */
const NAMES = /* @__PURE__ */ Object.keys(TASKS) as readonly TaskName[];

/**
 * Attaches the task of a plan file. Returns `null` if the file has boxes alone.
 * @throws ConfigError if the task is not among `tasks`, or if its section contradicts the file
 */
export function attachTaskOf(loaded: LoadedFile, tasks: readonly FileTask[]): AttachedTask | null {
  const { task } = loaded.plan;
  if (task === F.TASK_BOXES) return null;
  const reader = neededTask(tasks, NAMES[task] as TaskValueName, {
    from: "boxwright/plan",
    name: "loadPlan(bytes",
  });
  return (reader as FileTask).attachFile(loaded);
}
