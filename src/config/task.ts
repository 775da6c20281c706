/** Reads the option `task` and the options of each task. */
import { TASKS, type TaskName } from "../core/tasks.ts";
import { TRAITS } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { oneOf } from "../core/options.ts";
import { type FieldReader } from "./fields.ts";
import { ORIENTED_OPTIONS } from "./oriented.ts";
import { PEAK_OPTIONS } from "./peaks.ts";
import { POSE_OPTIONS } from "./pose.ts";
import { SEGMENT_OPTIONS } from "./segment.ts";
import type { TaskOptions } from "./task-options.ts";
import { TEXT_OPTIONS } from "./text.ts";
import type { TaskConfig } from "./types.ts";

const OPTIONS: { readonly [T in Exclude<TaskName, "detect">]: TaskOptions } = {
  pose: POSE_OPTIONS,
  segment: SEGMENT_OPTIONS,
  oriented: ORIENTED_OPTIONS,
  peaks: PEAK_OPTIONS,
  text: TEXT_OPTIONS,
};

/** Returns each option with the task that it belongs to. */
const owners = (): (readonly [option: string, task: TaskName])[] =>
  Object.entries(OPTIONS).flatMap(([task, { options }]) =>
    options.map((option) => [option, task as TaskName] as const),
  );

/** Returns the names of the options that belong to any task. */
export const taskOptionNames = (): string[] => owners().map(([option]) => option);

/** Reads the option `task` and the options of that task. Returns `null` if none of them is stated. */
export function readTask(r: FieldReader): TaskConfig | null {
  const named = r.take("task", oneOf(Object.keys(TASKS) as TaskName[]));
  const options = owners().filter(([option]) => r.has(option));
  const task = named ?? (options.length > 0 ? (familyTask(r) ?? options[0][1]) : null);
  if (task === null) return null;
  for (const [option, owner] of options)
    if (owner !== task)
      r.report(
        option,
        `it with task "${task}"`,
        `task "${owner}" beside it: the option belongs to that task`,
      );
  return task === "detect" ? { name: task } : OPTIONS[task].readOptions(r);
}

/** Returns the task of all networks of the stated family; undefined if they have several, or no family is stated. */
const familyTask = ({ json }: FieldReader): TaskName | undefined =>
  Object.hasOwn(TRAITS, String(json.family)) ? TRAITS[json.family as Family].task : undefined;
