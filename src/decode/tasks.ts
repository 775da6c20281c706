/**
 * What a network gives besides boxes: keypoints, masks, angles. A task is an import (`boxwright/pose`,
 * `boxwright/masks`, `boxwright/oriented`), which leaves a `TaskReader` by `provideTask`. Core calls it in this order:
 *
 * 1. `readOptions`, `readArchive` (config/task.ts): the config. `Config.task` holds what they return, plain data.
 *    Options of a task are declared in `TaskFields` (config/types.ts), and only the task reads them.
 * 2. `read` (plan/task.ts): the interpretations. The usual way: give `extra: E` to the spec whose tensor has E channels
 *    behind those of the boxes, and call `tools.interpret`, so that the boxes are read as without a task, whatever form
 *    they have. `withExtra` (heads/extra.ts) then gives each head the column of its extra channels. If a tensor of its
 *    own holds them, leave the specs as they are, and `joinExtra` (there too) finds it for each head. Put what a frame
 *    needs into `interpretation.task`, plain data: `tensors` lists the tensors that no head reads, such as prototypes
 *    (add them to `uses` too). They get slots, and `plan.task.tensors` has their indices among `plan.tensors`.
 * 3. `rules`: other rules for the kernel. `{nms: "none"}` lets the task suppress by itself: all candidates, unsorted,
 *    stand in the columns of the plan block (P_CANDIDATES rows of P_SCORES, P_CLASS_IDS, P_SOURCES, P_BOXES), and
 *    `plan.task.rules` says what the config wanted.
 * 4. `attach`: the memory of a plan. It gives the detections their columns by `extend` (detections.ts). The function
 *    that it returns runs after each image, once the kernel has suppressed: the rows that are left stand in the
 *    detections, in the coordinates of the frame (P_SCALE_X and its like in the plan block), and the tensors still
 *    stand in their slots, each whole (a plan with a task gathers no rows). It may change the detections and their
 *    number (`setLength`). `headOf`, `firstSource` and `numbersAt` (memory/extra.ts) read the extra channels of a row.
 *
 * 5. `readRows`, if the results have columns: the records of a packet. It gives the detections that were made of them
 *    the task's columns.
 *
 * A task that is not imported costs nothing, and one that is costs nothing in frames of other networks.
 */
import type { refuseFor } from "../core/errors.ts";
import { leaveReader, providedReaders } from "../core/tasks.ts";
import type { Config } from "../config/types.ts";
import type { TaskOptions } from "../config/task.ts";
import type { MemoryImage } from "../memory/write.ts";
import type { TaskPlanner } from "../plan/task.ts";
import type { Engine } from "../engine/engine.ts";
import type { Detections, RowReader } from "./detections.ts";
import type { Frame } from "./frame.ts";

/** The memory of a plan, and the detections that lie in it. */
export interface TaskWork extends MemoryImage {
  readonly engine: Engine;
  readonly config: Config;
  /** One for each image of the batch. */
  readonly detections: readonly Detections[];
  /** Throws a TensorError. A task's own copy would throw one of another class. */
  readonly refuseFor: typeof refuseFor;
  /** Adds a sentence to the notes, once. */
  readonly note: (text: string) => void;
}

/** Called after each image of a frame with its index, the address of its plan block and its frame, if it has one. */
export type AfterImageOfTask = (image: number, block: number, frame?: Frame) => void;

/** Everything that an import of a task gives. */
export interface TaskReader extends TaskOptions, TaskPlanner, RowReader {
  /** Adds the task's columns to the detections of a plan. Returns what runs after each image. */
  attach(work: TaskWork): AfterImageOfTask;
}

/** Makes a task known to every decoder that is made from now on. */
export function provideTask(reader: TaskReader): void {
  leaveReader(reader.task, reader);
}

/** Attaches the plan's task. `null`: the plan has boxes alone. */
export function attachTask(work: TaskWork): AfterImageOfTask | null {
  const { task } = work.plan;
  const reader = task && (providedReaders()[task.name] as TaskReader);
  return reader ? reader.attach(work) : null;
}
