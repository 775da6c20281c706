/** Reads the options of keypoints. */
import { EDGES, MOST_POINTS, type PointShape } from "../core/keypoints.ts";
import { REFINEMENTS } from "../core/pose-families.ts";
import { type Rule, oneOf } from "../core/options.ts";
import { type FieldReader, TEXTS, isWhole } from "./fields.ts";
import type { TaskOptions } from "./task-options.ts";
import type { TaskConfig } from "./types.ts";

const isPair = (x: unknown, passes: (v: unknown) => boolean): boolean =>
  Array.isArray(x) && x.length === 2 && (x as unknown[]).every(passes);

const SHAPE: Rule<PointShape> = [
  "[count, values], with 2 values (x, y) or 3 (x, y, confidence), for instance [17, 3]",
  (x) => isPair(x, isWhole) && inRange((x as number[])[0]) && [2, 3].includes((x as number[])[1]),
];
export const inRange = (count: number): boolean => count >= 1 && count <= MOST_POINTS;

export const POSITIVE: Rule<number> = [
  "a positive number",
  (x) => typeof x === "number" && x > 0 && x < Infinity,
];

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
export function checkCounts(
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
};
