/**
 * The registry of tasks. A task reads what a network outputs besides boxes. Its code is an import of its own, which
 * registers a reader here. `decode/tasks.ts` defines a reader and says when each of its functions is called.
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
 * Global key of the registered readers. A module variable does not suffice: each entry of the package is a bundle of
 * its own and has its own copy of this module. The number in the key goes up when `TaskReader` changes, so that two
 * versions of the package do not call each other's readers.
 */
const KEY = /* @__PURE__ */ Symbol.for("boxwright.tasks.1");
type Readers = { readonly [T in TaskName]?: unknown };
const shared = globalThis as { [KEY]?: Readers };

/** Registers a reader. Call `provideTask` of decode/tasks.ts instead: that function knows the type of a reader. */
export function leaveReader(task: TaskName, reader: unknown): void {
  shared[KEY] = { ...shared[KEY], [task]: reader };
}

/** Returns the readers of the imported tasks. Untyped here: config, plan and decode each know the part they call. */
export const providedReaders = (): Readers => shared[KEY] ?? {};

/** Global key of the suppressor that `boxwright/suppress` registers. */
const SUPPRESSOR = /* @__PURE__ */ Symbol.for("boxwright.suppressor.1");
const place = globalThis as { [SUPPRESSOR]?: unknown };

/** Registers the suppressor. Call `provideSuppressor` of decode/tasks.ts instead: that function knows its type. */
export function leaveSuppressor(suppressor: unknown): void {
  place[SUPPRESSOR] = suppressor;
}

/** Returns the suppressor; undefined if `boxwright/suppress` is not imported. */
export const providedSuppressor = (): unknown => place[SUPPRESSOR];
