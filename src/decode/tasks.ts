/**
 * A task reads what a network outputs besides boxes: keypoints, masks or angles. Each task is an import of its own
 * (`boxwright/pose`, `boxwright/masks`, `boxwright/oriented`), which registers a `TaskReader` with `provideTask`. The
 * decoder calls the members of the reader in this order:
 *
 * 1. `readOptions` or `readArchive` (config/task.ts) reads the config. Both return plain data, kept in `Config.task`.
 *    Declare the options of a task in `TaskFields` (config/types.ts). Only the task reads them.
 * 2. `read` (plan/task.ts) returns the interpretations.
 *    - If E extra channels follow those of the boxes in one tensor: set `extra: E` in the spec of that tensor and
 *      call `tools.interpret`. The boxes are then read as without a task. `withExtra` (heads/extra.ts) gives each head
 *      the column of its extra channels.
 *    - If the extra channels have tensors of their own: leave the specs as they are and call `joinExtra` (same file).
 *    - Put what a frame needs into `interpretation.task`, as plain data. Its `tensors` lists the tensors that no head
 *      reads, such as prototypes; add them to `uses` too. `plan.task.tensors` then has their indices among
 *      `plan.tensors`, and the layout gives them slots.
 * 3. `rules` replaces rules of the kernel. With `{nms: "none"}` the task suppresses by itself: the columns of the plan
 *    block hold all candidates, unsorted (P_CANDIDATES rows of P_SCORES, P_CLASS_IDS, P_SOURCES and P_BOXES).
 *    `plan.task.rules` keeps the rules that the config states.
 * 4. `attach` adds the task's columns to the detections of a plan, with `extend` (detections.ts). The function that
 *    `attach` returns runs after each image, when the kernel has suppressed. At that time the detections hold the kept
 *    rows, in the coordinates of the frame (P_SCALE_X to P_SHIFT_Y of the plan block). The slots still hold the whole
 *    tensors, since a plan with a task gathers no rows. The function may change the detections and their count
 *    (`setLength`). `headIndexOf`, `firstSource` and `readChannels` (memory/extra.ts) read the extra channels of a row.
 *
 * 5. `readRows`, if the results have columns: the records of a packet. It gives the detections that were made of them
 *    the task's columns.
 *
 * 6. `attachFile` (planfile/tasks.ts): does as `attach`, for a plan file. The entry of the task adds it to the reader.
 *
 * A task that is not imported adds no code. An imported task adds no work to frames of other networks.
 */
import type { refuseFor } from "../core/errors.ts";
import type { Memory } from "../core/memory.ts";
import { leaveReader, leaveSuppressor, providedReaders, providedSuppressor } from "../core/tasks.ts";
import type { Config } from "../config/types.ts";
import type { TaskOptions } from "../config/task.ts";
import type { SuppressionCheck } from "../config/suppression.ts";
import type { Layout } from "../memory/layout.ts";
import type { Thresholds } from "../memory/write.ts";
import type { Plan } from "../plan/plan.ts";
import type { TaskPlanner } from "../plan/task.ts";
import type { Engine } from "../engine/engine.ts";
import type { Detections, RowReader } from "./detections.ts";
import type { Frame } from "./frame.ts";

/**
 * The memory of a plan, and the detections that lie in it: the part of `TaskWork` that a plan file has too. Tasks that
 * plan files hold need no more.
 */
export interface TaskMemory {
  readonly engine: Engine;
  readonly memory: Memory;
  readonly plan: Pick<Plan, "tensors" | "batch" | "inputSize">;
  readonly layout: Pick<Layout, "slots" | "order" | "workEnd">;
  /** One entry for each image of the batch. */
  readonly detections: readonly Detections[];
  /** Throws a TensorError of the decoder's bundle. The task's bundle has a copy, whose errors fail `instanceof`. */
  readonly refuseFor: typeof refuseFor;
  /** Adds a sentence to the notes, unless the notes of this plan have that sentence already. */
  readonly note: (text: string) => void;
}

/** What the decoder of a config gives a task. */
export interface TaskWork extends TaskMemory {
  readonly plan: Plan;
  readonly layout: Layout;
  readonly config: Config;
  /** Returns the thresholds that the config or `update` gave, in doubles. The kernel has them in f32. */
  readonly thresholds: () => Thresholds;
}

/**
 * Completes the detections of one image after the kernel.
 * @param image index of the image in the batch
 * @param block byte address of its plan block
 * @param frame the frame that `decode` was given for the image, if any
 */
export type AfterImageOfTask = (image: number, block: number, frame?: Frame) => void;

/** All functions of a task, as its import registers them. */
export interface TaskReader extends TaskOptions, TaskPlanner, RowReader {
  /** Adds the task's columns to the detections of a plan. Returns what runs after each image. */
  attach(work: TaskWork): AfterImageOfTask;
}

/** The functions of `boxwright/suppress` that a decoder calls. */
export interface Suppressor extends SuppressionCheck {
  /** Returns what runs after each image, before the task: it suppresses the candidates by the plan's method. */
  attach(work: TaskWork): AfterImageOfTask;
}

/** Registers the suppressor for every decoder that is created later. */
export function provideSuppressor(suppressor: Suppressor): void {
  leaveSuppressor(suppressor);
}

/** Registers a task for every decoder that is created later. */
export function provideTask(reader: TaskReader): void {
  leaveReader(reader.task, reader);
}

/** Attaches the plan's suppression and its task to the memory. Returns what runs after each image, in this order. */
export function attachTask(work: TaskWork): readonly AfterImageOfTask[] {
  const { suppression, task } = work.plan;
  const suppressor = suppression && (providedSuppressor() as Suppressor | undefined);
  const reader = task && (providedReaders()[task.name] as TaskReader | undefined);
  return [suppressor, reader].flatMap((one) => one?.attach(work) ?? []);
}
