/** Reads the options of keypoints, and the keypoint fields of an NN Archive. */
import { EDGES, MOST_POINTS, type PointShape } from "../core/keypoints.ts";
import { POINT_FACTS, REFINEMENTS } from "../core/pose-families.ts";
import { type Rule, oneOf } from "../core/options.ts";
import { type FieldReader, TEXTS, isWhole } from "./fields.ts";
import type { TaskOptions } from "./task-options.ts";
import type { Config, TaskConfig } from "./types.ts";

const isPair = (x: unknown, passes: (v: unknown) => boolean): boolean =>
  Array.isArray(x) && x.length === 2 && (x as unknown[]).every(passes);

const SHAPE: Rule<PointShape> = [
  "[count, values], with 2 values (x, y) or 3 (x, y, confidence), for instance [17, 3]",
  (x) => isPair(x, isWhole) && inRange((x as number[])[0]) && [2, 3].includes((x as number[])[1]),
];
const inRange = (count: number): boolean => count >= 1 && count <= MOST_POINTS;

const POSITIVE: Rule<number> = ["a positive number", (x) => typeof x === "number" && x > 0 && x < Infinity];

/** Returns the fields without those that are null. */
const withoutNulls = (fields: { readonly [K in keyof TaskConfig]: TaskConfig[K] | null }): TaskConfig =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as unknown as TaskConfig;

/** Reads the options of a pose network. */
function readOptions(r: FieldReader): TaskConfig {
  const task = withoutNulls({
    name: "pose",
    keypoints: r.take("keypoints", SHAPE),
    keypointNames: r.take("keypointNames", TEXTS),
    edges: r.take("edges", EDGES),
    keypointScores: r.take("keypointScores", oneOf(["probabilities", "logits"] as const)),
    keypointCoordinates: r.take("keypointCoordinates", oneOf(["pixels", "normalised", "strides"] as const)),
    keypointRefinement: r.take("keypointRefinement", oneOf(REFINEMENTS)),
    keypointScale: r.take("keypointScale", POSITIVE),
  });
  checkCounts(r, task, { names: "keypointNames", edges: "edges" });
  return task;
}

/** Reports names and edges that do not fit the keypoint count. */
function checkCounts(
  r: FieldReader,
  { keypoints, keypointNames: names, edges }: TaskConfig,
  keys: { readonly names: string; readonly edges: string },
): void {
  const count = keypoints?.[0] ?? names?.length;
  if (count === undefined) return;
  if (names && names.length !== count)
    r.report(keys.names, `${names.length} names`, `${count}, one per keypoint`);
  const wrong = edges?.flat().find((k) => k >= count);
  if (wrong !== undefined)
    r.report(keys.edges, `keypoint ${wrong}`, `one of 0..${count - 1}: edges count from 0`);
}

/** Metadata keys under which archives name the outputs of keypoints. The last two are of older archives. */
const OUTPUT_KEYS = ["keypoints_outputs", "keypoint_outputs", "kpts_outputs"];

/** Metadata keys under which archives name the keypoints. The first one is that of the format. */
const NAME_KEYS = ["keypoint_label_names", "keypoint_names", "keypoint_labels"];

/** Reads the keypoint fields of an archive's head. Returns `null` if the head has no keypoints. */
function readArchive(metadata: FieldReader, config: Config): Partial<Config> | null {
  const nameKey = NAME_KEYS.find((key) => metadata.has(key)) ?? NAME_KEYS[0];
  const names = metadata.texts(nameKey);
  const keypointCount = metadata.take<number>("n_keypoints", [
    `a whole number from 1 to ${MOST_POINTS}`,
    (x) => isWhole(x) && inRange(x),
  ]);
  // Prefer the count of names to n_keypoints, as depthai-core does.
  const count = names?.length ?? keypointCount;
  if (!count) return null;
  const edges = metadata.take("skeleton_edges", EDGES);
  const network = config.family && POINT_FACTS[config.family]?.network;
  const scale = network?.kind === "vector" ? metadata.take("scale_factor", POSITIVE) : null;
  const task: TaskConfig = {
    name: "pose",
    // Three values: the exporter writes x, y and confidence for every keypoint. The archive does not state it.
    keypoints: [count, 3],
    ...(names && { keypointNames: names }),
    ...(edges && { edges }),
    ...(scale && { keypointScale: scale }),
  };
  checkCounts(metadata, task, { names: nameKey, edges: "skeleton_edges" });
  const stated = OUTPUT_KEYS.flatMap((key) => metadata.texts(key) ?? []);
  const outputs = (config.outputs ?? []).map(({ name }) => name);
  // Archives of luxonis/tools state "kpt_output", while the outputs are kpt_output1, kpt_output2 and kpt_output3.
  const usual = outputs.filter((name) => /kpt_output/i.test(name));
  const areOutputs = stated.length > 0 && stated.every((name) => outputs.includes(name));
  const keypoints = areOutputs || usual.length === 0 ? stated : usual;
  if (keypoints.length === 0) return { task };
  return {
    task,
    roles: { ...config.roles, keypoints },
    headOutputs: config.headOutputs && [...new Set([...config.headOutputs, ...keypoints])],
  };
}

export const POSE_OPTIONS: TaskOptions = {
  options: [
    "keypoints",
    "keypointNames",
    "edges",
    "keypointScores",
    "keypointCoordinates",
    "keypointRefinement",
    "keypointScale",
  ],
  readOptions,
  readArchive,
};
