/** `Detections`, the result of a decode: columns for speed, and objects for loops. */
import { setOwner } from "../core/counted-rows.ts";
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { DetectionColumns } from "../memory/layout.ts";
import type { Mask, MaskOptions, MaskRle } from "./mask.ts";

/** A keypoint. Coordinates have the same unit as the detection's box. */
export interface Keypoint {
  readonly x: number;
  readonly y: number;
  /** Confidence in 0..1. 1 if the network outputs none. */
  readonly confidence: number;
  /** Name of the keypoint, if the config has names. */
  readonly name?: string;
  /** Depth in the unit of x, smaller in front. Only for networks that output a depth. */
  readonly z?: number;
  /** Probability that the point lies inside the picture. `confidence` is then the probability that it is visible. */
  readonly presence?: number;
  /** The point in metres, relative to the middle of the hand, or to the middle of the body's hips. */
  readonly world?: { readonly x: number; readonly y: number; readonly z: number };
}

/** A point. Coordinates have the same unit as the detection's box. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The fields of a detection. Coordinates are 0..1 across the image of the frame, or across the network's input if there
 * is no frame. The detection records of a packet have fields with the same names.
 */
export interface DetectionFields {
  readonly class_id: number;
  /** Label from the config. If there are no labels, the class id as text. */
  readonly label: string;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  /** Keypoints. Only for networks with keypoints. */
  readonly keypoints?: readonly Keypoint[];
  /** Score that RF-DETR's `predict()` gives for keypoints: lower if points are uncertain. Only for RF-DETR. */
  readonly fused_confidence?: number;
  /** Angle in radians, measured in pixels of the image. Only for networks with oriented boxes. */
  readonly angle?: number;
  /** The four corners, in order around the box. Only for networks with oriented boxes. */
  readonly corners?: readonly Point[];
  /** Centre of an oriented box. Only after `toPixels`: width and height are then those of the box's own sides. */
  readonly cx?: number;
  readonly cy?: number;
}

/** A detection with its mask as data. `withMasks` makes it. */
export interface MaskedFields extends DetectionFields {
  readonly mask?: MaskRle;
}

/** Columns that a task adds to detections. */
export interface TaskColumns {
  /** x, y, confidence of each keypoint, row by row, 0..1 like boxes. Only for networks with keypoints. */
  readonly keypoints?: Float32Array;
  /** Names of the keypoints, in order, if the config has names. */
  readonly keypointNames?: readonly string[];
  /** Pairs of keypoints that a skeleton connects, if the config has pairs. */
  readonly edges?: readonly (readonly [number, number])[];
  /** z of each keypoint, in the unit of x. Only for networks that output a depth. */
  readonly depths?: Float32Array;
  /** Probability that each keypoint lies inside the picture. Only for MediaPipe's pose network. */
  readonly presences?: Float32Array;
  /** x, y, z of each keypoint in metres. Only for MediaPipe's hand and pose networks. */
  readonly world?: Float32Array;
  /** `fused_confidence` of each row. Only for RF-DETR with keypoints. */
  readonly fusedScores?: Float32Array;
  /** Crop of each row for the next frame: centre, sides in pixels, angle. Only for MediaPipe's landmarks. */
  readonly nextCrops?: Float32Array;
  /** Angle of each row in radians. Only for networks with oriented boxes. */
  readonly angles?: Float32Array;
  /** x, y of each corner, four corners per row, 0..1 like boxes. Only for networks with oriented boxes. */
  readonly corners?: Float32Array;
}

/** Columns of tasks that have values for each row, unlike `keypointNames` and `edges`. */
export const TASK_COLUMNS = [
  "keypoints",
  "depths",
  "presences",
  "world",
  "nextCrops",
  "fusedScores",
  "angles",
  "corners",
] as const satisfies readonly (keyof TaskColumns)[];
export type TaskColumn = (typeof TASK_COLUMNS)[number];

/** Count of values in a row of `corners`: x and y of each of the four corners. */
export const CORNER_VALUES = 8;

/** Functions that a task adds to its detections by `extend`. */
export interface TaskFunctions {
  /** Adds the task's fields to the object of one row. */
  readonly row?: (
    detections: Detections,
    row: number,
    d: { -readonly [K in keyof Detection]: Detection[K] },
  ) => void;
  /** Copies the columns of the first `length` rows, and the data that `mask` needs, to a copy. */
  readonly copy: (detections: Detections, copy: Detections) => void;
  /**
   * Passes the data of `mask` to detections that were made from some rows of a copy. Row i of `to` is row `rows[i]`.
   */
  readonly select?: (rows: readonly number[], to: Detections) => void;
  readonly mask?: (detections: Detections, row: number, options?: MaskOptions) => Mask;
}

/** Adds a task's columns and functions to detections. `structuredClone` copies the columns, but not the functions. */
export function extend(detections: Detections, columns: TaskColumns, taskFunctions: TaskFunctions): void {
  Object.defineProperty(Object.assign(detections, columns), "taskFunctions", { value: taskFunctions });
}

/** Returns functions for detections whose masks are elsewhere. `mask` throws an error that says where. */
export function withoutMasks(got: string, expected: string): TaskFunctions {
  const keep = (_: unknown, to: Detections): void => extend(to, {}, taskFunctions);
  const mask = (): never => refuse("mask", got, expected, TypeError);
  const taskFunctions: TaskFunctions = { copy: keep, select: keep, mask };
  return taskFunctions;
}

/** Returns the functions that a task added. Undefined if the detections are only boxes, or a clone. */
export const taskFunctionsOf = (detections: Detections): TaskFunctions | undefined =>
  (detections as { taskFunctions?: TaskFunctions }).taskFunctions;

/** A box with its label. `x`, `y`, `width` and `height` are computed, and are not in JSON or clones. */
export interface Detection extends DetectionFields {
  /** Left edge. */
  readonly x: number;
  /** Top edge. */
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * JavaScript class of each detection. Its prototype has no `constructor`, so that a detection prints like a plain
 * object. An object literal with a prototype would take ten times as long to create.
 */
export const Row = /* @__PURE__ */ (() => {
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

/** Type that makes the compiler refuse `detections[0]`. Use `at(0)`, `toArray()` or a loop. */
export interface RowsAreReadByAt {
  readonly "detections are no array: call at(i), toArray() or loop over them": never;
}

const refuseArray = (use: string, got: string, expected: string): never =>
  refuse(`detections${use}`, got, `${expected} or a loop: detections are no array`, TypeError);

/** Throws a TypeError: the caller uses an array method that detections do not have. */
const refuseMethod = (name: string): never =>
  refuseArray(`.${name}`, "a method of arrays", `toArray().${name}`);

const isIndex = (key: string | symbol): boolean => typeof key === "string" && /^-?\d+$/.test(key);

/**
 * Base class of `Detections`. Its prototype is a proxy that refuses an index: otherwise `detections[0]` would be
 * undefined without an error. JavaScript finds the members of `Detections` before it asks the proxy.
 */
const Unindexed = /* @__PURE__ */ (() => {
  function Unindexed(): void {}
  const refusing: object = new Proxy(
    {},
    {
      get: (target, key, self): unknown =>
        isIndex(key)
          ? refuseArray(`[${String(key)}]`, "an index", `at(${String(key)}), toArray()[${String(key)}]`)
          : Reflect.get(target, key, self),
      set: (target, key, value, self): boolean =>
        isIndex(key)
          ? refuseArray(`[${String(key)}]`, "a new row", "toArray()")
          : Reflect.set(target, key, value, self),
    },
  );
  // Define the columns that most networks lack as undefined. Every frame reads them, and the proxy would allocate.
  const columns = [...TASK_COLUMNS, "keypointNames", "edges"].map(
    (name) => [name, { value: undefined, writable: true }] as const,
  );
  Unindexed.prototype = Object.create(refusing, Object.fromEntries(columns)) as object;
  return Unindexed as unknown as new () => object;
})();

/** Key of the row count that `length` returns. */
const COUNT = /* @__PURE__ */ Symbol("count");

interface WithCount {
  [COUNT]: number;
}

/** Property `length` of each result. It must be an own property, because `structuredClone` copies no others. */
const LENGTH = {
  enumerable: true,
  get(this: WithCount): number {
    return this[COUNT];
  },
  set: (length: unknown): never =>
    refuse("detections.length", show(length), "no change: toArray() gives a list to cut", TypeError),
};

/**
 * Detections of one image, best first. The columns are views of the decoder's memory. They have `maxDetections` rows,
 * and the first `length` are valid. The next `decode` overwrites them, so keep results with `copy()`.
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
export class Detections extends Unindexed implements Iterable<Detection>, TaskColumns {
  /** Detections are not an array: `at(i)` returns row i. */
  readonly [row: number]: RowsAreReadByAt;
  /** Count of valid rows. */
  declare readonly length: number;
  /** x_min, y_min, x_max, y_max of each row, side by side. Coordinates are 0..1, as in `Detection`. */
  readonly boxes: Float32Array;
  /** Confidence of each row, 0..1, the highest first. */
  readonly scores: Float32Array;
  /** Class id of each row: an index into the config's labels. */
  readonly classIds: Int32Array;
  /** Index of the cell of each row, counted head by head, anchor by anchor, row by row; see `describe()`. */
  readonly sources: Uint32Array;
  /** Class names by class id. Null if the config has no names. */
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
   * For decoders only. `length` is 0 until the decoder writes rows. To pass your own detections to drawing, exporters
   * and trackers, use a list of records instead.
   */
  constructor(
    boxes: Float32Array,
    scores: Float32Array,
    classIds: Int32Array,
    sources: Uint32Array,
    labels: readonly string[] | null,
  ) {
    super();
    Object.defineProperty(this, COUNT, { value: 0, writable: true });
    Object.defineProperty(this, "length", LENGTH);
    // Define `taskFunctions` for detections without a task too: otherwise, each row would ask the proxy.
    Object.defineProperty(this, "taskFunctions", { value: undefined, configurable: true });
    this.boxes = boxes;
    this.scores = scores;
    this.classIds = classIds;
    this.sources = sources;
    this.labels = labels;
    // Make `console.log` of Node, Bun and Deno show the rows. A method with a computed name would keep the class in
    // every bundle.
    Object.defineProperty(this, Symbol.for("nodejs.util.inspect.custom"), { value: this.toArray });
  }

  /** @throws TypeError, since detections are not an array */
  get map(): RowsAreReadByAt {
    return refuseMethod("map");
  }

  /** @throws TypeError, since detections are not an array */
  get filter(): RowsAreReadByAt {
    return refuseMethod("filter");
  }

  /** @throws TypeError, since detections are not an array */
  get find(): RowsAreReadByAt {
    return refuseMethod("find");
  }

  /** @throws TypeError, since detections are not an array */
  get forEach(): RowsAreReadByAt {
    return refuseMethod("forEach");
  }

  /**
   * Returns row `i` as an object. A negative `i` counts from the end. Returns undefined if there is no such row.
   * @throws TypeError if `i` is not a number
   */
  at(i: number): Detection | undefined {
    if (typeof i !== "number") refuse("at", show(i), "the index of a row, a number", TypeError);
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

  /** Yields the rows as objects, best first. */
  *[Symbol.iterator](): Iterator<Detection> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as Detection;
  }

  /** Returns the rows as objects. The next `decode` does not change them. */
  toArray(): Detection[] {
    return [...this];
  }

  /**
   * Returns a copy of the valid rows with its own memory. The next `decode` does not change the copy. `structuredClone`
   * and `postMessage` keep its columns and labels.
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

  /** Returns the detections as a list. `JSON.stringify` calls this. */
  toJSON(): Detection[] {
    return this.toArray();
  }
}

/** Detections in a decoder's memory. The decoder's next call overwrites them. `copy()` and `toArray()` keep them. */
export type ReusedDetections = Detections;

/** Picture to which a result's coordinates refer: an image, or [width, height] of the network's input. */
type FrameSize = ImageSides | readonly [width: number, height: number] | undefined;

const FRAME_SIZES = /* @__PURE__ */ new WeakMap<Detections, FrameSize>();

interface ImageSides {
  readonly width: number;
  readonly height: number;
}

/** Stores the frame of a result. If there was no frame, stores the size of the network's input. */
export function setFrameSize(detections: Detections, size: FrameSize): void {
  // Write only a changed value: results are reused, and most streams have one frame size.
  if (FRAME_SIZES.get(detections) !== size) FRAME_SIZES.set(detections, size);
}

/** Returns the frame of these detections, or the size of the network's input. Undefined if neither is known. */
export const frameSizeOf = (detections: Detections): FrameSize => FRAME_SIZES.get(detections);

/** Returns the frame of detections as text if `width` is the frame's height and `height` its width; else null. */
export function frameIfExchanged(detections: unknown, width: number, height: number): string | null {
  const size = FRAME_SIZES.get(detections as Detections);
  if (size === undefined || !("width" in size) || size.width === size.height) return null;
  return size.width === height && size.height === width ? `a frame of ${size.width}x${size.height}` : null;
}

/** Sets the count of valid rows. Only for decoders: `length` is read-only elsewhere. */
export function setLength(d: Detections, n: number): void {
  (d as unknown as WithCount)[COUNT] = n;
}

/** Makes detections whose columns are views of a decoder's memory. Each column has `rows` rows. */
export function detectionsIn(
  buffer: ArrayBuffer,
  at: DetectionColumns,
  rows: number,
  labels: readonly string[] | null,
): Detections {
  const detections = new Detections(
    new Float32Array(buffer, at.boxes, rows * 4),
    new Float32Array(buffer, at.scores, rows),
    new Int32Array(buffer, at.classIds, rows),
    new Uint32Array(buffer, at.sources, rows),
    labels,
  );
  const { boxes, scores, classIds } = detections;
  setOwner(detections, [boxes, scores, classIds]);
  return detections;
}
