/** Which oriented boxes stay. A box is compared only with those near it, which changes no result. */
import { ORIENTED_WIDTH, type Overlaps, PolygonIou, ProbIou } from "./oriented-overlap.ts";

/** How oriented boxes suppress each other. */
export interface OrientedRule {
  readonly iou: "probiou" | "polygon";
  /** "fast": suppressed boxes suppress too. */
  readonly method: "fast" | "hard";
  /** True: suppress at the threshold too. */
  readonly orEqual: boolean;
}

/** Most cells of the grid along an axis. */
const CELLS = 16;

/** Suppresses lists of oriented boxes. Its memory grows with the longest list and is used again. */
export class OrientedKeeper {
  readonly #rule: OrientedRule;
  readonly #overlaps: Overlaps;
  /** Newest link of each cell of the grid, row by row, -1 for none. */
  readonly #newest = new Int32Array(CELLS * CELLS);
  /** Pairs of a box and the link before. */
  #links = new Int32Array(1024);
  #linkCount = 0;
  /** Boxes kept by `keep`, by their place in the list. */
  kept = new Int32Array(0);
  #left = 0;
  #top = 0;
  /** Side of a cell. */
  #side = 1;
  #columns = 1;
  #rows = 1;
  #longest = 0;

  constructor(rule: OrientedRule) {
    this.#rule = rule;
    this.#overlaps = rule.iou === "polygon" ? new PolygonIou() : new ProbIou();
  }

  /**
   * Finds the boxes that stay, and writes them to `kept`.
   * @param boxes finite rows, best first
   * @param classIds class of each box: boxes suppress each other within a class; null: over classes
   * @returns the number of boxes that stay, `max` at most
   */
  keep(
    boxes: ArrayLike<number>,
    n: number,
    classIds: ArrayLike<number> | null,
    max: number,
    iouThreshold: number,
  ): number {
    const { method, orEqual } = this.#rule;
    if (this.kept.length < n) this.kept = new Int32Array(n);
    this.#overlaps.read(boxes, n, iouThreshold);
    // An overlap of 0 reaches a threshold of 0: then all are near.
    this.#layGrid(boxes, iouThreshold === 0 && orEqual ? 0 : n);
    let count = 0;
    for (let i = 0; i < n && count < max; i++) {
      const stays = !this.#isSuppressed(boxes, i, classIds);
      if (stays) this.kept[count++] = i;
      if (stays || method === "fast") this.#enter(boxes, i);
    }
    return count;
  }

  /**
   * Lays a grid over the centres. A box is entered in all cells in which a box that it overlaps can have its centre,
   * so that one cell holds all that a box has to be compared with.
   */
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
    this.#side = side;
    this.#longest = longest;
    this.#columns = isWide ? Math.min(CELLS, Math.floor((right - left) / side) + 1) : 1;
    this.#rows = isWide ? Math.min(CELLS, Math.floor((bottom - top) / side) + 1) : 1;
    this.#newest.fill(-1);
    this.#linkCount = 0;
  }

  /** Returns the cell of a place along an axis. */
  #cellOf(place: number, cells: number): number {
    const cell = Math.floor(place / this.#side);
    return cell > 0 ? (cell < cells ? cell : cells - 1) : 0;
  }

  #isSuppressed(boxes: ArrayLike<number>, i: number, classIds: ArrayLike<number> | null): boolean {
    const { orEqual } = this.#rule;
    const column = this.#cellOf(boxes[i * ORIENTED_WIDTH] - this.#left, this.#columns);
    const row = this.#cellOf(boxes[i * ORIENTED_WIDTH + 1] - this.#top, this.#rows);
    const links = this.#links;
    for (let link = this.#newest[row * CELLS + column]; link >= 0; link = links[link + 1]) {
      const better = links[link];
      if (classIds !== null && classIds[better] !== classIds[i]) continue;
      if (this.#overlaps.passes(better, i, orEqual)) return true;
    }
    return false;
  }

  #enter(boxes: ArrayLike<number>, i: number): void {
    const x = boxes[i * ORIENTED_WIDTH] - this.#left;
    const y = boxes[i * ORIENTED_WIDTH + 1] - this.#top;
    const reach = this.#overlaps.radii[i] + this.#longest;
    const first = this.#cellOf(x - reach, this.#columns);
    const last = this.#cellOf(x + reach, this.#columns);
    const lowest = this.#cellOf(y + reach, this.#rows);
    for (let row = this.#cellOf(y - reach, this.#rows); row <= lowest; row++)
      for (let column = first; column <= last; column++) this.#link(row * CELLS + column, i);
  }

  #link(cell: number, i: number): void {
    const link = this.#linkCount;
    if (link + 2 > this.#links.length) {
      const more = new Int32Array(this.#links.length * 2);
      more.set(this.#links);
      this.#links = more;
    }
    this.#links[link] = i;
    this.#links[link + 1] = this.#newest[cell];
    this.#newest[cell] = link;
    this.#linkCount = link + 2;
  }
}
