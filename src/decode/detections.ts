/** Room 5: detections as columns, and as objects for those who iterate. */

import type { DetectionColumns } from "../memory/layout.ts";

/** One box with its label. Coordinates are normalised: 0..1 across the image (or the network input, without a frame). */
export interface Detection {
  readonly class_id: number;
  /** The config's label, or the class number as text where it has none. */
  readonly label: string;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
}

/**
 * Detections of one image, best first. The columns are views made once, `maxDetections` rows long, of which the
 * first `length` count; the next `decode` overwrites them. `copy()` to keep.
 */
export class Detections implements Iterable<Detection> {
  /** How many rows count. */
  readonly length: number = 0;
  /** x_min, y_min, x_max, y_max of each row, four numbers side by side; normalised to the image of the frame, or to the network's input without one. */
  readonly boxes: Float32Array;
  /** Confidence of each row, 0..1, falling. */
  readonly scores: Float32Array;
  /** Class number of each row, counted as the config counts labels. */
  readonly classIds: Int32Array;
  /**
   * Where each came from: cells are numbered head by head, anchor by anchor, row by row
   * (`describe().json.heads` gives each head's first number).
   */
  readonly sources: Uint32Array;
  readonly #labels: readonly string[] | null;

  constructor(
    boxes: Float32Array,
    scores: Float32Array,
    classIds: Int32Array,
    sources: Uint32Array,
    labels: readonly string[] | null,
  ) {
    this.boxes = boxes;
    this.scores = scores;
    this.classIds = classIds;
    this.sources = sources;
    this.#labels = labels;
    // what `console.log` of Node, Bun and Deno shows; as a method with a computed name it would keep the class in every bundle
    Object.defineProperty(this, Symbol.for("nodejs.util.inspect.custom"), { value: this.toArray });
  }

  /** Row `i` as an object, `undefined` past the end and for what is no whole number; negative counts from the end. */
  at(i: number): Detection | undefined {
    const row = i < 0 ? this.length + i : i;
    if (!(Number.isInteger(row) && row >= 0 && row < this.length)) return undefined;
    const class_id = this.classIds[row];
    const b = row * 4;
    return {
      class_id,
      label: this.#labels?.[class_id] ?? String(class_id),
      confidence: this.scores[row],
      x_min: this.boxes[b],
      y_min: this.boxes[b + 1],
      x_max: this.boxes[b + 2],
      y_max: this.boxes[b + 3],
    };
  }

  /** Rows in order of score. */
  *[Symbol.iterator](): Iterator<Detection> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as Detection;
  }

  /** The rows as objects of their own, which the next `decode` leaves alone. */
  toArray(): Detection[] {
    return [...this];
  }

  /** The rows that count, in memory of their own. */
  copy(): Detections {
    const n = this.length;
    const c = new Detections(
      this.boxes.slice(0, n * 4),
      this.scores.slice(0, n),
      this.classIds.slice(0, n),
      this.sources.slice(0, n),
      this.#labels,
    );
    setLength(c, n);
    return c;
  }

  /** What `JSON.stringify` writes: the rows. */
  toJSON(): Detection[] {
    return this.toArray();
  }
}

/** For who writes the columns: readers find `length` as it is. */
export function setLength(d: { -readonly [K in keyof Detections]: Detections[K] }, n: number): void {
  d.length = n;
}

/** The columns of `rows` detections in a decoder's memory. */
export const detectionsIn = (
  buffer: ArrayBuffer,
  at: DetectionColumns,
  rows: number,
  labels: readonly string[] | null,
): Detections =>
  new Detections(
    new Float32Array(buffer, at.boxes, rows * 4),
    new Float32Array(buffer, at.scores, rows),
    new Int32Array(buffer, at.classIds, rows),
    new Uint32Array(buffer, at.sources, rows),
    labels,
  );

/**
 * Box of a detection in pixels of an image of that size: x multiplied by the width, y by the height, neither rounded nor clamped.
 * @throws RangeError where the size is none, TypeError for what is no detection
 */
export function toPixels(d: Detection, width: number, height: number): Detection {
  if (typeof (d as Partial<Detection> | undefined)?.x_min !== "number")
    throw new TypeError("got something without x_min, expected a detection; of several, each by itself");
  if (!(width > 0 && height > 0))
    throw new RangeError(
      `got ${String(width)} x ${String(height)}, expected width and height of the image in pixels`,
    );
  return {
    ...d,
    x_min: d.x_min * width,
    y_min: d.y_min * height,
    x_max: d.x_max * width,
    y_max: d.y_max * height,
  };
}
