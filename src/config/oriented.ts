/** Reads the options of oriented boxes, and the angle outputs of an NN Archive. */
import { type Rule, oneOf } from "../core/options.ts";
import { type FieldReader } from "./fields.ts";
import type { TaskOptions } from "./task-options.ts";
import type { Config, TaskConfig, TaskFields } from "./types.ts";

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

/**
 * Reads the outputs of angles that an archive's head names. Returns `null` if it names none. The exporter of NN
 * Archives decodes angles, so they are radians.
 */
function readArchive(metadata: FieldReader, config: Config): Partial<Config> | null {
  const angles = metadata.texts("angles_outputs");
  if (!angles?.length) return null;
  return {
    task: { name: "oriented", angleForm: "radians" },
    roles: { ...config.roles, angles },
    headOutputs: config.headOutputs && [...new Set([...config.headOutputs, ...angles])],
  };
}

export const ORIENTED_OPTIONS: TaskOptions = { options: OPTIONS, readOptions, readArchive };
