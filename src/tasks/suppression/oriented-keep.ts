/** Suppresses oriented boxes. A grid limits the comparisons to boxes near each other, without changing the result. */
import { ORIENTED_WIDTH, type Overlaps, PolygonIou, ProbIou } from "./oriented-overlap.ts";

/** Rule by which oriented boxes suppress each other. */
export interface OrientedRule {
  readonly iou: "probiou" | "polygon";
  /** "fast": suppressed boxes also suppress others. "hard": only kept boxes do. */
  readonly method: "fast" | "hard";
  /** True: an overlap equal to the threshold also suppresses. */
  readonly orEqual: boolean;
}

/** Largest count of grid cells along an axis: a 32-bit word holds one bit for each cell of a grid row. */
const CELLS = 32;

/** Suppresses lists of oriented boxes. The arrays grow with the longest list, and are reused. */
export class OrientedKeeper {
  readonly #rule: OrientedRule;
  readonly #overlaps: Overlaps;
  /** Newest box of each cell of the grid, row by row; -1: the cell is empty. */
  readonly #newest = new Int32Array(CELLS * CELLS);
  /** For each row of the grid, one bit per cell: 1 if the cell holds a box. */
  readonly #taken = new Int32Array(CELLS);
  /** For each box, the previous box in the same cell. */
  #before = new Int32Array(0);
  /** Indices of the kept boxes, in the first entries. */
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
   * @param boxes rows of finite values, best first
   * @param classIds class of each box: boxes suppress each other only within a class; null: across all classes
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
    const overlaps = this.#overlaps;
    if (this.kept.length < n) {
      this.kept = new Int32Array(n);
      this.#before = new Int32Array(n);
    }
    overlaps.read(boxes, n, iouThreshold);
    // Use no grid if an overlap of 0 suppresses: distant boxes then suppress each other too.
    this.#layGrid(boxes, iouThreshold === 0 && orEqual ? 0 : n);
    const { radii } = overlaps;
    const { kept } = this;
    const newest = this.#newest;
    const taken = this.#taken;
    const before = this.#before;
    const left = this.#left;
    const top = this.#top;
    const perUnit = this.#perUnit;
    const lastColumn = this.#columns - 1;
    const lastRow = this.#rows - 1;
    let count = 0;
    for (let i = 0; i < n && count < max; i++) {
      const x = (boxes[i * ORIENTED_WIDTH] - left) * perUnit;
      const y = (boxes[i * ORIENTED_WIDTH + 1] - top) * perUnit;
      const column = cellAt(x, lastColumn);
      const row = cellAt(y, lastRow);
      const cellOfBox = row * CELLS + column;
      // Search the box's own cell first, which most likely contains a suppressing box.
      let stays = !overlaps.anyPasses(newest[cellOfBox], before, i, classIds, orEqual);
      if (stays) {
        // Search all cells that may contain the centre of a box that overlaps this box.
        const reach = (radii[i] + this.#longest) * perUnit;
        const columns = (2 << cellAt(x + reach, lastColumn)) - (1 << cellAt(x - reach, lastColumn));
        const lowest = cellAt(y + reach, lastRow);
        for (let r = cellAt(y - reach, lastRow); r <= lowest && stays; r++) {
          let cells = taken[r] & columns;
          if (r === row) cells &= ~(1 << column);
          for (; cells !== 0 && stays; cells &= cells - 1) {
            const cell = r * CELLS + 31 - Math.clz32(cells & -cells);
            stays = !overlaps.anyPasses(newest[cell], before, i, classIds, orEqual);
          }
        }
      }
      if (stays) kept[count++] = i;
      else if (method !== "fast") continue;
      // Add the box to its cell, so that later boxes are compared with it.
      before[i] = newest[cellOfBox];
      newest[cellOfBox] = i;
      taken[row] |= 1 << column;
    }
    return count;
  }

  /** Places a grid over the centres. Cells are at least as wide as the largest radius. */
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
    const hasGrid = n > 0 && side < Infinity;
    this.#left = left;
    this.#top = top;
    this.#perUnit = 1 / side;
    this.#longest = longest;
    this.#columns = hasGrid ? Math.min(CELLS, Math.floor((right - left) / side) + 1) : 1;
    this.#rows = hasGrid ? Math.min(CELLS, Math.floor((bottom - top) / side) + 1) : 1;
    this.#newest.fill(-1);
    this.#taken.fill(0);
  }
}

/**
 * Returns the index of the cell of a coordinate, clamped to 0..last. The coordinate is in cell widths. A larger
 * coordinate must never give a smaller index: `keep` searches from the cell of x - reach to the cell of x + reach.
 */
const cellAt = (x: number, last: number): number => (x > 0 ? (x < last ? x | 0 : last) : 0);
