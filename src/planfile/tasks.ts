/**
 * How the import of a task joins in when a plan file is loaded. `loadPlan` reads boxes alone. It hands the section of
 * another task (task record and head table, see format.ts) to the reader that `boxwright/pose`, `boxwright/masks` or
 * `boxwright/oriented` registered. Without that import `loadPlan` refuses the file.
 */
import type { refuseFor } from "../core/errors.ts";
import { TASKS, type TaskName, providedReaders } from "../core/tasks.ts";
import type { Detections, KnownTask } from "../decode/detections.ts";
import type { AfterImageOfTask } from "../decode/tasks.ts";
import type { Engine } from "../engine/engine.ts";
import { refusePlan, type within } from "./bytes.ts";
import * as F from "./format.ts";
import type { PlanFile } from "./read.ts";

/** A plan file in memory, and the functions of the decoder's bundle that its task needs. */
export interface LoadedFile {
  readonly plan: PlanFile;
  readonly engine: Engine;
  /** One entry for each image of the batch. */
  readonly detections: readonly Detections[];
  /** Adds a sentence to the notes. */
  readonly note: (text: string) => void;
  /** These three throw errors of the decoder's bundle. The task's bundle has copies, whose errors fail `instanceof`. */
  readonly refuseFor: typeof refuseFor;
  readonly refuse: typeof refusePlan;
  readonly within: typeof within;
}

/** A task whose columns are added to the detections. */
export interface AttachedTask {
  /** Name of the task and edges of the keypoints, which the records of a packet do not state. */
  readonly known: KnownTask;
  readonly afterImage: AfterImageOfTask;
}

/** The part of a task's reader that reads plan files. A task without this part cannot be loaded from a plan file. */
export interface FileReader {
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
 * @throws ConfigError if the task is not imported, or if its section is forged
 */
export function attachTaskOf(loaded: LoadedFile): AttachedTask | null {
  const { task } = loaded.plan;
  if (task === F.TASK_BOXES) return null;
  const name = NAMES[task];
  const reader = providedReaders()[name] as Partial<FileReader> | undefined;
  return reader?.attachFile
    ? reader.attachFile(loaded)
    : refusePlan(
        `task "${name}" and no reader of it`,
        `import "boxwright/${TASKS[name]}" once, beside loadPlan`,
      );
}
