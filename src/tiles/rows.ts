/** Holds the detections of tiles in limited memory, in coordinates of the picture: boxes, and the columns of tasks. */
import { knownOf } from "../core/json.ts";
import { refuseValue } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import {
  type Detections,
  type TaskColumns,
  type TaskFunctions,
  extend,
  frameSizeOf,
  taskFunctionsOf,
  withoutMasks,
  TASK_COLUMNS,
  type TaskColumn,
} from "../decode/detections.ts";
import { checkRoom } from "../decode/rows.ts";
import { ORIENTED_ROWS } from "../tasks/oriented/rows.ts";
import { KEYPOINT_WIDTH, POSE_ROWS } from "../tasks/pose/rows.ts";
import type { Tile } from "./plan.ts";

/** Mask functions that throw, since the prototypes of earlier tiles are overwritten. */
const WITHOUT_MASKS = /* @__PURE__ */ withoutMasks(
  "merged detections of tiles",
  "those of a tile: make masks of its detections before the next decode()",
);

/** Numbers per row: four corner coordinates in pixels of the picture, and the score. */
export const ROW = 5;

/** Returns the columns besides boxes as text for errors. The text must be equal for all tiles. */
function kindOf(detections: Detections): string {
  const { keypoints, angles, scores } = detections;
  const others = TASK_COLUMNS.slice(1, -2).filter((name) => detections[name]);
  const kind = angles
    ? "oriented boxes"
    : keypoints
      ? `${keypoints.length / scores.length / KEYPOINT_WIDTH} keypoints a row`
      : "boxes alone";
  return [kind, ...others].join(" with ");
}

/** Returns a function that converts value `k` of a row in column `name` from tile to picture coordinates. */
function moveOf(
  name: TaskColumn,
  { x, y, width, height }: Tile,
  [w, h]: readonly [number, number],
): (value: number, k: number) => number {
  const place = (v: number, axis: number): number =>
    axis === 0 ? (x + v * width) / w : (y + v * height) / h;
  const moves: { readonly [N in TaskColumn]?: (value: number, k: number) => number } = {
    keypoints: (v, k) => (k % KEYPOINT_WIDTH < 2 ? place(v, k % KEYPOINT_WIDTH) : v),
    corners: (v, k) => place(v, k & 1),
    depths: (v) => (v * width) / w,
    // Move only the centre, since crops are in pixels. Width, height and angle stay.
    nextCrops: (v, k) => (k === 0 ? v + x : k === 1 ? v + y : v),
  };
  return moves[name] ?? ((v) => v);
}

function checkTile(tile: Tile, [width, height]: readonly [number, number]): void {
  const { x, y, width: w, height: h } = tile ?? {};
  const areNumbers = [x, y, w, h].every(Number.isFinite);
  // Refuse sides below 1 pixel: the tile is in 0..1 by mistake.
  if (!(areNumbers && x >= 0 && y >= 0 && w >= 1 && h >= 1 && x + w <= width && y + h <= height))
    refuseValue(
      "tile",
      typeof tile === "object" && tile !== null
        ? `{x: ${show(x)}, y: ${show(y)}, width: ${show(w)}, height: ${show(h)}}`
        : show(tile),
      `a part of the picture of ${width} x ${height} pixels, from tiles()`,
    );
}

/** Throws a RangeError if the detections were decoded for a frame of another size than the tile. */
function checkFrameOf(detections: Detections, width: number, height: number): void {
  const size = frameSizeOf(detections);
  if (size === undefined) return;
  // A list is the input size of a decode without a frame. Its boxes are in 0..1 of the input, which equals 0..1 of the
  // tile only if both have the same aspect ratio.
  const isInput = Array.isArray(size);
  const [w, h] = "width" in size ? [size.width, size.height] : size;
  const isTile = isInput
    ? Math.abs(w * height - h * width) <= Math.max(w, h)
    : Math.abs(w - width) <= 1 && Math.abs(h - height) <= 1;
  if (isTile) return;
  refuseValue(
    "detections",
    `those of ${isInput ? `an input of ${w}x${h} without a frame` : `a frame of ${w}x${h}`} for a tile of ${width}x${height}`,
    "crop" in size && size.crop
      ? `{ x: 0, y: 0, width: ${w}, height: ${h} } as the tile: what was found in a crop is in 0..1 of the whole picture`
      : `the tile as the frame: decode(outputs, { width: ${width}, height: ${height}, resize })`,
  );
}

export class TileRows {
  length = 0;
  /** Count of dropped rows, those with the lowest scores. */
  dropped = 0;
  /** `ROW` doubles per row. */
  rows = new Float64Array(0);
  classIds = new Int32Array(0);
  sources = new Uint32Array(0);
  labels: readonly string[] | null = null;
  readonly #size: readonly [number, number];
  readonly #most: number;
  /** Values of tasks per row and column, in coordinates of the picture. */
  #columns: Partial<Record<TaskColumn, Float32Array[]>> = {};
  /** The columns of the rows besides boxes, as text (`kindOf`). */
  #kind = "";
  #hasMasks = false;
  #named: Pick<TaskColumns, "keypointNames" | "edges"> = {};
  #taskFunctions: TaskFunctions | null = null;

  /** @param most largest number of rows to hold. Beyond it, the rows with the lowest scores are dropped */
  constructor(size: readonly [number, number], most: number) {
    this.#size = size;
    this.#most = most;
  }

  add(tile: Tile, detections: Detections): void {
    checkTile(tile, this.#size);
    const given: Partial<Detections> = (detections as Detections | null) ?? {};
    // Refuse a copy that went through JSON: its columns are plain objects.
    if (
      ![given.boxes, given.scores, given.classIds, given.sources].every((column) =>
        ArrayBuffer.isView(column),
      )
    )
      refuseValue("detections", show(detections), "what decode() returned for the tile, or a clone of it");
    checkRoom(detections);
    const { x, y, width, height } = tile;
    checkFrameOf(detections, width, height);
    if (detections.length > 0) this.#checkKind(detections);
    const { length: n, boxes, scores, classIds, sources } = detections;
    this.#grow(this.length + n);
    for (let i = 0; i < n; i++) {
      const row = this.length + i;
      for (let k = 0; k < 4; k += 2) {
        this.rows[row * ROW + k] = x + boxes[i * 4 + k] * width;
        this.rows[row * ROW + k + 1] = y + boxes[i * 4 + k + 1] * height;
      }
      this.rows[row * ROW + 4] = scores[i];
      this.classIds[row] = classIds[i];
      this.sources[row] = sources[i];
    }
    if (n > 0) this.#addColumns(tile, detections);
    this.length += n;
    this.labels ??= detections.labels;
    this.#hasMasks ||= taskFunctionsOf(detections)?.mask !== undefined;
    if (this.length > this.#most) this.#dropLowest();
  }

  /** Throws if detections have other columns or class names than earlier tiles, and so come from another network. */
  #checkKind(detections: Detections): void {
    const { labels } = detections;
    const kind = kindOf(detections);
    const names = labels?.join() ?? "none";
    if (this.length > 0 && kind !== this.#kind)
      refuseValue("detections", kind, `${this.#kind}, as in the tiles before`);
    if (this.length > 0 && names !== (this.labels?.join() ?? "none"))
      refuseValue("detections", `labels ${show(labels)}`, "those of the tiles before, of one network");
    this.#kind = kind;
  }

  /** Adds a tile's values in the columns of tasks, in coordinates of the picture. */
  #addColumns(tile: Tile, detections: Detections): void {
    const { length, scores, keypoints, angles, keypointNames, edges } = detections;
    for (const name of TASK_COLUMNS) {
      const column = detections[name];
      if (!column) continue;
      const width = column.length / scores.length;
      const move = moveOf(name, tile, this.#size);
      const held = (this.#columns[name] ??= []);
      for (let i = 0; i < length; i++)
        held[this.length + i] = column.slice(i * width, (i + 1) * width).map(move);
    }
    this.#named = knownOf({ keypointNames, edges });
    // Choose the functions of rows by the columns, since cloned detections have no functions.
    this.#taskFunctions = keypoints ? POSE_ROWS : angles ? ORIENTED_ROWS : null;
  }

  #grow(rows: number): void {
    if (this.classIds.length >= rows) return;
    const n = Math.max(rows, 2 * this.classIds.length);
    const { rows: oldRows, classIds, sources } = this;
    this.rows = new Float64Array(n * ROW);
    this.rows.set(oldRows);
    this.classIds = new Int32Array(n);
    this.classIds.set(classIds);
    this.sources = new Uint32Array(n);
    this.sources.set(sources);
  }

  /** Keeps the rows with the best scores, in their present order. Among equal scores, keeps the earlier rows. */
  #dropLowest(): void {
    const { rows } = this;
    const most = this.#most;
    const order = Uint32Array.from({ length: this.length }, (_, i) => i);
    order.sort((a, b) => rows[b * ROW + 4] - rows[a * ROW + 4] || a - b);
    order
      .subarray(0, most)
      .sort()
      .forEach((from, to) => {
        rows.copyWithin(to * ROW, from * ROW, (from + 1) * ROW);
        this.classIds[to] = this.classIds[from];
        this.sources[to] = this.sources[from];
        for (const held of Object.values(this.#columns)) held[to] = held[from];
      });
    this.dropped += this.length - most;
    this.length = most;
  }

  /** Adds the columns of tasks to merged detections. `rows` has one row index per detection. */
  extendWith(merged: Detections, rows: readonly number[]): void {
    const columns = Object.entries(this.#columns).map(([name, held]) => [
      name,
      Float32Array.from(rows.flatMap((row) => [...held[row]])),
    ]);
    const taskFunctions = this.#taskFunctions ?? (this.#hasMasks ? WITHOUT_MASKS : null);
    if (taskFunctions)
      extend(merged, { ...(Object.fromEntries(columns) as TaskColumns), ...this.#named }, taskFunctions);
  }

  /** Removes all rows. */
  clear(): void {
    this.length = this.dropped = 0;
    this.labels = null;
    this.#columns = {};
    this.#named = {};
    this.#taskFunctions = null;
    this.#hasMasks = false;
  }
}
