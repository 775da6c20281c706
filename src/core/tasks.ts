/**
 * Tasks: what a network gives besides boxes. Everything that only one task needs is an import of its own, which leaves
 * its reader here. `decode/tasks.ts` says what a reader is and when each of its functions is called.
 */

/** What a network was trained for. "detect": boxes alone. */
export type TaskName = "detect" | "pose" | "segment" | "oriented";

/** Every task, and the import that reads it. */
export const TASKS: { readonly [T in TaskName]: string } = {
  detect: "",
  pose: "pose",
  segment: "masks",
  oriented: "oriented",
};

/**
 * Key under which imports leave their readers, by task. Every entry of the package is a bundle of its own, so a
 * variable of this module would not be shared by all of them. The number changes with `TaskReader`.
 */
const KEY = /* @__PURE__ */ Symbol.for("boxwright.tasks.1");
type Readers = { readonly [T in TaskName]?: unknown };
const shared = globalThis as { [KEY]?: Readers };

/** Leaves a reader. Only `provideTask` of decode/tasks.ts calls it, which knows the type. */
export function leaveReader(task: TaskName, reader: unknown): void {
  shared[KEY] = { ...shared[KEY], [task]: reader };
}

/** Returns the readers of the tasks that are imported, by task. Each layer knows the part that it calls. */
export const providedReaders = (): Readers => shared[KEY] ?? {};
