/**
 * Clusters of boxes for weighted boxes fusion. The mean box of a cluster moves as boxes join. Each cell of a grid lists
 * the clusters whose mean box reaches into the cell.
 */
import { type GridAxis, cellAt } from "../../core/box-grid.ts";

/** The grid has at most this number * sqrt(count of boxes) cells along each axis. */
const CELLS_PER_ROOT = 2;
/** Smallest count of cells for which a grid saves time. */
const FEW_CELLS = 16;
/** Largest count of cells that may list a box. A larger box is compared with every cluster. */
const MOST_CELLS = 64;

/** Relative difference below which rounding may exchange two values. */
const ROUNDING = 1e-12;

export class Clusters {
  /** Count of clusters. */
  length = 0;
  readonly #means: Float64Array;
  readonly #classIds: Int32Array;
  /** For each cluster: first column, first row, last column and last row of the cells that list the cluster. */
  readonly #reach: Int32Array;
  /** Clusters that no cell lists, since they extend into too many cells. */
  readonly #wide: number[] = [];
  readonly #isWide: Uint8Array;
  /** For each cluster, the number of the last search that compared it. */
  readonly #seenIn: Int32Array;
  #searches = 0;
  /**
   * Linked lists of clusters. `#newest`: newest entry of each cell. `#entries`: cluster of each entry. `#before`: the
   * entry before each entry. 0 ends a list.
   */
  readonly #newest: Int32Array;
  readonly #entries: number[] = [0];
  readonly #before: number[] = [0];
  readonly #axes: readonly [Axis, Axis];
  readonly #threshold: number;
  /** Fraction of a box's width and height, around its centre, that decides which cells the box reaches. */
  readonly #share: number;
  /** Cells of the last box: first column, first row, last column, last row. */
  readonly #cells = new Int32Array(4);
  /** Best cluster of the current search. */
  #best = -1;
  /** IoU of the best cluster with the box. */
  #largest = 0;

  /**
   * @param boxes corners of all boxes that may be added. No mean box lies outside the area of these boxes.
   * @param threshold IoU above which `find` finds a cluster
   */
  constructor(boxes: Float64Array, threshold: number) {
    const n = boxes.length / 4;
    this.#share = shareOf(threshold);
    this.#threshold = threshold;
    this.#axes = [axisOf(boxes, 0, this.#share), axisOf(boxes, 1, this.#share)];
    this.#means = new Float64Array(4 * n);
    this.#classIds = new Int32Array(n);
    this.#reach = new Int32Array(4 * n);
    this.#isWide = new Uint8Array(n);
    this.#seenIn = new Int32Array(n);
    this.#newest = new Int32Array(this.#axes[0].cells * this.#axes[1].cells);
  }

  /** Returns the cluster of a class whose mean box overlaps a box most. The oldest if several do, -1 if none does. */
  find(corners: ArrayLike<number>, classId: number): number {
    this.#best = -1;
    this.#largest = this.#threshold;
    this.#searches++;
    if (this.#cellsOf(corners, 0) > MOST_CELLS || this.#newest.length < FEW_CELLS)
      return this.#findAmongAll(corners, classId);
    for (const cluster of this.#wide) this.#compare(cluster, corners, classId);
    const [left, top, right, bottom] = this.#cells;
    const columns = this.#axes[0].cells;
    for (let row = top; row <= bottom; row++)
      for (let cell = row * columns + left; cell <= row * columns + right; cell++)
        for (let entry = this.#newest[cell]; entry !== 0; entry = this.#before[entry]) {
          const cluster = this.#entries[entry];
          if (this.#seenIn[cluster] === this.#searches) continue;
          this.#seenIn[cluster] = this.#searches;
          this.#compare(cluster, corners, classId);
        }
    return this.#best;
  }

  /** Begins a new cluster. Returns its index. */
  add(corners: ArrayLike<number>, classId: number): number {
    const cluster = this.length++;
    this.#classIds[cluster] = classId;
    this.#means.set(corners, 4 * cluster);
    this.#reach.set([0, 0, -1, -1], 4 * cluster);
    this.#list(cluster);
    return cluster;
  }

  mean(cluster: number): Float64Array {
    return this.#means.subarray(4 * cluster, 4 * cluster + 4);
  }

  /** Moves the mean box of a cluster: divides the sums of its corners by the sum of its weights. */
  move(cluster: number, sums: readonly number[], weight: number): void {
    for (let k = 0; k < 4; k++) this.#means[4 * cluster + k] = sums[k] / weight;
    this.#list(cluster);
  }

  /** Finds the same cluster as `find`, in one loop over all clusters. */
  #findAmongAll(corners: ArrayLike<number>, classId: number): number {
    const means = this.#means;
    const classIds = this.#classIds;
    const [left, top, right, bottom] = [corners[0], corners[1], corners[2], corners[3]];
    const area = (right - left) * (bottom - top);
    let best = -1;
    let largest = this.#threshold;
    for (let cluster = 0, i = 0; cluster < this.length; cluster++, i += 4) {
      const x1 = means[i];
      const x2 = means[i + 2];
      const width = (x2 < right ? x2 : right) - (x1 > left ? x1 : left);
      if (!(width > 0) || classIds[cluster] !== classId) continue;
      const y1 = means[i + 1];
      const y2 = means[i + 3];
      const height = (y2 < bottom ? y2 : bottom) - (y1 > top ? y1 : top);
      if (!(height > 0)) continue;
      const both = width * height;
      const union = (x2 - x1) * (y2 - y1) + area - both;
      // Compare a product before dividing: most boxes end here.
      if (both < largest * union * (1 - ROUNDING)) continue;
      if (both / union <= largest) continue;
      best = cluster;
      largest = both / union;
    }
    return best;
  }

  /** Stores a cluster as the best one if its IoU with a box is the largest so far. */
  #compare(cluster: number, corners: ArrayLike<number>, classId: number): void {
    const mean = this.#means;
    const i = 4 * cluster;
    const width = Math.min(mean[i + 2], corners[2]) - Math.max(mean[i], corners[0]);
    if (!(width > 0) || this.#classIds[cluster] !== classId) return;
    const height = Math.min(mean[i + 3], corners[3]) - Math.max(mean[i + 1], corners[1]);
    if (!(height > 0)) return;
    const both = width * height;
    const overlap =
      both /
      ((mean[i + 2] - mean[i]) * (mean[i + 3] - mean[i + 1]) +
        (corners[2] - corners[0]) * (corners[3] - corners[1]) -
        both);
    if (overlap > this.#largest || (overlap === this.#largest && this.#best > cluster)) {
      this.#best = cluster;
      this.#largest = overlap;
    }
  }

  /** Adds a cluster to the cells that its mean box has entered. Cells that it left keep the cluster. */
  #list(cluster: number): void {
    if (this.#isWide[cluster] === 1) return;
    const reach = this.#reach.subarray(4 * cluster, 4 * cluster + 4);
    if (this.#cellsOf(this.#means, 4 * cluster) > MOST_CELLS) {
      this.#isWide[cluster] = 1;
      this.#wide.push(cluster);
      return;
    }
    const [left, top, right, bottom] = this.#cells;
    for (let row = top; row <= bottom; row++)
      for (let column = left; column <= right; column++) {
        if (column >= reach[0] && column <= reach[2] && row >= reach[1] && row <= reach[3]) continue;
        const cell = row * this.#axes[0].cells + column;
        this.#before.push(this.#newest[cell]);
        this.#newest[cell] = this.#entries.push(cluster) - 1;
      }
    // Store only the current cells. Earlier cells still list the cluster, perhaps twice.
    reach.set(this.#cells);
  }

  /** Finds the cells into which the central part of a box extends, by `#share`. Returns their count. */
  #cellsOf(corners: ArrayLike<number>, at: number): number {
    const cells = this.#cells;
    const cut = (1 - this.#share) / 2;
    for (let k = 0; k < 2; k++) {
      const [low, high] = [corners[at + k], corners[at + k + 2]];
      const side = high - low;
      cells[k] = cellAt(this.#axes[k], low + cut * side);
      cells[k + 2] = cellAt(this.#axes[k], high - cut * side);
    }
    return (cells[2] - cells[0] + 1) * (cells[3] - cells[1] + 1);
  }
}

type Axis = Readonly<GridAxis>;

/**
 * Returns the fraction of a box's sides, around the centre, that its cells must cover. With this fraction, two boxes
 * with an IoU above the threshold t always share a cell. Along an axis, both boxes together span at most the shorter
 * side / t, and share at least t of that span. So the centres are at most (1 - t) / 2t of the shorter side apart. The
 * added 0.01 is for rounding.
 */
const shareOf = (threshold: number): number => Math.min(1, (1 - threshold) / (2 * threshold) + 0.01);

/** Returns an axis whose cells are as wide as `share` of an average box. */
function axisOf(boxes: Float64Array, first: number, share: number): Axis {
  let low = Infinity;
  let high = -Infinity;
  let sum = 0;
  for (let i = first; i < boxes.length; i += 4) {
    low = Math.min(low, boxes[i]);
    high = Math.max(high, boxes[i + 2]);
    sum += share * (boxes[i + 2] - boxes[i]);
  }
  const n = boxes.length / 4;
  const cells = Math.min(Math.floor(((high - low) * n) / sum), Math.ceil(CELLS_PER_ROOT * Math.sqrt(n)));
  const scale = cells / (high - low);
  return cells > 1 && Number.isFinite(scale) ? { low, scale, cells } : { low: 0, scale: 0, cells: 1 };
}
