/** The column of keypoints: objects for rows, copies, and rows from a packet. */
import { knownOf } from "../../core/json.ts";
import { firstRows } from "../../decode/columns.ts";
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import {
  type Detection,
  type DetectionFields,
  type Detections,
  type TaskFunctions,
  type Keypoint,
  extend,
  type TaskColumn,
  type TaskColumns,
} from "../../decode/detections.ts";
import type { KnownTask } from "../../decode/records.ts";

/** Count of values of a keypoint in the column: x, y, confidence. */
export const KEYPOINT_WIDTH = 3;

/** Count of values of a crop in the column `nextCrops`: cx, cy, width, height, angle. */
export const CROP_WIDTH = 5;

/** Adds keypoints to the objects for rows, and to copies of detections. */
export const POSE_ROWS: TaskFunctions = {
  row(detections, row, d: { -readonly [K in keyof Detection]: Detection[K] }) {
    const { keypoints, keypointNames: names, depths, presences, world } = detections;
    const count = countOf(detections);
    const points: Keypoint[] = [];
    for (let k = 0, p = row * count; k < count; k++, p++) {
      const [x, y, confidence] = (keypoints as Float32Array).subarray(p * KEYPOINT_WIDTH);
      points.push({
        x,
        y,
        confidence,
        ...(names && { name: names[k] }),
        ...(depths && { z: depths[p] }),
        ...(presences && { presence: presences[p] }),
        ...(world && { world: { x: world[p * 3], y: world[p * 3 + 1], z: world[p * 3 + 2] } }),
      });
    }
    d.keypoints = points;
    if (detections.fusedScores) d.fused_confidence = detections.fusedScores[row];
  },
  copy: (detections, copy) => extend(copy, firstRows(detections, copy.length), POSE_ROWS),
};

/**
 * Adds a column of keypoints with room for each row, their names and edges, and other columns.
 * @param widths values per row of each other column
 */
export function addPointColumns(
  all: readonly Detections[],
  { count, names: keypointNames, edges }: PointFacts,
  widths: { readonly [N in PointColumn]?: number | null } = {},
): void {
  for (const detections of all) {
    const columns: Record<string, unknown> = {};
    for (const [name, width] of Object.entries({ keypoints: count * KEYPOINT_WIDTH, ...widths }))
      if (width) columns[name] = new Float32Array(detections.scores.length * width);
    extend(detections, Object.assign(columns, knownOf({ keypointNames, edges })), POSE_ROWS);
  }
}

type PointColumn = Exclude<TaskColumn, "angles" | "corners">;

/** The facts about a row's keypoints. */
interface PointFacts {
  readonly count: number;
  readonly names?: readonly string[] | null;
  readonly edges?: TaskColumns["edges"] | null;
}

/** Returns the keypoint count of a row. The columns of keypoints and scores have equally many rows. */
export const countOf = ({ keypoints, scores }: Detections): number =>
  scores.length === 0 ? 0 : (keypoints as Float32Array).length / scores.length / KEYPOINT_WIDTH;

/** True for a keypoint. JSON writes NaN and the infinities as null. */
const isPoint = (p: Partial<Keypoint> | null): boolean =>
  p !== null && [p.x, p.y, p.confidence].every((v) => v === null || Number.isFinite(v));

/** Adds keypoints to detections of a packet's records. Throws if a record has none, or another count. */
export function readPoseRows(
  detections: Detections,
  rows: readonly DetectionFields[],
  task: KnownTask | null,
): void {
  if (rows.length === 0 ? task?.name !== "pose" : rows.every((d) => d.keypoints === undefined)) return;
  const count = rows[0]?.keypoints?.length ?? 0;
  rows.forEach(({ keypoints }, i) => {
    if (!(Array.isArray(keypoints) && keypoints.length === count && keypoints.every(isPoint)))
      refuseValue(
        `detections[${i}].keypoints`,
        show(keypoints),
        `${count} points of x, y and confidence, as many in each detection`,
      );
  });
  const points = rows.flatMap((d) => d.keypoints as readonly Keypoint[]);
  const names = points.slice(0, count).map(({ name }) => name);
  // JSON writes NaN and the infinities as null.
  const column = (valuesOf: (p: Keypoint) => readonly (number | null)[]): Float32Array =>
    Float32Array.from(points.flatMap(valuesOf).map((v) => v ?? NaN));
  const fused = rows.map((d) => d.fused_confidence ?? NaN);
  const haveAll = (key: "z" | "presence" | "world"): boolean =>
    points.length > 0 && points.every((p) => p[key] !== undefined);
  extend(
    detections,
    {
      keypoints: column((p) => [p.x, p.y, p.confidence]),
      ...(rows.some((d) => d.fused_confidence !== undefined) && { fusedScores: Float32Array.from(fused) }),
      ...(haveAll("z") && { depths: column(({ z }) => [z as number]) }),
      ...(haveAll("presence") && { presences: column(({ presence }) => [presence as number]) }),
      ...(haveAll("world") && {
        world: column(({ world }) => [world?.x ?? null, world?.y ?? null, world?.z ?? null]),
      }),
      ...knownOf({
        keypointNames: count > 0 && names.every((name) => typeof name === "string") ? names : null,
        edges: task?.edges,
      }),
    },
    POSE_ROWS,
  );
}
