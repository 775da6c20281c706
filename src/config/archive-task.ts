/** Reads the task of an NN Archive's head from its metadata, which have different fields for each task. */
import { knownOf } from "../core/json.ts";
import { TRAITS } from "../core/families.ts";
import { EDGES, MOST_POINTS, isPointCount } from "../core/keypoints.ts";
import { COUNT, POSITIVE, UNIT } from "../core/options.ts";
import { POINT_FACTS } from "../core/pose-families.ts";
import { type FieldReader, isText } from "./fields.ts";
import { checkCounts } from "./task.ts";
import type { Config, TaskConfig } from "./types.ts";

/** Returns the config fields that the head's task overrides, `null` if the head has boxes alone. */
export const archiveTask = (metadata: FieldReader, config: Config): Partial<Config> | null =>
  [readKeypoints, readMaskFields, readAngles, readText]
    .map((readFields) => readFields(metadata, config))
    .find((fields) => fields !== null) ?? null;

/** Returns the config fields of a task whose outputs have roles. Adds these outputs to the outputs of the head. */
const fieldsOf = (
  config: Config,
  task: TaskConfig,
  roles: Config["roles"],
  outputs: readonly string[],
): Partial<Config> => ({
  task,
  roles: { ...config.roles, ...roles },
  headOutputs: config.headOutputs && [...new Set([...config.headOutputs, ...outputs])],
});

/** Metadata keys under which archives name the outputs of keypoints. Only older archives have the last two. */
const OUTPUT_KEYS = ["keypoints_outputs", "keypoint_outputs", "kpts_outputs"];

/** Metadata keys under which archives list the names of keypoints. The archive format defines only the first one. */
const NAME_KEYS = ["keypoint_label_names", "keypoint_names", "keypoint_labels"];

function readKeypoints(metadata: FieldReader, config: Config): Partial<Config> | null {
  const nameKey = NAME_KEYS.find((key) => metadata.has(key)) ?? NAME_KEYS[0];
  const names = metadata.texts(nameKey);
  const keypointCount = metadata.take<number>("n_keypoints", [
    `a whole number from 1 to ${MOST_POINTS}`,
    isPointCount,
  ]);
  // Use the count of names rather than n_keypoints, as depthai-core does.
  const count = names?.length ?? keypointCount;
  if (!count) return null;
  const edges = metadata.take("skeleton_edges", EDGES);
  const network = config.family && POINT_FACTS[config.family]?.network;
  const scale = network?.kind === "vector" ? metadata.take("scale_factor", POSITIVE) : null;
  const task: TaskConfig = {
    name: "pose",
    // The archive does not state the count of values. Its exporter writes three: x, y and confidence.
    keypoints: [count, 3],
    ...knownOf({ keypointNames: names, edges, keypointScale: scale }),
  };
  checkCounts(metadata, task, { names: nameKey, edges: "skeleton_edges" });
  const stated = OUTPUT_KEYS.flatMap((key) => metadata.texts(key) ?? []);
  const outputs = (config.outputs ?? []).map(({ name }) => name);
  // Archives of luxonis/tools state "kpt_output", but the outputs are kpt_output1, kpt_output2 and kpt_output3.
  const usual = outputs.filter((name) => /kpt_output/i.test(name));
  const areOutputs = stated.length > 0 && stated.every((name) => outputs.includes(name));
  const keypoints = areOutputs || usual.length === 0 ? stated : usual;
  return keypoints.length === 0 ? { task } : fieldsOf(config, task, { keypoints }, keypoints);
}

function readMaskFields(metadata: FieldReader, config: Config): Partial<Config> | null {
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
  const task: TaskConfig = { name: "segment", ...knownOf({ maskCoefficients: count }) };
  const roles = knownOf({ coefficients: coefficients.length > 0 ? coefficients : null, prototypes });
  return fieldsOf(config, task, roles, outputs);
}

/** Returns the config fields of angles, `null` if no output holds angles. NN Archives have angles in radians. */
function readAngles(metadata: FieldReader, config: Config): Partial<Config> | null {
  const angles = metadata.texts("angles_outputs");
  return angles?.length
    ? fieldsOf(config, { name: "oriented", angleForm: "radians" }, { angles }, angles)
    : null;
}

/** Reads the fields for depthai's PPTextDetectionParser. The parser's name has determined the family. */
function readText(metadata: FieldReader, { family }: Config): Partial<Config> | null {
  if (family === null || TRAITS[family].task !== "text") return null;
  const maskThreshold = metadata.take("mask_threshold", UNIT);
  return { task: { name: "text", textRule: "depthai", ...knownOf({ maskThreshold }) } };
}
