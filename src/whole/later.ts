/** Functions and tasks whose code Node loads at their first use. */
import type { Fetched } from "../decode/fetched.ts";
import type { DecoderTask } from "../decode/tasks.ts";
import { readLater } from "./read-later.ts";

type AnyFunction = (...given: unknown[]) => unknown;

/** Returns a function that reads an export of a file once. A second search for the file would take 3 to 13 µs. */
function readOnce<T>(file: string, name: string): () => T {
  let found: T | undefined;
  return () => (found ??= readLater(file)[name] as T);
}

/** Returns a function of `boxwright` that loads its own code at the first call. */
export function later(name: string): AnyFunction {
  const read = readOnce<AnyFunction>("index", name);
  return { [name]: (...given: unknown[]) => read()(...given) }[name];
}

/** Returns the parts that `createDecoderSync` needs for some configs and engines. */
export const laterFetched = /* @__PURE__ */ readOnce<Fetched>("fetched", "fetched");

/** Fields that a task may have besides its name. */
const MEMBERS = ["read", "rules", "attach", "readRows", "prepareImage", "ruleOf", "ruleText"] as const;

/** Returns a task that loads its code when a decoder first uses it. */
function laterTask(task: DecoderTask["task"], file: string = task): DecoderTask {
  const value = { task };
  const read = readOnce<DecoderTask>(file, file);
  for (const member of MEMBERS)
    Object.defineProperty(value, member, {
      enumerable: true,
      get: () => read()[member as keyof DecoderTask],
    });
  return value as DecoderTask;
}

export const masks = /* @__PURE__ */ laterTask("segment", "masks");
export const oriented = /* @__PURE__ */ laterTask("oriented");
export const peaks = /* @__PURE__ */ laterTask("peaks");
export const pose = /* @__PURE__ */ laterTask("pose");
export const prepare = /* @__PURE__ */ laterTask("prepare");
export const suppression = /* @__PURE__ */ laterTask("suppression");
export const text = /* @__PURE__ */ laterTask("text");
