/** The column of keypoints: objects of its rows, copies, and rows that a packet brings. */
import { refuse } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import {
  type Detection,
  type DetectionFields,
  type Detections,
  type Extras,
  type Keypoint,
  type KnownTask,
  extend,
} from "../../decode/detections.ts";

/** Values of a keypoint in the column: x, y, confidence. */
export const KEYPOINT_WIDTH = 3;

/** Gives the objects of rows their keypoints. */
export const POSE_ROWS: Extras = {
  row(found, row, d: { -readonly [K in keyof Detection]: Detection[K] }) {
    const { keypoints, keypointNames: names } = found as Required<Detections>;
    const count = countOf(found);
    const points: Keypoint[] = [];
    for (let k = 0, at = row * count * KEYPOINT_WIDTH; k < count; k++, at += KEYPOINT_WIDTH) {
      const point = { x: keypoints[at], y: keypoints[at + 1], confidence: keypoints[at + 2] };
      points.push(names ? { ...point, name: names[k] } : point);
    }
    d.keypoints = points;
  },
  copy(found, copy) {
    const { keypoints, keypointNames, edges } = found;
    const length = copy.length * countOf(found) * KEYPOINT_WIDTH;
    extend(
      copy,
      {
        keypoints: keypoints?.slice(0, length),
        ...(keypointNames && { keypointNames }),
        ...(edges && { edges }),
      },
      POSE_ROWS,
    );
  },
};

/** Returns the number of keypoints of a row. The column has as many rows as that of the scores. */
export const countOf = ({ keypoints, scores }: Detections): number =>
  scores.length === 0 ? 0 : (keypoints as Float32Array).length / scores.length / KEYPOINT_WIDTH;

/** True for a keypoint. JSON has null for NaN and the infinities. */
const isPoint = (p: Partial<Keypoint> | null): boolean =>
  p !== null && [p.x, p.y, p.confidence].every((v) => v === null || Number.isFinite(v));

/**
 * Gives detections that were made of records the keypoints of these.
 * @param task says the edges, which no record has, and that a frame without detections is one of a pose network
 * @throws RangeError if a record has no keypoints, or another number of them
 */
export function readPoseRows(
  found: Detections,
  rows: readonly DetectionFields[],
  task: KnownTask | null,
): void {
  if (rows.length === 0 ? task?.name !== "pose" : rows.every((d) => d.keypoints === undefined)) return;
  const count = rows[0]?.keypoints?.length ?? 0;
  rows.forEach(({ keypoints }, i) => {
    if (!(Array.isArray(keypoints) && keypoints.length === count && keypoints.every(isPoint)))
      refuse(
        `detections[${i}].keypoints`,
        show(keypoints),
        `${count} points of x, y and confidence, as many in each detection`,
        RangeError,
      );
  });
  const points = rows.flatMap((d) => d.keypoints as readonly Keypoint[]);
  const names = points.slice(0, count).map(({ name }) => name);
  const values = points.flatMap((p) => [p.x, p.y, p.confidence].map((v: number | null) => v ?? NaN));
  extend(
    found,
    {
      keypoints: Float32Array.from(values),
      ...(count > 0 && names.every((name) => typeof name === "string") && { keypointNames: names }),
      ...(task?.edges && { edges: task.edges }),
    },
    POSE_ROWS,
  );
}
