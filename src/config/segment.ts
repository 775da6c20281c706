/** Reads the options of instance masks, and the mask fields of an NN Archive. */
import { COUNT } from "../core/options.ts";
import { type FieldReader, isText } from "./fields.ts";
import type { TaskOptions } from "./task-options.ts";
import type { Config, TaskConfig } from "./types.ts";

/** Returns the task's config without the fields that are not stated. */
function taskOf(fields: Omit<TaskConfig, "name">): TaskConfig {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { name: "segment", ...Object.fromEntries(said) };
}

/** Reads the mask fields of an archive's head. Returns `null` if the head has no masks. */
function readArchive(metadata: FieldReader, config: Config): Partial<Config> | null {
  const names = (config.outputs ?? []).map(({ name }) => name);
  const prototypes =
    metadata.take<string>("protos_outputs", ["the name of an output", isText]) ??
    names.find((name) => /protos_output/i.test(name));
  const maskOutputs = metadata.texts("mask_outputs");
  const coefficients =
    maskOutputs ?? names.filter((name) => /(^|_)masks?(_|$)/i.test(name) && name !== prototypes);
  const count = metadata.take("n_prototypes", COUNT);
  if (count === null && maskOutputs === null && prototypes === undefined) return null;
  const outputs = [...coefficients, ...(prototypes === undefined ? [] : [prototypes])];
  return {
    task: taskOf({ maskCoefficients: count ?? undefined }),
    roles: {
      ...config.roles,
      ...(coefficients.length > 0 && { coefficients }),
      ...(prototypes !== undefined && { prototypes }),
    },
    headOutputs: config.headOutputs && [...new Set([...config.headOutputs, ...outputs])],
  };
}

export const SEGMENT_OPTIONS: TaskOptions = {
  options: ["maskCoefficients"],
  readOptions: (r) => taskOf({ maskCoefficients: r.take("maskCoefficients", COUNT) ?? undefined }),
  readArchive,
};
