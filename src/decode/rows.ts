/** Reads clones of `Detections`. `structuredClone` and `postMessage` keep the columns but drop the methods. */
import { refuseValue } from "../core/errors.ts";
import { isDetached, show } from "../core/tensor.ts";
import type { Detection, DetectionFields, Detections } from "./detections.ts";

/** The columns of `Detections`, as `structuredClone` and `postMessage` copy them. */
export type ClonedDetections = Pick<
  Detections,
  | "length"
  | "boxes"
  | "scores"
  | "classIds"
  | "labels"
  | "keypoints"
  | "keypointNames"
  | "depths"
  | "angles"
  | "corners"
>;

/** Detections that drawing and exporting accept: the result of `decode`, a list, or a clone of either. */
export type DetectionList<D extends object = Detection> = Iterable<D> | ClonedDetections;

const isClone = (given: unknown): given is ClonedDetections =>
  typeof given === "object" &&
  given !== null &&
  !(Symbol.iterator in given) &&
  ["boxes", "scores", "classIds"].every((name) =>
    ArrayBuffer.isView((given as Record<string, unknown>)[name]),
  ) &&
  Number.isInteger((given as ClonedDetections).length);

/** Returns a clone's detections as objects. Returns any other value unchanged. */
export function rowsOf<T>(given: T): T | DetectionFields[] {
  if (isDetached(given)) refuseValue("detections", "transferred memory", "a list of detections");
  return isClone(given) ? rowsOfClone(given) : given;
}

/** Throws a RangeError if `length` exceeds the rows of the columns. A transferred column has no rows. */
export function checkRoom({
  length,
  boxes,
  scores,
  classIds,
  keypoints,
  angles,
  corners,
}: ClonedDetections): void {
  const room = Math.min(
    boxes.length / 4,
    scores.length,
    classIds.length,
    keypoints?.length ?? Infinity,
    angles?.length ?? Infinity,
    (corners?.length ?? Infinity) / 8,
  );
  if (!(length >= 0 && length <= room))
    refuseValue("detections.length", show(length), `at most ${room}, the rows that the columns have`);
}

function rowsOfClone(c: ClonedDetections): DetectionFields[] {
  const { boxes, scores, classIds, labels, keypoints, keypointNames, depths, angles, corners } = c;
  checkRoom(c);
  // Divide by the row count of the columns, which may exceed `length`.
  const points = keypoints ? keypoints.length / (3 * scores.length) : 0;
  return Array.from({ length: c.length }, (_, row) => ({
    class_id: classIds[row],
    label: labels?.[classIds[row]] ?? String(classIds[row]),
    confidence: scores[row],
    x_min: boxes[4 * row],
    y_min: boxes[4 * row + 1],
    x_max: boxes[4 * row + 2],
    y_max: boxes[4 * row + 3],
    ...(keypoints && {
      keypoints: Array.from({ length: points }, (_, k) => {
        const at = 3 * (row * points + k);
        const name = keypointNames?.[k];
        return {
          x: keypoints[at],
          y: keypoints[at + 1],
          confidence: keypoints[at + 2],
          ...(name !== undefined && { name }),
          ...(depths && { z: depths[row * points + k] }),
        };
      }),
    }),
    ...(angles && { angle: angles[row] }),
    ...(corners && {
      corners: [0, 2, 4, 6].map((k) => ({ x: corners[8 * row + k], y: corners[8 * row + k + 1] })),
    }),
  }));
}
