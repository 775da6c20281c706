/** `Detections`, the result of a decode: columns for speed, and objects for loops. */
import { setOwner } from "../core/counted-rows.ts";
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { DetectionColumns } from "../memory/layout.ts";
import type { Mask, MaskOptions, MaskRle } from "./mask.ts";

/** A keypoint. Coordinates have the unit of the detection's box. */
export interface Keypoint {
  readonly x: number;
  readonly y: number;
  /** Confidence in 0..1; 1 if the network gives none. */
  readonly confidence: number;
  /** Name of the keypoint, if the config has names. */
  readonly name?: string;
  /** Depth in the unit of x, smaller in front. Only from networks that give a depth. */
  readonly z?: number;
  /** Probability that the point lies inside the picture. `confidence` also says if it is visible. */
  readonly presence?: number;
  /** The point in metres, relative to the middle of the hand, or to the middle of the body's hips. */
  readonly world?: { readonly x: number; readonly y: number; readonly z: number };
}

/** A point, in the unit of the detection's box. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The fields of a detection. Coordinates are 0..1 across the image of the frame. Without a frame they are 0..1 across
 * the network's input. The config format's own records have the same names.
 */
export interface DetectionFields {
  readonly class_id: number;
  /** Label of the config, or the class id as text if it has none. */
  readonly label: string;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  /** Keypoints, from networks with keypoints only. */
  readonly keypoints?: readonly Keypoint[];
  /**
   * Score of RF-DETR's `predict()` for keypoints, lower where the points are uncertain. Only from RF-DETR with
   * keypoints.
   */
  readonly fused_confidence?: number;
  /** Angle in radians, in pixels of the image. Only from networks with oriented boxes. */
  readonly angle?: number;
  /** The four corners, in order around the box. Only from networks with oriented boxes. */
  readonly corners?: readonly Point[];
  /** Centre of an oriented box, only after `toPixels`. Width and height are then those along its own sides. */
  readonly cx?: number;
  readonly cy?: number;
}

/** A detection with its mask as data. `withMasks` makes it. */
export interface MaskedFields extends DetectionFields {
  readonly mask?: MaskRle;
}

/** Columns that a task adds to detections. */
export interface TaskColumns {
  /** x, y, confidence of each keypoint, row by row; 0..1, like the boxes. Only of a network with keypoints. */
  readonly keypoints?: Float32Array;
  /** Names of the keypoints, in order, if the config has them. */
  readonly keypointNames?: readonly string[];
  /** Pairs of keypoints that a skeleton joins, if the config has them. */
  readonly edges?: readonly (readonly [number, number])[];
  /** z of each keypoint, in the unit of x. Only networks with a depth have it. */
  readonly depths?: Float32Array;
  /** Probability that each keypoint lies inside the picture. Only MediaPipe's pose network has it. */
  readonly presences?: Float32Array;
  /** x, y, z of each keypoint in metres. Only MediaPipe's hand and pose networks have them. */
  readonly world?: Float32Array;
  /** Score of each row together with its keypoints, as in RF-DETR's `predict()`. Only RF-DETR with keypoints has it. */
  readonly fusedScores?: Float32Array;
  /**
   * Crop of each row for the next frame: centre x and y, width and height in pixels of the image, and the angle in
   * radians. Only MediaPipe's landmark networks have it.
   */
  readonly nextCrops?: Float32Array;
  /** Angle of each row in radians. Only of a network with oriented boxes. */
  readonly angles?: Float32Array;
  /** x, y of each corner, four a row; 0..1, like the boxes. Only of a network with oriented boxes. */
  readonly corners?: Float32Array;
}

/** Columns of keypoints whose rows all have the same count of numbers. `keypointNames` and `edges` are not. */
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

/** Functions that a task adds to its detections by `extend`. */
export interface TaskFunctions {
  /** Adds the task's fields to the object of one row. */
  readonly row?: (
    detections: Detections,
    row: number,
    d: { -readonly [K in keyof Detection]: Detection[K] },
  ) => void;
  /** Copies the columns of the first `length` rows, and what `mask` needs, to a copy. */
  readonly copy: (detections: Detections, copy: Detections) => void;
  /** Passes what `mask` needs to detections made of some rows of a copy. Row i of `to` is row `rows[i]`. */
  readonly select?: (rows: readonly number[], to: Detections) => void;
  readonly mask?: (detections: Detections, row: number, options?: MaskOptions) => Mask;
}

/** Adds a task's columns and functions to detections. `structuredClone` carries the columns, but not the functions. */
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

/** Returns the functions that a task added. Undefined for boxes alone, and for a clone. */
export const taskFunctionsOf = (detections: Detections): TaskFunctions | undefined =>
  (detections as { taskFunctions?: TaskFunctions }).taskFunctions;

/**
 * A box with its label. `x`, `y`, `width` and `height` are computed from its fields, in the same unit. JSON,
 * `structuredClone` and spreading carry only the fields.
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
 * The class behind each detection. Its prototype names no constructor, so that a detection prints as a plain object. A
 * literal with a prototype would take ten times as long to make.
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

/** Makes the compiler refuse `detections[0]`. Rows are read by `at(0)`, `toArray()` or a loop. */
export interface RowsAreReadByAt {
  readonly "detections are no array: call at(i), toArray() or loop over them": never;
}

/** Throws a TypeError: detections are used as an array. */
const refuseArray = (use: string, got: string, expected: string): never =>
  refuse(`detections${use}`, got, `${expected} or a loop: detections are no array`, TypeError);

/** Throws a TypeError: detections lack a method of arrays. */
const refuseMethod = (name: string): never =>
  refuseArray(`.${name}`, "a method of arrays", `toArray().${name}`);

const isIndex = (key: string | symbol): boolean => typeof key === "string" && /^-?\d+$/.test(key);

/**
 * Base class of `Detections`. Its prototype is a proxy that refuses an index such as `detections[0]`, which would be
 * undefined. Names that detections have are found before the proxy.
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
  // Define the columns that most networks lack: every frame reads them, and a call of the proxy would allocate.
  const columns = [...POINT_COLUMNS, "keypointNames", "edges", "angles", "corners"].map(
    (name) => [name, { value: undefined, writable: true }] as const,
  );
  Unindexed.prototype = Object.create(refusing, Object.fromEntries(columns)) as object;
  return Unindexed as unknown as new () => object;
})();

/** Key of the row count behind `length`. */
const COUNT = /* @__PURE__ */ Symbol("count");

interface WithCount {
  [COUNT]: number;
}

/** Property `length` of each result. It is an own property, since `structuredClone` carries no others. */
const LENGTH = {
  enumerable: true,
  get(this: WithCount): number {
    return this[COUNT];
  },
  set: (length: unknown): never =>
    refuse("detections.length", show(length), "no change: toArray() gives a list to cut", TypeError),
};

/**
 * Detections of one image, best first. The columns are views of the decoder's memory with `maxDetections` rows, of
 * which the first `length` are valid. The next `decode` overwrites them, so keep results with `copy()`.
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
  /** Detections are no array: `at(i)` returns row i. */
  readonly [row: number]: RowsAreReadByAt;
  /** Count of valid rows. */
  declare readonly length: number;
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
   * Used by decoders: `length` is 0 until they have written rows. For detections of your own pass a list of records,
   * which drawing, exporters and trackers take as well.
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
    // Define this for boxes alone, or each row would ask the proxy.
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

  /** @throws TypeError: detections are no array */
  get map(): RowsAreReadByAt {
    return refuseMethod("map");
  }

  /** @throws TypeError: detections are no array */
  get filter(): RowsAreReadByAt {
    return refuseMethod("filter");
  }

  /** @throws TypeError: detections are no array */
  get find(): RowsAreReadByAt {
    return refuseMethod("find");
  }

  /** @throws TypeError: detections are no array */
  get forEach(): RowsAreReadByAt {
    return refuseMethod("forEach");
  }

  /**
   * Returns row `i` as an object, counted from the end if `i` is negative. Undefined if there is no such row.
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
   * Returns the valid rows in memory of their own, which the next `decode` does not change. `structuredClone` and
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

/** Detections in a decoder's memory, which its next call overwrites. `copy()` and `toArray()` keep them. */
export type ReusedDetections = Detections;

/** What a result's coordinates are relative to: an image, or [width, height] of the network's input. */
type FrameSize = ImageSides | readonly [width: number, height: number] | undefined;

const FRAME_SIZES = /* @__PURE__ */ new WeakMap<Detections, FrameSize>();

interface ImageSides {
  readonly width: number;
  readonly height: number;
}

/** Records the frame of a result, or the size of the network's input if there was no frame. */
export function setFrameSize(detections: Detections, size: FrameSize): void {
  // Write only a changed value: results are reused, and most streams have one frame.
  if (FRAME_SIZES.get(detections) !== size) FRAME_SIZES.set(detections, size);
}

/** Returns the frame of these detections, or the size of the network's input. Undefined if neither is known. */
export const frameSizeOf = (detections: Detections): FrameSize => FRAME_SIZES.get(detections);

/**
 * Returns the frame of detections as text if width and height are its sides exchanged, else null. Accepts lists and
 * clones, which have no frame.
 */
export function frameIfExchanged(detections: unknown, width: number, height: number): string | null {
  const size = FRAME_SIZES.get(detections as Detections);
  if (size === undefined || !("width" in size) || size.width === size.height) return null;
  return size.width === height && size.height === width ? `a frame of ${size.width}x${size.height}` : null;
}

/** Sets the count of valid rows. For decoders only: `length` is read-only for everybody else. */
export function setLength(d: Detections, n: number): void {
  (d as unknown as WithCount)[COUNT] = n;
}

/** Makes detections whose columns are views of a decoder's memory, `rows` rows long. */
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
