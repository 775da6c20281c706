/** The detections of one frame as trackers read them: in doubles and pixels. */
import { type DetectionFields, frameIfExchanged } from "../decode/detections.ts";
import { refuseValue } from "../core/errors.ts";
import { isUnit } from "../core/options.ts";
import { show } from "../core/tensor.ts";
import { room } from "./lists.ts";

/** Detections as columns: a decoder's `Detections`, or arrays of your own. */
export interface TrackerInput {
  /** Count of detections. The columns may be longer. */
  readonly length: number;
  /** x_min, y_min, x_max, y_max of each detection, side by side. */
  readonly boxes: ArrayLike<number>;
  /** Confidence of each detection. */
  readonly scores: ArrayLike<number>;
  /** Class id of each detection. Read only with `perClass`. */
  readonly classIds?: ArrayLike<number>;
}

/** Detections for a tracker: columns, or a list of detections as `toArray()` and JSON give it. */
export type TrackerDetections = TrackerInput | readonly DetectionFields[];

/** Returns the columns of a list of detections. Returns columns unchanged. */
function columnsOf(given: TrackerDetections): TrackerInput {
  if (!Array.isArray(given)) return given as TrackerInput;
  const list = given as readonly DetectionFields[];
  return {
    length: list.length,
    boxes: list.flatMap((d) => [d?.x_min, d?.y_min, d?.x_max, d?.y_max]),
    scores: list.map((d) => d?.confidence),
    classIds: list.map((d) => d?.class_id),
  };
}

export class TrackerFrame {
  /** Count of detections with an area. Others are ignored, since filters divide by width and height. */
  length = 0;
  /** Count of all given detections. */
  given = 0;
  /** Index of each detection in the given list. */
  places = new Int32Array(0);
  /** Time since the first frame, in frames of the nominal rate. */
  time = 0;
  /** Time since the last frame, in the same unit. */
  elapsed = 0;
  /** Count of frames so far, this one included. */
  count = 0;
  /** Counts of boxes with exchanged corners, and of all boxes, over all frames. */
  private swapped = 0;
  private seen = 0;
  boxes = new Float64Array(0);
  scores = new Float64Array(0);
  classIds = new Int32Array(0);

  /**
   * Copies the detections, with boxes multiplied by the frame's size.
   * @param size width and height of the frame in pixels, for boxes in 0..1; null for boxes in pixels
   */
  read(detections: TrackerDetections, size: readonly [number, number] | null, perClass: boolean): void {
    const given = columnsOf(detections);
    const n = lengthOf(given, perClass);
    this.length = this.given = 0;
    this.places = room(this.places, n);
    this.boxes = room(this.boxes, n * 4);
    this.scores = room(this.scores, n);
    this.classIds = room(this.classIds, n);
    const { boxes, scores, classIds } = given;
    const width = size === null ? 1 : size[0];
    const height = size === null ? 1 : size[1];
    let largest = 0;
    for (let i = 0; i < n * 4; i += 2) {
      const x = boxes[i];
      const y = boxes[i + 1];
      if (!Number.isFinite(x) || !Number.isFinite(y))
        refuseValue(`boxes[${i}]`, `${show(x)}, ${show(y)}`, "finite coordinates");
      largest = Math.max(largest, Math.abs(x), Math.abs(y));
    }
    checkUnit(n, largest, size);
    if (size) checkSize(detections, size);
    this.checkCorners(boxes, n);
    let count = 0;
    for (let i = 0; i < n; i++) {
      if (!isUnit(scores[i])) refuseValue(`scores[${i}]`, show(scores[i]), "a confidence in 0..1");
      for (let k = 0; k < 4; k += 2) {
        this.boxes[count * 4 + k] = boxes[i * 4 + k] * width;
        this.boxes[count * 4 + k + 1] = boxes[i * 4 + k + 1] * height;
      }
      if (perClass) checkClassId((classIds as ArrayLike<number>)[i], i);
      if (!hasArea(this.boxes, count * 4)) continue;
      // Round to f32, as the thresholds are. A decoder's score then equals a threshold of the same number.
      this.scores[count] = Math.fround(scores[i]);
      this.classIds[count] = perClass ? (classIds as ArrayLike<number>)[i] : 0;
      this.places[count++] = i;
    }
    this.length = count;
    this.given = n;
  }

  /** Throws if most boxes so far have exchanged corners: such boxes are a centre or a corner with a size. */
  private checkCorners(boxes: ArrayLike<number>, n: number): void {
    let swapped = this.swapped;
    for (let i = 0; i < n * 4; i += 4) if (boxes[i + 2] < boxes[i] || boxes[i + 3] < boxes[i + 1]) swapped++;
    const seen = this.seen + n;
    if (swapped >= FEWEST_SWAPPED && swapped * 2 > seen)
      refuseValue(
        "boxes",
        `${swapped} of ${seen} with x_max < x_min or y_max < y_min`,
        "corners, x_min, y_min, x_max and y_max: no width and height",
      );
    this.swapped = swapped;
    this.seen = seen;
  }
}

/** Fewest boxes with exchanged corners for an error. Networks may output a few. */
const FEWEST_SWAPPED = 3;

/** Largest side in pixels. With 1e-9 as the smallest side, products, quotients and squares stay finite. */
const MOST_PIXELS = 1e9;

function hasArea(boxes: Float64Array, i: number): boolean {
  const width = boxes[i + 2] - boxes[i];
  const height = boxes[i + 3] - boxes[i + 1];
  return Math.min(width, height) >= 1 / MOST_PIXELS && Math.max(width, height) <= MOST_PIXELS;
}

function checkClassId(classId: unknown, i: number): void {
  if (!(Number.isInteger(classId) && ((classId as number) | 0) === classId))
    refuseValue(`classIds[${i}]`, show(classId), "a whole number of 32 bits");
}

const hasLength = (x: unknown, length: number): boolean =>
  typeof x === "object" && x !== null && (x as ArrayLike<number>).length >= length;

/** Returns the count of detections. Throws if columns are missing or too short. */
function lengthOf(given: TrackerInput, perClass: boolean): number {
  if (typeof given !== "object" || given === null)
    refuseValue("detections", show(given), "what decode() returned, or {length, boxes, scores}");
  const { length: n, boxes, scores, classIds } = given;
  if (!(Number.isInteger(n) && n >= 0 && n < 1e6))
    refuseValue("detections.length", show(n), "the number of detections");
  if (!hasLength(boxes, n * 4))
    refuseValue("detections.boxes", show(boxes), `an array of ${n * 4} numbers or more, four for each`);
  if (!hasLength(scores, n))
    refuseValue("detections.scores", show(scores), `an array of ${n} numbers or more`);
  if (perClass && !hasLength(classIds, n))
    refuseValue(
      "detections.classIds",
      show(classIds),
      `an array of ${n} class ids or more, as perClass is true`,
    );
  return n;
}

/** Throws if the decoder's frame had these sides exchanged: the filters would work in stretched pixels. */
function checkSize(detections: TrackerDetections, [width, height]: readonly [number, number]): void {
  const frame = frameIfExchanged(detections, width, height);
  if (frame !== null)
    refuseValue("size", `[${width},${height}] for detections of ${frame}`, "[width, height]");
}

/** Throws for boxes in 0..1 without a size, or boxes in pixels with one. The filters work in pixels. */
function checkUnit(n: number, largest: number, size: readonly [number, number] | null): void {
  if (n === 0) return;
  if (size === null && largest <= 2)
    refuseValue(
      "boxes",
      `no coordinate above ${largest} and no size`,
      "boxes in pixels, or size: [width, height] of the frame for boxes in 0..1 such as decode() returns",
    );
  if (size !== null && largest > 2)
    refuseValue("boxes", `a coordinate of ${largest} and a size`, "boxes in 0..1, or no size for pixels");
}
