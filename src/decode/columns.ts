/** Copies the columns that tasks add to detections. */
import { knownOf } from "../core/json.ts";
import { type Detections, TASK_COLUMNS, type TaskColumn, type TaskColumns } from "./detections.ts";

/**
 * Returns the columns of tasks that detections have, with the names and edges of keypoints.
 * @param valuesOf returns the new values of a column, which has `width` values per row
 */
export function columnsBy(
  detections: Detections,
  valuesOf: (column: Float32Array, width: number, name: TaskColumn) => Float32Array,
): TaskColumns {
  const { keypointNames, edges } = detections;
  const columns: { -readonly [K in keyof TaskColumns]: TaskColumns[K] } = {};
  for (const name of TASK_COLUMNS) {
    const column = detections[name];
    if (column) columns[name] = valuesOf(column, column.length / detections.scores.length || 0, name);
  }
  return Object.assign(columns, knownOf({ keypointNames, edges }));
}

/** Returns copies of the columns of tasks, of the first `length` rows. */
export const firstRows = (detections: Detections, length: number): TaskColumns =>
  columnsBy(detections, (column, width) => column.slice(0, length * width));
