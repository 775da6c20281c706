/** Names of tasks, and the error if the caller did not pass a needed task. `decode/tasks.ts` explains tasks. */
import { refuseConfig } from "./errors.ts";

/** The task for which a network was trained. "detect": only boxes. */
export type TaskName = "detect" | "pose" | "segment" | "oriented" | "peaks" | "text";

/** Name of the exported value that reads the outputs of each task. The task "detect" needs no value. */
export const TASKS: { readonly [T in TaskName]: string } = {
  detect: "",
  pose: "pose",
  segment: "masks",
  oriented: "oriented",
  peaks: "peaks",
  text: "text",
};

/** Tasks that exist only inside boxwright, with the name that users see: "peaks" finds boxes, so it is "detect". */
export const GIVEN_BY: { readonly [T in TaskName]?: TaskName } = { peaks: "detect" };

/** Names of the values that the option `tasks` accepts: readers of outputs, and other abilities of a decoder. */
export type TaskValueName = Exclude<TaskName, "detect"> | "suppression" | "prepare";

const exportOf = (task: TaskValueName): string =>
  task === "suppression" || task === "prepare" ? task : TASKS[task];

/** Returns the task of this name. If `tasks` lacks the task, throws a ConfigError that states the `call` to write. */
export function neededTask<N extends TaskValueName, T extends { readonly task: string }>(
  tasks: readonly T[],
  name: N,
  call: { readonly from: string; readonly name: string } = CORE,
): Extract<T, { readonly task: N }> {
  const task = tasks.find((one) => one.task === name);
  if (task) return task as Extract<T, { readonly task: N }>;
  const value = exportOf(name);
  const line = `import { ${value} } from "${call.from}", and ${call.name}, { tasks: [${value}] })`;
  return refuseConfig("options.tasks", `none for "${name}"`, line);
}

/** The package entry whose functions take tasks as values, and the beginning of the call. */
export const CORE = { from: "boxwright/core", name: "createDecoder(config" } as const;
