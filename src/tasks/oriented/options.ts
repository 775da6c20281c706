/** Reads the options of oriented boxes, and the angle outputs of an NN Archive. */
import { type FieldReader, oneOf } from "../../config/fields.ts";
import type { Config, TaskConfig, TaskFields } from "../../config/types.ts";
import { ANGLE_ACTIVATIONS, ORIENTED_NMS, type OrientedNms } from "./plan.ts";

/** Names of the options. */
export const OPTIONS = [
  "orientedNms",
  "angleRange",
  "angleActivation",
] as const satisfies readonly (keyof TaskFields)[];

const RULES = {
  orientedNms: oneOf(Object.keys(ORIENTED_NMS) as OrientedNms[]),
  angleRange: oneOf(["regular", "raw"]),
  angleActivation: oneOf(ANGLE_ACTIVATIONS),
} as const;

/** Reads the options of a network with oriented boxes. */
export function readOptions(r: FieldReader): TaskConfig {
  const read = OPTIONS.map((name) => [name, r.take<string>(name, RULES[name])] as const);
  return { name: "oriented", ...Object.fromEntries(read.filter(([, value]) => value !== null)) };
}

/**
 * Reads the outputs of angles that an archive's head names. Returns `null` if it names none. The exporter of NN
 * Archives decodes angles, so they are radians.
 */
export function readArchive(metadata: FieldReader, config: Config): Partial<Config> | null {
  const angles = metadata.texts("angles_outputs");
  if (!angles?.length) return null;
  return {
    task: { name: "oriented", angleActivation: "radians" },
    roles: { ...config.roles, angles },
    headOutputs: config.headOutputs && [...new Set([...config.headOutputs, ...angles])],
  };
}
