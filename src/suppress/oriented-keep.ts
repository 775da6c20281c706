/** Suppresses oriented boxes. A grid limits comparisons to boxes near each other, which changes no result. */
import { ORIENTED_WIDTH, type Overlaps, PolygonIou, ProbIou } from "./oriented-overlap.ts";

/** How oriented boxes suppress each other. */
export interface OrientedRule {
  readonly iou: "probiou" | "polygon";
  /** "fast": suppressed boxes suppress too. */
  readonly method: "fast" | "hard";
  /** True: suppress at the threshold too. */
  readonly orEqual: boolean;
}

/** Largest count of the grid's cells along an axis. */
const CELLS = 32;

/** Suppresses lists of oriented boxes. Its memory grows with the longest list and is used again. */
export class OrientedKeeper {
  readonly #rule: OrientedRule;
  readonly #overlaps: Overlaps;
  /** Newest box of each cell of the grid, row by row, -1 for none. */
  readonly #newest = new Int32Array(CELLS * CELLS);
  /** For each box, the one before it in its cell. */
  #before = new Int32Array(0);
  /** Indices of the boxes that `keep` kept, in its first entries. */
  kept = new Int32Array(0);
  #left = 0;
  #top = 0;
  #perUnit = 1;
  #columns = 1;
  #rows = 1;
  #longest = 0;

  constructor(rule: OrientedRule) {
    this.#rule = rule;
    this.#overlaps = rule.iou === "polygon" ? new PolygonIou() : new ProbIou();
  }

  /**
   * Writes the indices of the boxes that are kept to `kept`.
   * @param boxes finite rows, best first
   * @param classIds class of each box: boxes suppress each other within a class; null: over classes
   * @returns the count of the boxes that are kept, at most `max`
   */
  keep(
    boxes: ArrayLike<number>,
    n: number,
    classIds: ArrayLike<number> | null,
    max: number,
    iouThreshold: number,
  ): number {
    const { method, orEqual } = this.#rule;
    if (this.kept.length < n) {
      this.kept = new Int32Array(n);
      this.#before = new Int32Array(n);
    }
    this.#overlaps.read(boxes, n, iouThreshold);
    // Lay no grid if an overlap of 0 suppresses: then boxes far apart suppress each other too.
    this.#layGrid(boxes, iouThreshold === 0 && orEqual ? 0 : n);
    let count = 0;
    for (let i = 0; i < n && count < max; i++) {
      const stays = !this.#isSuppressed(boxes, i, classIds);
      if (stays) this.kept[count++] = i;
      if (stays || method === "fast") this.#enter(boxes, i);
    }
    return count;
  }

  /** Lays a grid over the centres, with cells no smaller than the longest reach of a box. */
  #layGrid(boxes: ArrayLike<number>, n: number): void {
    let left = Infinity;
    let top = Infinity;
    let right = -Infinity;
    let bottom = -Infinity;
    let longest = 0;
    const { radii } = this.#overlaps;
    for (let i = 0; i < n; i++) {
      const x = boxes[i * ORIENTED_WIDTH];
      const y = boxes[i * ORIENTED_WIDTH + 1];
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
      if (radii[i] > longest) longest = radii[i];
    }
    const side = Math.max((right - left) / CELLS, (bottom - top) / CELLS, longest, 1e-30);
    const isWide = n > 0 && side < Infinity;
    this.#left = left;
    this.#top = top;
    this.#perUnit = 1 / side;
    this.#longest = longest;
    this.#columns = isWide ? Math.min(CELLS, Math.floor((right - left) / side) + 1) : 1;
    this.#rows = isWide ? Math.min(CELLS, Math.floor((bottom - top) / side) + 1) : 1;
    this.#newest.fill(-1);
  }

  /** Returns the cell of a place along an axis. Must be monotone: a range of places then is a range of cells. */
  #cellOf(place: number, cells: number): number {
    const cell = place * this.#perUnit;
    return cell > 0 ? (cell < cells ? Math.floor(cell) : cells - 1) : 0;
  }

  /** Compares a box with those entered in the cells in which a box that overlaps it can have its centre. */
  #isSuppressed(boxes: ArrayLike<number>, i: number, classIds: ArrayLike<number> | null): boolean {
    const { orEqual } = this.#rule;
    const x = boxes[i * ORIENTED_WIDTH] - this.#left;
    const y = boxes[i * ORIENTED_WIDTH + 1] - this.#top;
    const reach = this.#overlaps.radii[i] + this.#longest;
    const first = this.#cellOf(x - reach, this.#columns);
    const last = this.#cellOf(x + reach, this.#columns);
    const lowest = this.#cellOf(y + reach, this.#rows);
    for (let row = this.#cellOf(y - reach, this.#rows); row <= lowest; row++)
      for (let cell = row * CELLS + first; cell <= row * CELLS + last; cell++)
        for (let better = this.#newest[cell]; better >= 0; better = this.#before[better])
          if (
            (classIds === null || classIds[better] === classIds[i]) &&
            this.#overlaps.passes(better, i, orEqual)
          )
            return true;
    return false;
  }

  /** Adds a box to its cell, so that later boxes are compared with it. */
  #enter(boxes: ArrayLike<number>, i: number): void {
    const column = this.#cellOf(boxes[i * ORIENTED_WIDTH] - this.#left, this.#columns);
    const row = this.#cellOf(boxes[i * ORIENTED_WIDTH + 1] - this.#top, this.#rows);
    const cell = row * CELLS + column;
    this.#before[i] = this.#newest[cell];
    this.#newest[cell] = i;
  }
}
