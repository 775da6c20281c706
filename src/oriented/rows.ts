/** The columns of oriented boxes: objects of their rows, copies, and rows that a packet brings. */
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import {
  type DetectionFields,
  type Detections,
  type Extras,
  type KnownTask,
  type Point,
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

const isPoint = (p: Partial<Point> | null): boolean =>
  p !== null && Number.isFinite(p.x) && Number.isFinite(p.y);

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
  rows.forEach(({ angle, corners }, i) => {
    const isBox = Array.isArray(corners) && corners.length === 4 && corners.every(isPoint);
    if (!(isBox && Number.isFinite(angle)))
      refuse(
        `detections[${i}].corners`,
        `${show(corners)} and angle ${show(angle)}`,
        "4 points of x and y, and an angle, in each detection",
        RangeError,
      );
  });
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
