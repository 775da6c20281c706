/** Merging what was found in tiles, by the rules of SAHI, in bounded memory. */
import { refuse } from "../core/errors.ts";
import { COUNT, FLAG, type Rule, UNIT, checkOptions, oneOf } from "../core/options.ts";
import { show } from "../core/tensor.ts";
import {
  Detections,
  type TaskFunctions,
  POINT_COLUMNS,
  type TaskColumns,
  extend,
  taskFunctionsOf,
  setLength,
  frameSizeOf,
} from "../decode/detections.ts";
import { ORIENTED_ROWS } from "../tasks/oriented/rows.ts";
import { KEYPOINT_WIDTH, POSE_ROWS } from "../tasks/pose/rows.ts";
import { type Candidates, isSameClass } from "../tasks/suppression/candidates.ts";
import { keepGreedily } from "../tasks/suppression/greedy.ts";
import { groupGreedily, groupTransitively, overlapBy } from "../tasks/suppression/groups.ts";
import { type Tile, sizeOf } from "./plan.ts";

/** Options of `createTileMerger` and `mergeTiles`. */
export interface MergeTilesOptions {
  /**
   * "greedy-nmm": the best box takes all that match it. "nmm": what it takes passes on its own matches. "nms": the best
   * box drops all that match it. Default "greedy-nmm".
   */
  readonly method?: "greedy-nmm" | "nmm" | "nms";
  /** Boxes match by intersection / smaller area ("ios"), or by intersection / union ("iou"). Default "ios". */
  readonly metric?: "ios" | "iou";
  /** Least overlap of boxes that match. Default 0.5. */
  readonly threshold?: number;
  /** False: boxes of different classes match. Default true. */
  readonly perClass?: boolean;
  /**
   * "sahi": boxes that were taken have to match the growing box once more, above the threshold. Boxes that fail are
   * lost, as in SAHI. Default "none": every box that was taken is part of the merged box.
   */
  readonly secondTest?: "none" | "sahi";
  /** Detections that are held at a time, the best ones. Memory is bounded by it. Default 10,000. */
  readonly maxCandidates?: number;
  /** Largest number of detections that come out. Default: all, as in SAHI. */
  readonly maxDetections?: number;
}

/** Collects the detections of tiles one by one, and merges them. Made by `createTileMerger`. */
export interface TileMerger {
  /** Count of detections that are held. */
  readonly length: number;
  /** Count of detections that were dropped beyond `maxCandidates`, those with the lowest scores. */
  readonly dropped: number;
  /**
   * Takes the detections of a tile: copies them, moved to the tile's place. Boxes are in 0..1 of the tile, as `decode`
   * gives them with the tile as its frame.
   * @throws RangeError for a tile that does not lie in the picture, for detections of another frame than the tile, and
   * for oriented boxes unless the method is "nms"
   */
  add(tile: Tile, detections: Detections): void;
  /** Merges what was taken. Returns detections of their own, best first, in 0..1 of the picture. Adding can go on. */
  merge(): Detections;
  /** Forgets all detections. */
  clear(): void;
}

type Settings = Required<MergeTilesOptions>;

const DEFAULTS: Settings = {
  method: "greedy-nmm",
  metric: "ios",
  threshold: 0.5,
  perClass: true,
  secondTest: "none",
  maxCandidates: 10_000,
  maxDetections: Infinity,
};

const RULES: { readonly [N in keyof Settings]: Rule } = {
  method: oneOf(["greedy-nmm", "nmm", "nms"]),
  metric: oneOf(["ios", "iou"]),
  threshold: UNIT,
  perClass: FLAG,
  secondTest: oneOf(["none", "sahi"]),
  maxCandidates: COUNT,
  maxDetections: COUNT,
};

const settingsOf = (given: MergeTilesOptions): Settings => ({ ...DEFAULTS, ...checkOptions(given, RULES) });

/** Merged detections: no one knows how the masks of tiles are joined, and their prototypes are gone. */
const WITHOUT_MASKS: TaskFunctions = {
  copy: (_, to) => extend(to, {}, WITHOUT_MASKS),
  select: (_, to) => extend(to, {}, WITHOUT_MASKS),
  mask: () =>
    refuse(
      "mask",
      "merged detections of tiles",
      "those of a tile: make masks of its detections before the next decode()",
      TypeError,
    ),
};

/** Doubles of a row: corners in pixels of the picture, score. */
const ROW = 5;

/** Columns of tasks that hold numbers of each row. */
const ROW_COLUMNS = [...POINT_COLUMNS, "angles", "corners"] as const;
type RowColumn = (typeof ROW_COLUMNS)[number];

/** Returns words for what detections have besides boxes. Tiles are compared by these words, and errors print them. */
function kindOf(detections: Detections): string {
  const { keypoints, angles, scores } = detections;
  const others = ROW_COLUMNS.slice(1, -2).filter((name) => detections[name]);
  const kind = angles
    ? "oriented boxes"
    : keypoints
      ? `${keypoints.length / scores.length / KEYPOINT_WIDTH} keypoints a row`
      : "boxes alone";
  return [kind, ...others].join(" with ");
}

/** Returns the function that moves value `k` of a row in the column `name` from its tile into the picture. */
function moveOf(
  name: RowColumn,
  { x, y, width, height }: Tile,
  [w, h]: readonly [number, number],
): (value: number, k: number) => number {
  const place = (v: number, axis: number): number =>
    axis === 0 ? (x + v * width) / w : (y + v * height) / h;
  const moves: { readonly [N in RowColumn]?: (value: number, k: number) => number } = {
    keypoints: (v, k) => (k % KEYPOINT_WIDTH < 2 ? place(v, k % KEYPOINT_WIDTH) : v),
    corners: (v, k) => place(v, k & 1),
    depths: (v) => (v * width) / w,
    // The centre is in pixels of the image. Width, height and angle stay.
    nextCrops: (v, k) => (k === 0 ? v + x : k === 1 ? v + y : v),
  };
  return moves[name] ?? ((v) => v);
}

/** Throws a RangeError if the decoder got another frame than the tile: the merge would put its boxes elsewhere. */
function checkFrameOf(detections: Detections, width: number, height: number): void {
  const size = frameSizeOf(detections);
  if (size === undefined) return;
  // Without a frame, boxes are in 0..1 of the input. This equals 0..1 of the tile only if both have the same
  // proportions.
  const isInput = Array.isArray(size);
  const [w, h] = "width" in size ? [size.width, size.height] : size;
  const isTile = isInput
    ? Math.abs(w * height - h * width) <= Math.max(w, h)
    : Math.abs(w - width) <= 1 && Math.abs(h - height) <= 1;
  if (isTile) return;
  refuse(
    "detections",
    `those of ${isInput ? `an input of ${w}x${h} without a frame` : `a frame of ${w}x${h}`} for a tile of ${width}x${height}`,
    "crop" in size && size.crop
      ? `{ x: 0, y: 0, width: ${w}, height: ${h} } as the tile: what was found in a crop is in 0..1 of the whole picture`
      : `the tile as the frame: decode(outputs, { width: ${width}, height: ${height}, resize })`,
    RangeError,
  );
}

class Merger implements TileMerger {
  length = 0;
  dropped = 0;
  private readonly size: readonly [number, number];
  private readonly settings: Settings;
  private rows = new Float64Array(0);
  private classIds = new Int32Array(0);
  private sources = new Uint32Array(0);
  private labels: readonly string[] | null = null;
  /** The values that tasks gave each row, by column, moved into the picture. */
  private columns: Partial<Record<RowColumn, Float32Array[]>> = {};
  /** What the rows that are held have besides boxes. */
  private kind = "";
  private hasMasks = false;
  private named: Pick<TaskColumns, "keypointNames" | "edges"> = {};
  private taskFunctions: TaskFunctions | null = null;

  constructor(size: readonly [number, number], settings: Settings) {
    this.size = size;
    this.settings = settings;
  }

  add(tile: Tile, detections: Detections): void {
    const { x, y, width, height } = this.checkTile(tile);
    const given: Partial<Detections> | null = detections;
    if (!(given && given.boxes && given.scores && given.classIds && given.sources))
      refuse("detections", show(detections), "what decode() returned for the tile", RangeError);
    checkFrameOf(detections, width, height);
    if (detections.length > 0) this.checkKind(detections);
    const { length: n, boxes, scores, classIds, sources } = detections;
    if (detections.angles && this.settings.method !== "nms")
      refuse(
        "method",
        `"${this.settings.method}", which merges boxes, for oriented ones`,
        '"nms": a row that is kept keeps its angle',
        RangeError,
      );
    this.grow(this.length + n);
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
    if (n > 0) this.addColumns(tile, detections);
    this.length += n;
    this.labels ??= detections.labels;
    this.hasMasks ||= taskFunctionsOf(detections)?.mask !== undefined;
    if (this.length > this.settings.maxCandidates) this.dropLowest();
  }

  /** Throws if detections have other columns or class names than those that are held: they are of another network. */
  private checkKind(detections: Detections): void {
    const { labels } = detections;
    const kind = kindOf(detections);
    const names = labels?.join() ?? "none";
    if (this.length > 0 && kind !== this.kind)
      refuse("detections", kind, `${this.kind}, as in the tiles before`, RangeError);
    if (this.length > 0 && names !== (this.labels?.join() ?? "none"))
      refuse("detections", `labels ${show(labels)}`, "those of the tiles before, of one network", RangeError);
    this.kind = kind;
  }

  /** Keeps what tasks gave the rows of a tile, moved into the picture. */
  private addColumns(tile: Tile, detections: Detections): void {
    const { length, scores, keypoints, angles, keypointNames, edges } = detections;
    for (const name of ROW_COLUMNS) {
      const column = detections[name];
      if (!column) continue;
      const width = column.length / scores.length;
      const move = moveOf(name, tile, this.size);
      const held = (this.columns[name] ??= []);
      for (let i = 0; i < length; i++)
        held[this.length + i] = column.slice(i * width, (i + 1) * width).map(move);
    }
    this.named = { ...(keypointNames && { keypointNames }), ...(edges && { edges }) };
    // A clone has columns without functions.
    this.taskFunctions = keypoints ? POSE_ROWS : angles ? ORIENTED_ROWS : null;
  }

  merge(): Detections {
    const { settings } = this;
    const c = this.candidates();
    const rule = { metric: settings.metric, threshold: settings.threshold };
    const max = settings.maxDetections;
    if (settings.method === "nms") {
      const kept = keepGreedily(c, max, {
        suppresses: (better, row) =>
          isSameClass(c, better, row) && overlapBy(c, rule.metric, better, row) >= rule.threshold,
        matchApart: rule.threshold <= 0,
      });
      return this.result(
        c,
        kept.map((row) => [row]),
      );
    }
    const groups =
      settings.method === "nmm" ? groupTransitively(c, rule).slice(0, max) : groupGreedily(c, rule, max);
    return this.result(
      c,
      settings.secondTest === "none" ? groups : groups.map((rows) => this.testAgain(c, rows)),
    );
  }

  clear(): void {
    this.length = this.dropped = 0;
    this.labels = null;
    this.columns = {};
    this.named = {};
    this.taskFunctions = null;
    this.hasMasks = false;
  }

  private checkTile(tile: Tile): Tile {
    const [width, height] = this.size;
    const { x, y, width: w, height: h } = tile ?? {};
    const areNumbers = [x, y, w, h].every(Number.isFinite);
    // A tile in 0..1 lies in the picture too, in its first pixel.
    if (!(areNumbers && x >= 0 && y >= 0 && w >= 1 && h >= 1 && x + w <= width && y + h <= height))
      refuse(
        "tile",
        typeof tile === "object" && tile !== null
          ? `{x: ${show(x)}, y: ${show(y)}, width: ${show(w)}, height: ${show(h)}}`
          : show(tile),
        `a part of the picture of ${width} x ${height} pixels, from tiles()`,
        RangeError,
      );
    return tile;
  }

  private grow(rows: number): void {
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

  /** Keeps the best rows, of equal scores those that came first, in the order in which they came. */
  private dropLowest(): void {
    const { rows } = this;
    const most = this.settings.maxCandidates;
    const order = Uint32Array.from({ length: this.length }, (_, i) => i);
    order.sort((a, b) => rows[b * ROW + 4] - rows[a * ROW + 4] || a - b);
    order
      .subarray(0, most)
      .sort()
      .forEach((from, to) => {
        rows.copyWithin(to * ROW, from * ROW, (from + 1) * ROW);
        this.classIds[to] = this.classIds[from];
        this.sources[to] = this.sources[from];
        for (const held of Object.values(this.columns)) held[to] = held[from];
      });
    this.dropped += this.length - most;
    this.length = most;
  }

  /** Returns the rows as candidates, and one more row for a box that grows. Equal scores go by corners, as in SAHI. */
  private candidates(): Candidates {
    const { rows, length: n } = this;
    const corners = new Float64Array((n + 1) * 4);
    for (let i = 0; i < n; i++) for (let k = 0; k < 4; k++) corners[i * 4 + k] = rows[i * ROW + k];
    const classIds = new Int32Array(n + 1);
    if (this.settings.perClass) classIds.set(this.classIds.subarray(0, n));
    const order = Int32Array.from({ length: n }, (_, i) => i).sort((a, b) => {
      let difference = rows[b * ROW + 4] - rows[a * ROW + 4];
      for (let k = 0; k < 4 && difference === 0; k++) difference = rows[a * ROW + k] - rows[b * ROW + k];
      return difference || a - b;
    });
    return {
      corners,
      scores: Float64Array.from({ length: n }, (_, i) => rows[i * ROW + 4]),
      classIds,
      order,
      offset: 0,
    };
  }

  /** Returns the rows of a group that match the growing box by more than the threshold, as SAHI merges them. */
  private testAgain(c: Candidates, group: readonly number[]): number[] {
    const { metric, threshold } = this.settings;
    const grown = this.length;
    const remaining = [group[0]];
    c.corners.copyWithin(grown * 4, group[0] * 4, group[0] * 4 + 4);
    for (let i = 1; i < group.length; i++) {
      if (!(overlapBy(c, metric, grown, group[i]) > threshold)) continue;
      remaining.push(group[i]);
      for (let k = 0; k < 4; k++) {
        const v = c.corners[group[i] * 4 + k];
        const own = c.corners[grown * 4 + k];
        c.corners[grown * 4 + k] = k < 2 ? Math.min(own, v) : Math.max(own, v);
      }
    }
    return remaining;
  }

  /** Writes one detection for each group: the box around its rows, with the score and source of the first one. */
  private result(c: Candidates, groups: readonly (readonly number[])[]): Detections {
    const n = groups.length;
    const boxes = new Float32Array(n * 4);
    const result = new Detections(
      boxes,
      Float32Array.from(groups, ([first]) => c.scores[first]),
      Int32Array.from(groups, (rows) => this.classOf(c, rows)),
      Uint32Array.from(groups, ([first]) => this.sources[first]),
      this.labels,
    );
    groups.forEach((rows, i) => {
      for (let k = 0; k < 4; k++) {
        let edge = c.corners[rows[0] * 4 + k];
        for (const row of rows) {
          const v = c.corners[row * 4 + k];
          edge = k < 2 ? Math.min(edge, v) : Math.max(edge, v);
        }
        boxes[i * 4 + k] = edge / this.size[k & 1];
      }
    });
    setLength(result, n);
    // The best row of a group keeps its points and corners: those of another tile may be cut off.
    const columns = Object.entries(this.columns).map(([name, held]) => [
      name,
      Float32Array.from(groups.flatMap(([first]) => [...held[first]])),
    ]);
    const taskFunctions = this.taskFunctions ?? (this.hasMasks ? WITHOUT_MASKS : null);
    if (taskFunctions)
      extend(result, { ...(Object.fromEntries(columns) as TaskColumns), ...this.named }, taskFunctions);
    return result;
  }

  /** Returns the class of the best row, of equal scores that of the last one, as SAHI. */
  private classOf({ scores }: Candidates, rows: readonly number[]): number {
    const last = rows.filter((row) => scores[row] === scores[rows[0]]).at(-1) as number;
    return this.classIds[last];
  }
}

/**
 * Makes a collector for what is found in tiles. Decode the tiles one after the other and add each: only detections are
 * held, the best `maxCandidates` of them.
 * @param size width and height of the picture in pixels
 * @throws RangeError for an option that is unknown or has a wrong value
 * @example
 * import { createDecoderSync } from "boxwright/ts";
 * import { createTileMerger, tiles } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "boxes", classes: 1, coordinates: "normalised" });
 * const merger = createTileMerger([160, 100]);
 * // an object at 70..90 lies in both tiles; the second one sees a part of it
 * const seen = [[0.7, 0.2, 0.9, 0.5], [0.2, 0.2, 0.3, 0.5]];
 * for (const [i, tile] of tiles([160, 100], { tile: 100, overlap: 0.4 }).entries()) {
 *   const boxes = { data: seen[i], dims: [1, 1, 4] };
 *   merger.add(tile, decoder.decode({ boxes, scores: { data: [0.75], dims: [1, 1, 1] } }));
 * }
 * const found = merger.merge();
 * console.log(merger.length, found.length, found.boxes[0] * 160, found.boxes[2] * 160); // 2 1 70 90
 */
export function createTileMerger(
  size: readonly [number, number],
  options: MergeTilesOptions = {},
): TileMerger {
  return new Merger(sizeOf(size), settingsOf(options));
}

/**
 * Merges the detections of tiles. The pairs are read one by one, so a generator may decode each tile when it is asked
 * for. A list needs a copy of each result: the next `decode` overwrites the one before.
 * @param size width and height of the picture in pixels
 * @param parts each tile with its detections, in 0..1 of the tile
 * @returns detections of their own, best first, in 0..1 of the picture
 * @throws RangeError for a tile that does not lie in the picture, for options that are unknown or wrong, and for a list
 * that holds one result twice
 * @example
 * import { createDecoderSync } from "boxwright/ts";
 * import { mergeTiles, tiles } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "boxes", classes: 1, coordinates: "normalised" });
 * function* parts() {
 *   for (const tile of tiles([200, 100], { tile: 100, overlap: 0 })) {
 *     const boxes = { data: [0.25, 0.25, 0.5, 0.5], dims: [1, 1, 4] };
 *     yield [tile, decoder.decode({ boxes, scores: { data: [0.75], dims: [1, 1, 1] } })] as const;
 *   }
 * }
 * console.log([...mergeTiles([200, 100], parts())].map((d) => d.x_min)); // [0.125,0.625]
 */
export function mergeTiles(
  size: readonly [number, number],
  parts: Iterable<readonly [Tile, Detections]>,
  options: MergeTilesOptions = {},
): Detections {
  const merger = createTileMerger(size, options);
  checkParts(parts);
  for (const [tile, detections] of parts) merger.add(tile, detections);
  return merger.merge();
}

/**
 * Throws if a list holds the same detections for two tiles: `decode` has overwritten those of the first. A generator
 * may give them again, as they are taken before the next decode.
 */
function checkParts(parts: Iterable<readonly [Tile, Detections]>): void {
  if (typeof (parts as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== "function")
    refuse("parts", show(parts), "pairs of a tile and its detections", RangeError);
  if (!Array.isArray(parts)) return;
  const seen = new Map<unknown, number>();
  for (const [i, part] of (parts as readonly unknown[]).entries()) {
    if (!Array.isArray(part) || part.length !== 2)
      refuse(`parts[${i}]`, show(part), "a pair of a tile and its detections", RangeError);
    const [, detections] = part as readonly unknown[];
    const before = seen.get(detections);
    if (before !== undefined)
      refuse(
        `parts[${i}]`,
        `the detections of parts[${before}], which the next decode() overwrote`,
        "a copy() of each, or a generator that decodes tile by tile",
        RangeError,
      );
    seen.set(detections, i);
  }
}
