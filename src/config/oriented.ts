/** Reads the options of oriented boxes. */
import { type Rule, oneOf } from "../core/options.ts";
import { type FieldReader } from "./fields.ts";
import type { TaskOptions } from "./task-options.ts";
import type { TaskConfig, TaskFields } from "./types.ts";

type OrientedFields = Required<Pick<TaskFields, "orientedSuppression" | "angleRange" | "angleForm">>;

const RULES: { readonly [K in keyof OrientedFields]: Rule<OrientedFields[K]> } = {
  orientedSuppression: oneOf(["ultralytics", "probiou", "opencv"]),
  angleRange: oneOf(["regular", "raw"]),
  angleForm: oneOf(["radians", "logits", "fractions"]),
};

const OPTIONS = /* @__PURE__ */ Object.keys(RULES) as readonly (keyof OrientedFields)[];

/** Reads the options of a network with oriented boxes. */
function readOptions(r: FieldReader): TaskConfig {
  const read = OPTIONS.map((name) => [name, r.take<string>(name, RULES[name])] as const);
  return { name: "oriented", ...Object.fromEntries(read.filter(([, value]) => value !== null)) };
}

export const ORIENTED_OPTIONS: TaskOptions = { options: OPTIONS, readOptions };
