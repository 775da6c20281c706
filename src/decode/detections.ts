/** The result of a decode: columns for speed, objects for those who iterate. */
import { refuse } from "../core/errors.ts";
import { neededTask } from "../core/tasks.ts";
import { isInPixels } from "../core/unit.ts";
import type { DetectionColumns } from "../memory/layout.ts";

/** A keypoint. Coordinates have the unit of the detection's box. */
export interface Keypoint {
  readonly x: number;
  readonly y: number;
  /** 0..1; 1 where the network gives none. */
  readonly confidence: number;
  /** Absent where the config names no keypoints. */
  readonly name?: string;
  /** Depth in the unit of x, smaller in front. Only of networks that give one. */
  readonly z?: number;
  /** Probability that the point lies inside of the picture; `confidence` says whether it can be seen too. */
  readonly presence?: number;
  /** The point in metres: of a hand about its own middle, of a body about the middle of the hips. */
  readonly world?: { readonly x: number; readonly y: number; readonly z: number };
}

/** A point, in the unit of the detection's box. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The fields of a detection. Coordinates are 0..1 across the image of the frame, or across the network's input without
 * one. The names are those of the config format's own records.
 */
export interface DetectionFields {
  readonly class_id: number;
  /** The config's label, or the class id as text if it has none. */
  readonly label: string;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  /** Only of a network with keypoints. */
  readonly keypoints?: readonly Keypoint[];
  /** Only of RF-DETR with keypoints: the score that its `predict()` gives, lower where the points are uncertain. */
  readonly fused_confidence?: number;
  /** Only of a network with oriented boxes: radians, in pixels of the image. */
  readonly angle?: number;
  /** Only of a network with oriented boxes: its four corners, in order around it. */
  readonly corners?: readonly Point[];
  /** Only of an oriented box in pixels, by `toPixels`: its centre. Width and height are then those along its sides. */
  readonly cx?: number;
  readonly cy?: number;
}

/** Columns that a task adds to detections. */
export interface TaskColumns {
  /** x, y, confidence of each keypoint, row by row; 0..1, like the boxes. Only of a network with keypoints. */
  readonly keypoints?: Float32Array;
  /** Names of the keypoints, in order, if the config has them. */
  readonly keypointNames?: readonly string[];
  /** Pairs of keypoints that a skeleton joins, if the config has them. */
  readonly edges?: readonly (readonly [number, number])[];
  /** z of each keypoint, in the unit of x. Only of networks that give a depth. */
  readonly depths?: Float32Array;
  /** Probability of each keypoint that it lies inside of the picture. Only of MediaPipe's pose. */
  readonly presences?: Float32Array;
  /** x, y, z of each keypoint in metres. Only of MediaPipe's hand and pose. */
  readonly world?: Float32Array;
  /**
   * Score of each row together with its keypoints, as RF-DETR's `predict()` gives it. Only of RF-DETR with keypoints.
   */
  readonly fusedScores?: Float32Array;
  /**
   * The crop of each row in the next frame: centre x and y, width and height in pixels of the image, and the angle in
   * radians. Only of MediaPipe's landmarks.
   */
  readonly nextCrops?: Float32Array;
  /** Angle of each row in radians. Only of a network with oriented boxes. */
  readonly angles?: Float32Array;
  /** x, y of each corner, four a row; 0..1, like the boxes. Only of a network with oriented boxes. */
  readonly corners?: Float32Array;
}

/** Columns of keypoints with the same count of numbers in each row. `keypointNames` and `edges` are not among them. */
export const POINT_COLUMNS = [
  "keypoints",
  "depths",
  "presences",
  "world",
  "nextCrops",
  "fusedScores",
] as const satisfies readonly (keyof TaskColumns)[];

/** Count of the values of a row of `corners`: x and y of each of the four corners. */
export const CORNER_VALUES = 8;

/**
 * Names the order of the steps that make a mask: product of coefficients and prototypes, resizing, crop by the box. In
 * those that begin with "sigmoid" probabilities are resized, in the others logits.
 */
export type PrototypeRule =
  | "proto"
  | "input"
  | "input_crop_first"
  | "image"
  | "sigmoid_input"
  | "sigmoid_input_crop_first"
  | "sigmoid_image";

/**
 * Names the rule of a mask: that of masks made of prototypes, or how a small mask of Mask R-CNN is pasted into its box,
 * "torchvision" or "detectron2".
 */
export type MaskRule = PrototypeRule | "torchvision" | "detectron2";

/** Size, rule and threshold of a mask. */
export interface MaskOptions {
  /**
   * The picture that the mask is a part of: the prototypes, the network's input, the image of the frame, or a picture
   * of the image in that size. Default: "frame" if `decode` got a frame, else "network".
   */
  readonly size?: "prototype" | "network" | "frame" | readonly [width: number, height: number];
  /**
   * Default: "proto" at the prototypes' size, "input" at that of the network, "image" at others; of Mask R-CNN
   * "torchvision". Masks of RF-DETR are cut by the box only where a rule is stated.
   */
  readonly rule?: MaskRule;
  /** A pixel is set if its probability is greater. Default 0.5. */
  readonly threshold?: number;
}

/** Runs of a mask in COCO's format. */
export interface MaskRle {
  /** Height and width of the picture. */
  readonly size: readonly [height: number, width: number];
  /** Run lengths, column by column, zeros first, as the text that pycocotools writes. */
  readonly counts: string;
}

/** A detection with its mask as data. `withMasks` makes it. */
export interface MaskedFields extends DetectionFields {
  readonly mask?: MaskRle;
}

/** One part of a mask. Rings are x, y, x, y, ... of corners between pixels, in pixels of the picture. */
export interface MaskPolygon {
  readonly outer: readonly number[];
  readonly holes: readonly (readonly number[])[];
}

/** The part of a mask inside its box: one byte a pixel, 0 or 1. */
export interface Mask {
  /** Left upper corner in a picture of the size that was asked for, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  /** Width and height of the whole picture. */
  readonly size: readonly [width: number, height: number];
  /** Number of pixels that are set. */
  readonly area: number;
  /** Returns the mask as runs of the whole picture, in COCO's format. */
  toRle(): MaskRle;
  /** Returns the outlines of the parts along the edges of pixels. Pixels that touch at a corner are two parts. */
  toPolygons(): MaskPolygon[];
  /** Returns eight pixels a byte, the first in the highest bit, as `numpy.packbits` packs `data`. */
  toBits(): Uint8Array;
}

/** What the task of a network does for detections. Tasks give it by `extend`. */
export interface TaskFunctions {
  /** Adds the task's fields to the object of a row. */
  readonly row?: (
    detections: Detections,
    row: number,
    d: { -readonly [K in keyof Detection]: Detection[K] },
  ) => void;
  /** Gives a copy the columns of the rows that count, and whatever `mask` needs. */
  readonly copy: (detections: Detections, copy: Detections) => void;
  /** Gives detections that are made of some rows of a copy whatever `mask` needs. Row i of `to` is row `rows[i]`. */
  readonly select?: (rows: readonly number[], to: Detections) => void;
  readonly mask?: (detections: Detections, row: number, options?: MaskOptions) => Mask;
}

/**
 * Gives detections the columns of a task, which `structuredClone` carries, and the functions, which it does not.
 */
export function extend(detections: Detections, columns: TaskColumns, taskFunctions: TaskFunctions): void {
  Object.defineProperty(Object.assign(detections, columns), "taskFunctions", { value: taskFunctions });
}

/** Returns the functions of a task; undefined for boxes alone, and for a clone. */
export const taskFunctionsOf = (detections: Detections): TaskFunctions | undefined =>
  (detections as { taskFunctions?: TaskFunctions }).taskFunctions;

/**
 * One box with its label. `x`, `y`, `width` and `height` are computed from the fields, in the same unit. JSON,
 * `structuredClone` and spreading carry the fields alone.
 */
export interface Detection extends DetectionFields {
  /** Left edge. */
  readonly x: number;
  /** Top edge. */
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * The class of a detection. Its prototype names no constructor, so that a detection is printed as a plain object. A
 * class, because a literal with a prototype takes ten times as long to make.
 */
const Row = /* @__PURE__ */ (() => {
  class Row implements Detection {
    readonly class_id: number;
    readonly label: string;
    readonly confidence: number;
    readonly x_min: number;
    readonly y_min: number;
    readonly x_max: number;
    readonly y_max: number;

    constructor({ boxes, scores, classIds, labels }: Detections, row: number) {
      const classId = classIds[row];
      const b = row * 4;
      this.class_id = classId;
      this.label = labels?.[classId] ?? String(classId);
      this.confidence = scores[row];
      this.x_min = boxes[b];
      this.y_min = boxes[b + 1];
      this.x_max = boxes[b + 2];
      this.y_max = boxes[b + 3];
    }

    get x(): number {
      return this.x_min;
    }

    get y(): number {
      return this.y_min;
    }

    get width(): number {
      return this.x_max - this.x_min;
    }

    get height(): number {
      return this.y_max - this.y_min;
    }
  }
  Reflect.deleteProperty(Row.prototype, "constructor");
  return Row;
})();

/**
 * Detections of one image, best first. The columns are views of the decoder's memory, `maxDetections` rows long; the
 * first `length` rows count. The next `decode` overwrites them; `copy()` keeps them.
 * @example
 * import { createDecoderSync } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "boxes", classes: 2, labels: ["person", "cat"], coordinates: "normalised"
 * }); const found = decoder.decode({
 *   boxes: { data: [0, 0, 0.5, 0.5, 0.6, 0.6, 0.9, 0.9, 0.6, 0, 1, 0.5], dims: [1, 3, 4] },
 *   scores: { data: [0.125, 0.5, 0.75, 0.125, 0.125, 0.125], dims: [1, 3, 2] },
 * });
 * const kept = found.copy(); // the next decode leaves it alone
 * console.log(kept.length, kept.at(0)?.label, [...kept.scores]); // 2 person [0.75,0.5]
 */
export class Detections implements Iterable<Detection>, TaskColumns {
  /** Number of rows that count. */
  readonly length: number = 0;
  /** x_min, y_min, x_max, y_max of each row, side by side; 0..1, like `Detection`. */
  readonly boxes: Float32Array;
  /** Confidence of each row, 0..1, falling. */
  readonly scores: Float32Array;
  /** Class id of each row: an index into the config's labels. */
  readonly classIds: Int32Array;
  /**
   * Index of the cell that each row came from. Cells are counted head by head, anchor by anchor, row by row;
   * `describe()` gives each head's first index.
   */
  readonly sources: Uint32Array;
  /** Class names by class id; null if the config has none. */
  readonly labels: readonly string[] | null;
  declare readonly keypoints?: Float32Array;
  declare readonly keypointNames?: readonly string[];
  declare readonly edges?: readonly (readonly [number, number])[];
  declare readonly depths?: Float32Array;
  declare readonly presences?: Float32Array;
  declare readonly world?: Float32Array;
  declare readonly nextCrops?: Float32Array;
  declare readonly fusedScores?: Float32Array;
  declare readonly angles?: Float32Array;
  declare readonly corners?: Float32Array;

  /**
   * Decoders call this: `length` is 0 until they have written rows. For detections of your own, pass a list of records:
   * drawing, exporters and trackers take one.
   */
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
    this.labels = labels;
    // `console.log` of Node, Bun and Deno shows the rows. A method with a computed name would keep the class in every
    // bundle.
    Object.defineProperty(this, Symbol.for("nodejs.util.inspect.custom"), { value: this.toArray });
  }

  /** Returns row `i` as an object; a negative `i` counts from the end. Undefined if there is no such row. */
  at(i: number): Detection | undefined {
    const row = i < 0 ? this.length + i : i;
    if (!(Number.isInteger(row) && row >= 0 && row < this.length)) return undefined;
    const d: Detection = new Row(this, row);
    taskFunctionsOf(this)?.row?.(this, row, d);
    return d;
  }

  /**
   * Returns the mask of row `i`.
   * @throws TypeError if the network has no masks
   */
  mask(i: number, options?: MaskOptions): Mask {
    const mask = taskFunctionsOf(this)?.mask;
    if (!mask) throw new TypeError('got no masks, expected what a decoder with task "segment" returned');
    return mask(this, i, options);
  }

  /** Yields the rows in order of score. */
  *[Symbol.iterator](): Iterator<Detection> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as Detection;
  }

  /** Returns the rows as objects, which the next `decode` leaves alone. */
  toArray(): Detection[] {
    return [...this];
  }

  /**
   * Returns the rows that count in memory of their own, which the next `decode` leaves alone. `structuredClone` and
   * `postMessage` carry its columns and labels.
   */
  copy(): Detections {
    const n = this.length;
    const c = new Detections(
      this.boxes.slice(0, n * 4),
      this.scores.slice(0, n),
      this.classIds.slice(0, n),
      this.sources.slice(0, n),
      this.labels,
    );
    setLength(c, n);
    setFrameSize(c, frameSizeOf(this));
    taskFunctionsOf(this)?.copy(this, c);
    return c;
  }

  /** Returns what `JSON.stringify` writes: the rows. */
  toJSON(): Detection[] {
    return this.toArray();
  }
}

/** What the coordinates of a decoder's result refer to: an image, or [width, height] of the network's input. */
type FrameSize = ImageSides | readonly [width: number, height: number] | undefined;

const FRAME_SIZES = /* @__PURE__ */ new WeakMap<Detections, FrameSize>();

interface ImageSides {
  readonly width: number;
  readonly height: number;
}

/** Remembers the frame of a result, or the size of the network's input if the decoder was given no frame. */
export function setFrameSize(detections: Detections, size: FrameSize): void {
  // Results are reused: most streams have one frame, and set it once.
  if (FRAME_SIZES.get(detections) !== size) FRAME_SIZES.set(detections, size);
}

/** Returns the frame of these detections, or the size of the network's input; undefined if neither is known. */
export const frameSizeOf = (detections: Detections): FrameSize => FRAME_SIZES.get(detections);

/** Sets the number of rows. Only a decoder may do so: for everybody else `length` is read-only. */
export function setLength(d: { -readonly [K in keyof Detections]: Detections[K] }, n: number): void {
  d.length = n;
}

/** What a decoder knows of its task. */
export interface KnownTask {
  readonly name: string;
  readonly edges?: TaskColumns["edges"] | null;
}

/** The part of a task that reads records. */
export interface RowReader {
  readonly task: string;
  /**
   * Gives detections that were made of records the task's columns, if the records have them.
   * @throws RangeError if records differ in what they have
   */
  readonly readRows?: (
    detections: Detections,
    rows: readonly DetectionFields[],
    task: KnownTask | null,
  ) => void;
}

/** Throws a RangeError for records in another unit. A network may give a few boxes whose corners are exchanged. */
function checkRecords(rows: readonly DetectionFields[]): void {
  let swapped = 0;
  for (const d of rows) {
    const { x_min, y_min, x_max, y_max } = d;
    if (x_max < x_min || y_max < y_min) swapped++;
    if (isInPixels(x_min, y_min, x_max, y_max) || d.confidence > 1.01 || swapped * 2 > rows.length)
      refuse("detections", JSON.stringify(d), "corners and confidence in 0..1", RangeError);
  }
}

/**
 * Makes columns of records. Label texts come from the records; `sources` may be shorter. Every task adds its columns.
 * @throws RangeError for records that are no detections in 0..1; ConfigError if none of `tasks` knows their columns
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

/** Makes views of the columns in a decoder's memory, `rows` rows long. */
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

/** Rounds alike everywhere, unlike Math.hypot. */
const distanceOf = (a: Point, b: Point): number =>
  Math.sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));

/**
 * Returns the centre of an oriented box, and the lengths of its sides. The width lies along the angle: boxes of text
 * begin at another corner than those of a network with angles.
 */
function sidesOf([a, b, c, d]: readonly Point[], angle = NaN): Partial<Detection> {
  const along = (p: Point): number => Math.abs((p.x - a.x) * Math.cos(angle) + (p.y - a.y) * Math.sin(angle));
  const [first, last] = [distanceOf(a, b), distanceOf(a, d)];
  // Compare the cosines of both sides to the angle.
  const isFirst = along(b) * last > along(d) * first;
  return {
    cx: (a.x + c.x) / 2,
    cy: (a.y + c.y) / 2,
    width: isFirst ? first : last,
    height: isFirst ? last : first,
  };
}

/**
 * Returns a detection in pixels of an image of that size: x times the width, y times the height, neither rounded nor
 * clamped. `width` and `height` of an oriented box are those of its own sides; `x_min` to `y_max` are the upright box
 * around it.
 * @throws RangeError if the size is not positive or `d` is in pixels already, TypeError if `d` is not a detection
 * @example
 * import { toPixels } from "boxwright";
 *
 * const d = { class_id: 0, label: "cat", confidence: 0.9, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };
 * const { x, y, width, height } = toPixels(d, 640, 480);
 * console.log(x, y, width, height); // 160 240 320 240
 */
export function toPixels(d: DetectionFields, width: number, height: number): Detection {
  if (typeof (d as Partial<DetectionFields> | undefined)?.x_min !== "number")
    throw new TypeError("got something without x_min, expected a detection; of several, each by itself");
  if (!([width, height].every(Number.isFinite) && width > 0 && height > 0))
    throw new RangeError(
      `got ${String(width)} x ${String(height)}, expected width and height of the image in pixels`,
    );
  if (isInPixels(d.x_min, d.y_min, d.x_max, d.y_max))
    throw new RangeError(
      `got a box from (${d.x_min}, ${d.y_min}) to (${d.x_max}, ${d.y_max}), expected coordinates 0..1: is it in pixels already?`,
    );
  const scaled = (key: "keypoints" | "corners"): Partial<DetectionFields> | undefined =>
    d[key] && {
      [key]: d[key].map((p: Keypoint | Point) => ({
        ...p,
        x: p.x * width,
        y: p.y * height,
        ...("z" in p && p.z !== undefined && { z: p.z * width }),
      })),
    };
  const pixels: DetectionFields = {
    ...d,
    x_min: d.x_min * width,
    y_min: d.y_min * height,
    x_max: d.x_max * width,
    y_max: d.y_max * height,
    ...scaled("keypoints"),
    ...scaled("corners"),
  };
  const { corners } = pixels;
  // A caller may have put fields of his own beside these: keep them.
  return Object.setPrototypeOf(
    corners?.length === 4 ? { ...pixels, ...sidesOf(corners, d.angle) } : pixels,
    Row.prototype,
  ) as Detection;
}
