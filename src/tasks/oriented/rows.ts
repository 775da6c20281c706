/** Adds angles and corners to detections: to the objects for rows, to copies, and to detections from a packet. */
import { firstRows } from "../../decode/columns.ts";
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import {
  CORNER_VALUES,
  type DetectionFields,
  type Detections,
  type TaskFunctions,
  type Point,
  extend,
} from "../../decode/detections.ts";
import type { KnownTask } from "../../decode/records.ts";

/** Writes angle and corners to the object of a row, and copies the columns of both. */
export const ORIENTED_ROWS: TaskFunctions = {
  row: ({ angles, corners }, row, d) => {
    if (!angles || !corners) return;
    d.angle = angles[row];
    d.corners = [0, 2, 4, 6].map((k) => ({
      x: corners[row * CORNER_VALUES + k],
      y: corners[row * CORNER_VALUES + k + 1],
    }));
  },
  copy: (detections, copy) => extend(copy, firstRows(detections, copy.length), ORIENTED_ROWS),
};

/** Adds columns of angles and corners with room for each row. */
export function addOrientedColumns(all: readonly Detections[]): void {
  for (const found of all) {
    const rows = found.scores.length;
    const columns = { angles: new Float32Array(rows), corners: new Float32Array(rows * CORNER_VALUES) };
    extend(found, columns, ORIENTED_ROWS);
  }
}

const isPoint = (p: Partial<Point> | null): boolean =>
  p !== null && Number.isFinite(p.x) && Number.isFinite(p.y);

/**
 * Adds the angles and corners in the records of a packet to the detections made from these records.
 * @param task task of the packet, needed if a frame has no detections whose fields show the task
 * @throws RangeError if some records lack an angle or corners
 */
export function readOrientedRows(
  detections: Detections,
  rows: readonly DetectionFields[],
  task: KnownTask | null,
): void {
  if (rows.length === 0 ? task?.name !== "oriented" : rows.every((d) => d.angle === undefined)) return;
  rows.forEach(({ angle, corners }, i) => {
    const isBox = Array.isArray(corners) && corners.length === 4 && corners.every(isPoint);
    if (!(isBox && Number.isFinite(angle)))
      refuseValue(
        `detections[${i}].corners`,
        `${show(corners)} and angle ${show(angle)}`,
        "4 points of x and y, and an angle, in each detection",
      );
  });
  const points = rows.flatMap((d) => d.corners as NonNullable<DetectionFields["corners"]>);
  extend(
    detections,
    {
      angles: Float32Array.from(rows, (d) => d.angle as number),
      corners: Float32Array.from(points.flatMap(({ x, y }) => [x, y])),
    },
    ORIENTED_ROWS,
  );
}
