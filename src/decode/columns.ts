/** Copies the columns that tasks add to detections. */
import { knownOf } from "../core/json.ts";
import { type Detections, POINT_COLUMNS, type TaskColumns } from "./detections.ts";

/** Columns of tasks that have values for each row, unlike `keypointNames` and `edges`. */
export const TASK_COLUMNS = [...POINT_COLUMNS, "angles", "corners"] as const;
export type TaskColumn = (typeof TASK_COLUMNS)[number];

/** Names and edges of keypoints. Leaves out those that are unknown. */
export const pointNames = ({
  keypointNames,
  edges,
}: {
  readonly keypointNames?: readonly string[] | null;
  readonly edges?: TaskColumns["edges"] | null;
}): Pick<TaskColumns, "keypointNames" | "edges"> => knownOf({ keypointNames, edges });

/**
 * Returns the columns of tasks that detections have, with the names and edges of keypoints.
 * @param valuesOf returns the new values of a column, which has `width` values per row
 */
export function columnsBy(
  detections: Detections,
  valuesOf: (column: Float32Array, width: number, name: TaskColumn) => Float32Array,
): TaskColumns {
  const columns = TASK_COLUMNS.flatMap((name) => {
    const column = detections[name];
    return column ? [[name, valuesOf(column, column.length / detections.scores.length || 0, name)]] : [];
  });
  return { ...(Object.fromEntries(columns) as TaskColumns), ...pointNames(detections) };
}

/** Returns copies of the columns of tasks, of the first `length` rows. */
export const firstRows = (detections: Detections, length: number): TaskColumns =>
  columnsBy(detections, (column, width) => column.slice(0, length * width));
