/**
 * A task is a value passed to `createDecoder`. Five tasks read outputs besides boxes, or in place of boxes: `pose`,
 * `masks`, `oriented`, `peaks` and `text`, each the export of its folder in `tasks/`. `suppression` suppresses by a
 * named method, `prepare` makes input tensors. `createDecoder` of `boxwright` has all tasks, `createDecoder` of
 * `boxwright/core` those in its option `tasks`.
 *
 * The passed tasks do not change how a config is read (config/task.ts), so that a config has one hash. `Config.task`
 * holds the fields of a task as plain data. Declare new fields in `TaskFields` (config/types.ts). A decoder calls the
 * members of a task in this order:
 *
 * 1. `read` (plan/task.ts) returns the interpretations.
 *    - If the task reads extra channels, call `readAdded` (heads/extra.ts). The extra channels may follow the channels
 *      of the boxes in one tensor, or have tensors of their own. The boxes are then read as without a task, and `extra`
 *      of each head is the column of its extra channels.
 *    - Put what a frame needs into `interpretation.task`, as plain data. Its `tensors` lists the tensors that no head
 *      reads, such as prototypes; add them to `uses` too. `plan.task.tensors` then has their indices among
 *      `plan.tensors`, and the layout gives them slots.
 * 2. `rules` replaces rules of the kernel. With `{suppress: "none"}` the task suppresses by itself: the columns of the
 *    plan block hold all candidates, unsorted (P_CANDIDATES rows of P_SCORES, P_CLASS_IDS, P_SOURCES and P_BOXES).
 *    `plan.task.rules` keeps the rules that the config states.
 * 3. `attach` adds the task's columns to the detections of a plan, with `extend` (detections.ts). The function that
 *    `attach` returns runs after each image, when the kernel has suppressed. At that time the detections hold the kept
 *    rows, in the coordinates of the frame (P_SCALE_X to P_SHIFT_Y of the plan block). The slots still hold the whole
 *    tensors, since a plan with a task gathers no rows. The function may change the detections and their count
 *    (`setLength`). `headIndexOf`, `firstSource` and `readChannels` (memory/extra.ts) read the extra channels of a row.
 * 4. `readRows`, if the task has columns, adds them to detections that were made from the records of a packet.
 *
 * Plan files have separate task values (planfile/tasks.ts), without the code that reads configs and shapes. A task that
 * is not passed adds no code to a bundle. A task adds no work to frames of other networks.
 */
import { refuseConfig } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import type { Memory } from "../core/memory.ts";
import { type TaskName, TASKS, type TaskValueName, neededTask } from "../core/tasks.ts";
import { show } from "../core/tensor.ts";
import type { Config } from "../config/types.ts";
import type { MemoryLayout } from "../memory/layout.ts";
import type { Thresholds } from "../memory/write.ts";
import type { Plan } from "../plan/plan.ts";
import type { TaskPlanner } from "../plan/task.ts";
import type { Engine } from "../engine/engine.ts";
import type { Detections } from "./detections.ts";
import type { RowReader } from "./records.ts";
import type { Frame } from "./frame.ts";
import type { PrepareTask } from "./prepare.ts";

/** The memory of a plan and its detections: everything that a decoder of a plan file can pass to a task. */
export interface TaskMemory {
  readonly engine: Engine;
  readonly memory: Memory;
  readonly plan: Pick<Plan, "tensors" | "batch" | "inputSize">;
  readonly layout: Pick<MemoryLayout, "slots" | "order" | "workEnd">;
  /** One entry for each image of the batch. */
  readonly detections: readonly Detections[];
  /** Adds a note, unless this plan already has the same note. */
  readonly note: (text: string) => void;
}

/** Values that the decoder of a config passes to a task. */
export interface TaskWork extends TaskMemory {
  readonly plan: Plan;
  readonly layout: MemoryLayout;
  readonly config: Config;
  /** Returns the thresholds from the config or from `update`, in doubles. The kernel has them in f32. */
  readonly thresholds: () => Thresholds;
}

/**
 * Completes the detections of one image after the kernel.
 * @param image index of the image in the batch
 * @param block byte address of the image's plan block
 * @param frame the frame that `decode` was given for the image, if any
 */
export type AfterImageOfTask = (image: number, block: number, frame?: Frame) => void;

/** A task that reads what a network outputs besides boxes. */
export interface NetworkTask<N extends TaskName = TaskName> extends TaskPlanner, RowReader {
  readonly task: N;
  /** Adds the task's columns to the detections of a plan. Returns the function that runs after each image. */
  attach(work: TaskWork): AfterImageOfTask;
}

/** The task that suppresses by a named method: the option `suppression`. */
export interface SuppressionTask {
  readonly task: "suppression";
  /** Returns the function that runs after each image, before the network's task. It suppresses by the plan's method. */
  attach(work: TaskWork): AfterImageOfTask;
}

/** A value that the option `tasks` accepts. */
export type DecoderTask =
  | { [N in Exclude<TaskName, "detect">]: NetworkTask<N> }[Exclude<TaskName, "detect">]
  | SuppressionTask
  | PrepareTask;

/** Returns the tasks that can read columns from records. */
export const rowReaders = (tasks: readonly DecoderTask[]): readonly RowReader[] =>
  tasks.filter((one) => one.task !== "suppression" && one.task !== "prepare");

/**
 * Throws a ConfigError unless `tasks` is a list of tasks. Plain JavaScript may pass anything, such as tasks of plan
 * files to a decoder of configs.
 * @param methods names of methods: each task must have at least one of them
 */
export function checkTaskList(
  tasks: unknown,
  known: readonly string[] = VALUE_NAMES,
  methods: readonly string[] = ["attach", "prepareImage"],
): void {
  const isTask = (x: unknown): boolean => {
    const value = (x ?? {}) as Readonly<Record<string, unknown>>;
    return (
      known.includes(value.task as string) && methods.some((method) => typeof value[method] === "function")
    );
  };
  if (Array.isArray(tasks) && Array.from(tasks as unknown[]).every(isTask)) return;
  const expected = "a list of tasks such as [pose, masks], which the same import exports";
  refuseConfig("options.tasks", show(tasks), expected);
}

const VALUE_NAMES: readonly string[] = [
  ...Object.keys(TASKS).filter((name) => name !== "detect"),
  "suppression",
  "prepare",
];

/** Returns the names of the tasks that a config needs, except "prepare". */
export function namesOfTasks({
  task,
  family,
  suppression,
}: Config): Exclude<DecoderTask["task"], "prepare">[] {
  const name = task?.name ?? (family && TRAITS[family].task) ?? "detect";
  return [...(name === "detect" ? [] : [name]), ...(suppression ? (["suppression"] as const) : [])];
}

/** Throws a ConfigError, with the line of source code to write, if the config needs a task that `tasks` lacks. */
export function checkTasks(config: Config, tasks: readonly DecoderTask[]): void {
  for (const name of namesOfTasks(config)) neededTask(tasks, name);
}

/** Attaches the plan's suppression and task. Returns the functions that run after each image, in order. */
export function attachTasks(tasks: readonly DecoderTask[], work: TaskWork): readonly AfterImageOfTask[] {
  const { suppression, task } = work.plan;
  return [
    ...(suppression ? [neededTask(tasks, "suppression").attach(work)] : []),
    ...(task ? [(neededTask(tasks, task.name as TaskValueName) as NetworkTask).attach(work)] : []),
  ];
}
