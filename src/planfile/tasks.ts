/**
 * How a task joins in when a plan file is loaded. `loadPlan` reads boxes alone. It hands the section of another task
 * (task record and head table, see format.ts) to that of its option `tasks`. Without it `loadPlan` refuses the file.
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
  /** Adds a sentence to the notes. */
  readonly note: (text: string) => void;
}

/** A task whose columns are added to the detections. */
export interface AttachedTask {
  /** Name of the task and edges of the keypoints, which the records of a packet do not state. */
  readonly known: KnownTask;
  readonly afterImage: AfterImageOfTask;
}

/** A task of plan files. It has none of what reads configs and shapes, so that a page stays small. */
export interface FileTask<N extends TaskName = TaskName> extends RowReader {
  readonly task: N;
  /**
   * Reads the section of a file whose counts and addresses `checkTask` has checked, and adds the task's columns to the
   * detections.
   * @throws ConfigError if the section contradicts the rest of the file
   */
  readonly attachFile: (loaded: LoadedFile) => AttachedTask;
}

/** The tasks, in the order of TASK_* in format.ts. */
const NAMES = /* @__PURE__ */ Object.keys(TASKS) as readonly TaskName[];

/**
 * Attaches the task of a plan file. Returns `null` if the file has boxes alone.
 * @throws ConfigError if the task is none of `tasks`, or if its section is forged
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
