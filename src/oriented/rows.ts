/** The columns of oriented boxes: objects of their rows, copies, and rows that a packet brings. */
import { refuse } from "../core/errors.ts";
import {
  type DetectionFields,
  type Detections,
  type Extras,
  type KnownTask,
  extend,
} from "../decode/detections.ts";

/** Values of the corners of a row. */
export const CORNERS = 8;

/** Gives the objects of rows their angle and corners. */
export const ORIENTED_ROWS: Extras = {
  row: ({ angles, corners }, row, d) => {
    if (!angles || !corners) return;
    d.angle = angles[row];
    d.corners = [0, 2, 4, 6].map((k) => ({
      x: corners[row * CORNERS + k],
      y: corners[row * CORNERS + k + 1],
    }));
  },
  copy: ({ angles, corners, length }, copy) =>
    extend(
      copy,
      { angles: angles?.slice(0, length), corners: corners?.slice(0, length * CORNERS) },
      ORIENTED_ROWS,
    ),
};

/**
 * Gives detections that were made of records the angles and corners of these.
 * @param task says that a frame without detections is one of oriented boxes
 * @throws RangeError if some records lack an angle or corners
 */
export function readOrientedRows(
  found: Detections,
  rows: readonly DetectionFields[],
  task: KnownTask | null,
): void {
  if (rows.length === 0 ? task?.name !== "oriented" : rows.every((d) => d.angle === undefined)) return;
  for (const { angle, corners } of rows)
    if (angle === undefined || corners?.length !== 4)
      refuse(
        "corners",
        `angle ${String(angle)} and ${corners?.length ?? 0} corners`,
        "an angle and 4 corners in each detection",
        RangeError,
      );
  const points = rows.flatMap((d) => d.corners as NonNullable<DetectionFields["corners"]>);
  extend(
    found,
    {
      angles: Float32Array.from(rows, (d) => d.angle as number),
      corners: Float32Array.from(points.flatMap(({ x, y }) => [x, y])),
    },
    ORIENTED_ROWS,
  );
}
