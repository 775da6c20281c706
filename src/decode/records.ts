/** Converts records to columns, the form of `Detections`. */
import { refuseValue } from "../core/errors.ts";
import { neededTask } from "../core/tasks.ts";
import { isInPixels } from "../core/unit.ts";
import { type DetectionFields, Detections, type TaskColumns, setLength } from "./detections.ts";

/** Facts about a task that are needed to read the task's columns from records. */
export interface KnownTask {
  readonly name: string;
  readonly edges?: TaskColumns["edges"] | null;
}

/** The function of a task that reads records. */
export interface RowReader {
  readonly task: string;
  /**
   * Adds the task's columns to detections that were made from records, if the records have them.
   * @throws RangeError if only some records have the task's fields
   */
  readonly readRows?: (
    detections: Detections,
    rows: readonly DetectionFields[],
    task: KnownTask | null,
  ) => void;
}

/** Throws a RangeError for boxes in pixels, for confidences above 1, and if most boxes have exchanged corners. */
function checkRecords(rows: readonly DetectionFields[]): void {
  let swapped = 0;
  for (const d of rows) {
    const { x_min, y_min, x_max, y_max } = d;
    if (x_max < x_min || y_max < y_min) swapped++;
    if (isInPixels(x_min, y_min, x_max, y_max) || d.confidence > 1.01 || swapped * 2 > rows.length)
      refuseValue("detections", JSON.stringify(d), "corners and confidence in 0..1");
  }
}

/**
 * Makes detections from records. Labels come from the records. `sources` may be shorter than `rows`. Every task adds
 * its columns.
 * @throws RangeError for records that are not detections in 0..1; ConfigError if no task of `tasks` reads their columns
 */
export function detectionsOf(
  rows: readonly DetectionFields[],
  sources: readonly number[],
  tasks: readonly RowReader[],
  task: KnownTask | null = null,
): Detections {
  checkRecords(rows);
  if (rows.some((d) => d.keypoints)) neededTask(tasks, "pose");
  if (rows.some((d) => d.corners)) neededTask(tasks, "oriented");
  const labels: string[] = [];
  for (const { class_id, label } of rows) if (label !== String(class_id)) labels[class_id] = label;
  const detections = new Detections(
    Float32Array.from(rows.flatMap((d) => [d.x_min, d.y_min, d.x_max, d.y_max])),
    Float32Array.from(rows, (d) => d.confidence),
    Int32Array.from(rows, (d) => d.class_id),
    Uint32Array.from(rows, (_, i) => sources[i]),
    labels.length > 0 ? labels : null,
  );
  setLength(detections, rows.length);
  for (const { readRows } of tasks) readRows?.(detections, rows, task);
  return detections;
}
