/** The result of a decode: columns for speed, objects for those who iterate. */
import { setOwner } from "../core/counted-rows.ts";
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { DetectionColumns } from "../memory/layout.ts";
import type { Mask, MaskOptions, MaskRle } from "./mask.ts";

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
 * The fields of a detection. Coordinates are 0..1 across the image of the frame. Without a frame they are 0..1 across
 * the network's input. The config format's own records have the same names.
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
  /** The four corners, in order around the box. Only networks with oriented boxes give them. */
  readonly corners?: readonly Point[];
  /** Only of an oriented box in pixels, by `toPixels`: its centre. Width and height are then those along its sides. */
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
  /** z of each keypoint, in the unit of x. Only networks with a depth give it. */
  readonly depths?: Float32Array;
  /** Probability that each keypoint lies inside the picture. Only MediaPipe's pose network gives it. */
  readonly presences?: Float32Array;
  /** x, y, z of each keypoint in metres. Only MediaPipe's hand and pose networks give them. */
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

/** Functions of a task that work on its detections. A task passes them to `extend`. */
export interface TaskFunctions {
  /** Adds the task's fields to the object of a row. */
  readonly row?: (
    detections: Detections,
    row: number,
    d: { -readonly [K in keyof Detection]: Detection[K] },
  ) => void;
  /** Gives a copy the columns of the rows that count, and whatever `mask` needs. */
  readonly copy: (detections: Detections, copy: Detections) => void;
  /** Hands what `mask` needs to detections made of some rows of a copy. Row i of `to` is row `rows[i]`. */
  readonly select?: (rows: readonly number[], to: Detections) => void;
  readonly mask?: (detections: Detections, row: number, options?: MaskOptions) => Mask;
}

/**
 * Gives detections the columns of a task, which `structuredClone` carries, and the functions, which it does not.
 */
export function extend(detections: Detections, columns: TaskColumns, taskFunctions: TaskFunctions): void {
  Object.defineProperty(Object.assign(detections, columns), "taskFunctions", { value: taskFunctions });
}

/** Returns the functions of detections without their masks. `mask` throws an error that says where the masks are. */
export function withoutMasks(got: string, expected: string): TaskFunctions {
  const keep = (_: unknown, to: Detections): void => extend(to, {}, taskFunctions);
  const mask = (): never => refuse("mask", got, expected, TypeError);
  const taskFunctions: TaskFunctions = { copy: keep, select: keep, mask };
  return taskFunctions;
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

/** Throws a TypeError about a use of detections as an array. */
const refuseArray = (use: string, got: string, expected: string): never =>
  refuse(`detections${use}`, got, `${expected} or a loop: detections are no array`, TypeError);

/** Throws a TypeError about a method that only arrays have. */
const refuseMethod = (name: string): never =>
  refuseArray(`.${name}`, "a method of arrays", `toArray().${name}`);

const isIndex = (key: string | symbol): boolean => typeof key === "string" && /^-?\d+$/.test(key);

/**
 * The class behind `Detections`. Its prototype refuses the index of a row, which would be undefined: names that
 * detections have are found before it.
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
  // Every frame asks for columns that most networks lack. A call of the proxy would make garbage.
  const columns = [...POINT_COLUMNS, "keypointNames", "edges", "angles", "corners"].map(
    (name) => [name, { value: undefined, writable: true }] as const,
  );
  Unindexed.prototype = Object.create(refusing, Object.fromEntries(columns)) as object;
  return Unindexed as unknown as new () => object;
})();

/** Key of the count of rows behind `length`. */
const COUNT = /* @__PURE__ */ Symbol("count");

interface WithCount {
  [COUNT]: number;
}

/** `length` of each result. An own property, since `structuredClone` carries no others. */
const LENGTH = {
  enumerable: true,
  get(this: WithCount): number {
    return this[COUNT];
  },
  set: (length: unknown): never =>
    refuse("detections.length", show(length), "no change: toArray() gives a list to cut", TypeError),
};

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
export class Detections extends Unindexed implements Iterable<Detection>, TaskColumns {
  /** Detections are no array: `at(i)` returns a row. */
  readonly [row: number]: RowsAreReadByAt;
  /** Number of rows that count. */
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
    super();
    Object.defineProperty(this, COUNT, { value: 0, writable: true });
    Object.defineProperty(this, "length", LENGTH);
    // Boxes alone have none: without this each row would ask the prototype behind.
    Object.defineProperty(this, "taskFunctions", { value: undefined, configurable: true });
    this.boxes = boxes;
    this.scores = scores;
    this.classIds = classIds;
    this.sources = sources;
    this.labels = labels;
    // `console.log` of Node, Bun and Deno shows the rows. A method with a computed name would keep the class in every
    // bundle.
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
   * Returns row `i` as an object; a negative `i` counts from the end. Undefined if there is no such row.
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

/** Detections in a decoder's memory: its next call overwrites them. `copy()` and `toArray()` keep them. */
export type ReusedDetections = Detections;

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

/**
 * Returns the frame of detections as text if these are its sides with width and height exchanged; else null. Takes
 * anything: lists and clones have no frame.
 */
export function frameIfExchanged(detections: unknown, width: number, height: number): string | null {
  const size = FRAME_SIZES.get(detections as Detections);
  if (size === undefined || !("width" in size) || size.width === size.height) return null;
  return size.width === height && size.height === width ? `a frame of ${size.width}x${size.height}` : null;
}

/** Sets the number of rows. Only a decoder may do so: for everybody else `length` is read-only. */
export function setLength(d: Detections, n: number): void {
  (d as unknown as WithCount)[COUNT] = n;
}

/** Makes views of the columns in a decoder's memory, `rows` rows long. */
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
