/** Functions and tasks whose code Node loads at their first use. */
import type { Fetched } from "../decode/fetched.ts";
import type { DecoderTask } from "../decode/tasks.ts";
import { readLater } from "./read-later.ts";

type AnyFunction = (...given: unknown[]) => unknown;

/** Returns a function of `boxwright` that loads its own code at the first call. */
export const later = (name: string): AnyFunction =>
  ({ [name]: (...given: unknown[]) => (readLater("index")[name] as AnyFunction)(...given) })[name];

/** Returns the parts that `createDecoderSync` needs for some configs and engines. */
export const laterFetched = (): Fetched => readLater("fetched").fetched as Fetched;

/** Fields that a task may have besides its name. */
const MEMBERS = ["read", "rules", "attach", "readRows", "prepareImage", "ruleOf", "ruleText"] as const;

/** Returns a task that loads its code when a decoder first uses it. */
function laterTask(task: DecoderTask["task"], file: string = task): DecoderTask {
  const value = { task };
  for (const member of MEMBERS)
    Object.defineProperty(value, member, {
      enumerable: true,
      get: () => (readLater(file)[file] as DecoderTask)[member as keyof DecoderTask],
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
