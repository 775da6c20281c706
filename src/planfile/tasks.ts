/**
 * The interface of tasks in plan files. `loadPlan` itself reads boxes only. It passes the section of a task (task
 * record and head table, see format.ts) to that task in the option `tasks`. If the task is not there, it refuses the
 * file.
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
  /** Adds a note. */
  readonly note: (text: string) => void;
}

/** A task whose columns are added to the detections. */
export interface AttachedTask {
  /** Task and keypoint edges, for the records of packets, which do not state them. */
  readonly known: KnownTask;
  readonly afterImage: AfterImageOfTask;
}

/** A task for plan files. It contains no reader of configs or shapes, so that pages stay small. */
export interface FileTask<N extends TaskName = TaskName> extends RowReader {
  readonly task: N;
  /** Adds the columns of a section whose counts and addresses are checked. Throws if it contradicts the file. */
  readonly attachFile: (loaded: LoadedFile) => AttachedTask;
}

/** The tasks, in the order of TASK_* in format.ts. */
const NAMES = /* @__PURE__ */ Object.keys(TASKS) as readonly TaskName[];

/**
 * Attaches the task of a plan file. Returns `null` if the file has boxes alone.
 * @throws ConfigError if the task is not among `tasks`, or if its section is forged
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
