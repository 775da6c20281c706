/** Merges the detections of tiles by the rules of SAHI, in bounded memory. */
import { refuseValue } from "../core/errors.ts";
import { COUNT, FLAG, type Rule, UNIT, checkOptions, oneOf } from "../core/options.ts";
import { show } from "../core/tensor.ts";
import { Detections, setLength } from "../decode/detections.ts";
import { type Candidates, isSameClass } from "../tasks/suppression/candidates.ts";
import { keepGreedily } from "../tasks/suppression/greedy.ts";
import { groupGreedily, groupTransitively, overlapBy } from "../tasks/suppression/groups.ts";
import { type Tile, sizeOf } from "./plan.ts";
import { ROW, TileRows } from "./rows.ts";

/** Options of `createTileMerger` and `mergeTiles`. */
export interface MergeTilesOptions {
  /**
   * "greedy-nmm": the best box absorbs all boxes that match it. "nmm": absorbed boxes also absorb their own matches.
   * "nms": all boxes that match the best box are dropped. Default "greedy-nmm".
   */
  readonly method?: "greedy-nmm" | "nmm" | "nms";
  /** Overlap of two boxes: intersection / smaller area ("ios"), or intersection / union ("iou"). Default "ios". */
  readonly metric?: "ios" | "iou";
  /** Smallest overlap of matching boxes. Default 0.5. */
  readonly threshold?: number;
  /** False: boxes of different classes match. Default true. */
  readonly perClass?: boolean;
  /**
   * "sahi": an absorbed box must also overlap the growing merged box by more than the threshold, else it is lost, as in
   * SAHI. Default "none": every absorbed box becomes part of the merged box.
   */
  readonly secondTest?: "none" | "sahi";
  /** Largest count of detections to hold. Keeps those with the best scores. Limits the memory. Default 10,000. */
  readonly maxCandidates?: number;
  /** Largest count of merged detections. Default: no limit, as in SAHI. */
  readonly maxDetections?: number;
}

/** Collects the detections of tiles, and merges them. Made by `createTileMerger`. */
export interface TileMerger {
  /** Count of detections held. */
  readonly length: number;
  /** Count of detections that were dropped because of `maxCandidates`. The lowest scores are dropped. */
  readonly dropped: number;
  /**
   * Adds copies of a tile's detections, moved to the tile's position in the picture. Boxes are in 0..1 of the tile, as
   * `decode` returns them for the tile as its frame.
   * @throws RangeError for a tile that does not lie in the picture, for detections of another frame than the tile, and
   * for oriented boxes unless the method is "nms"
   */
  add(tile: Tile, detections: Detections): void;
  /** Returns the merged detections, best first, in 0..1 of the picture. More tiles may be added afterwards. */
  merge(): Detections;
  /** Removes all detections. */
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

class Merger implements TileMerger {
  readonly #size: readonly [number, number];
  readonly #settings: Settings;
  readonly #rows: TileRows;

  constructor(size: readonly [number, number], settings: Settings) {
    this.#size = size;
    this.#settings = settings;
    this.#rows = new TileRows(size, settings.maxCandidates);
  }

  get length(): number {
    return this.#rows.length;
  }

  get dropped(): number {
    return this.#rows.dropped;
  }

  add(tile: Tile, detections: Detections): void {
    const { method } = this.#settings;
    const given: Partial<Detections> | null = detections;
    if (given?.angles && method !== "nms")
      refuseValue(
        "method",
        `"${method}", which merges boxes, for oriented ones`,
        '"nms": a row that is kept keeps its angle',
      );
    this.#rows.add(tile, detections);
  }

  merge(): Detections {
    const settings = this.#settings;
    const c = this.#candidates();
    const rule = { metric: settings.metric, threshold: settings.threshold };
    const max = settings.maxDetections;
    if (settings.method === "nms") {
      const kept = keepGreedily(c, max, {
        suppresses: (better, row) =>
          isSameClass(c, better, row) && overlapBy(c, rule.metric, better, row) >= rule.threshold,
        matchApart: rule.threshold <= 0,
      });
      return this.#result(
        c,
        kept.map((row) => [row]),
      );
    }
    const groups =
      settings.method === "nmm" ? groupTransitively(c, rule).slice(0, max) : groupGreedily(c, rule, max);
    return this.#result(
      c,
      settings.secondTest === "none" ? groups : groups.map((rows) => this.#testAgain(c, rows)),
    );
  }

  clear(): void {
    this.#rows.clear();
  }

  /** Returns the rows as candidates, plus one row for `#testAgain`. Equal scores are ordered by corners, as in SAHI. */
  #candidates(): Candidates {
    const { rows, classIds: classes, length: n } = this.#rows;
    const corners = new Float64Array((n + 1) * 4);
    for (let i = 0; i < n; i++) for (let k = 0; k < 4; k++) corners[i * 4 + k] = rows[i * ROW + k];
    const classIds = new Int32Array(n + 1);
    if (this.#settings.perClass) classIds.set(classes.subarray(0, n));
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

  /**
   * Does SAHI's second test: returns the rows of a group that overlap the growing box by more than the threshold.
   */
  #testAgain(c: Candidates, group: readonly number[]): number[] {
    const { metric, threshold } = this.#settings;
    const grown = this.#rows.length;
    const remaining = [group[0]];
    c.corners.copyWithin(grown * 4, group[0] * 4, group[0] * 4 + 4);
    for (let i = 1; i < group.length; i++) {
      if (!(overlapBy(c, metric, grown, group[i]) > threshold)) continue;
      remaining.push(group[i]);
      for (let k = 0; k < 4; k++) {
        const v = c.corners[group[i] * 4 + k];
        const edge = c.corners[grown * 4 + k];
        c.corners[grown * 4 + k] = k < 2 ? Math.min(edge, v) : Math.max(edge, v);
      }
    }
    return remaining;
  }

  /** Returns one detection per group: the box around its rows, with score and source of the first, best row. */
  #result(c: Candidates, groups: readonly (readonly number[])[]): Detections {
    const n = groups.length;
    const boxes = new Float32Array(n * 4);
    const result = new Detections(
      boxes,
      Float32Array.from(groups, ([first]) => c.scores[first]),
      Int32Array.from(groups, (rows) => this.#classOf(c, rows)),
      Uint32Array.from(groups, ([first]) => this.#rows.sources[first]),
      this.#rows.labels,
    );
    groups.forEach((rows, i) => {
      for (let k = 0; k < 4; k++) {
        let edge = c.corners[rows[0] * 4 + k];
        for (const row of rows) {
          const v = c.corners[row * 4 + k];
          edge = k < 2 ? Math.min(edge, v) : Math.max(edge, v);
        }
        boxes[i * 4 + k] = edge / this.#size[k & 1];
      }
    });
    setLength(result, n);
    // Take keypoints and corners from the best row: in another tile, the object may be cut off.
    this.#rows.extendWith(
      result,
      groups.map(([first]) => first),
    );
    return result;
  }

  /** Returns the class id of the best row, or of the last one among equally good rows, as in SAHI. */
  #classOf({ scores }: Candidates, rows: readonly number[]): number {
    const [last] = rows.filter((row) => scores[row] === scores[rows[0]]).slice(-1);
    return this.#rows.classIds[last];
  }
}

/**
 * Makes a collector for the detections of tiles. Decode the tiles one after the other, and add each result. Only the
 * best `maxCandidates` detections are held.
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
 * Merges the detections of tiles. The pairs are read one by one, so a generator may decode each tile on demand. A list
 * needs a copy of each result, since the next `decode` overwrites the last result.
 * @param size width and height of the picture in pixels
 * @param parts each tile with its detections, in 0..1 of the tile
 * @returns a result that later calls do not change, best first, in 0..1 of the picture
 * @throws RangeError for a tile that does not lie in the picture, for options that are unknown or wrong, and for a list
 * that has one result twice
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
  let i = 0;
  for (const part of parts) {
    checkPart(part, i++);
    merger.add(...part);
  }
  return merger.merge();
}

function checkPart(part: unknown, i: number): void {
  if (!Array.isArray(part) || part.length !== 2)
    refuseValue(`parts[${i}]`, show(part), "a pair of a tile and its detections");
}

/**
 * Throws if a list has the same detections object for two tiles: the second `decode` has overwritten the first result.
 * A generator may yield one object repeatedly, since each result is read before the next decode.
 */
function checkParts(parts: Iterable<readonly [Tile, Detections]>): void {
  if (typeof (parts as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== "function")
    refuseValue("parts", show(parts), "pairs of a tile and its detections");
  if (!Array.isArray(parts)) return;
  const seen = new Map<unknown, number>();
  for (const [i, part] of (parts as readonly unknown[]).entries()) {
    checkPart(part, i);
    const [, detections] = part as readonly unknown[];
    const before = seen.get(detections);
    if (before !== undefined)
      refuseValue(
        `parts[${i}]`,
        `the detections of parts[${before}], which the next decode() overwrote`,
        "a copy() of each, or a generator that decodes tile by tile",
      );
    seen.set(detections, i);
  }
}
