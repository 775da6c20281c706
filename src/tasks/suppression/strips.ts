/** Finds the boxes that overlap a box, with the IoU. Boxes may be dropped between searches. */
import { type GridAxis, cellAt } from "../../core/box-grid.ts";
import { type Candidates, areaAt } from "./candidates.ts";

/** The largest box of a level is this many cells long. More cells exclude more boxes, but take longer. */
const CELLS_PER_BOX = 8;
/** The largest count of cells along an axis is this number * sqrt(count of boxes). */
const CELLS_PER_ROOT = 2;
/** Count of size levels on each side of the median. The outermost levels also hold boxes of all other sizes. */
const LEVELS = 4;

interface Axis extends Readonly<GridAxis> {
  /** Longest side of a box, at least 0. */
  readonly reach: number;
}

/** Boxes of similar size, within a factor of 4. A search area is widened by the longest side in the level. */
interface Level {
  readonly x: Axis;
  readonly y: Axis;
  /** Index of the first cell. The cells of a strip are adjacent. */
  readonly first: number;
}

/**
 * Boxes in the cells of a grid, each in the cell of its first corner. The columns hold the boxes of a strip, a row of
 * cells, one after the other, so that a search reads memory forwards.
 */
export class Strips {
  /** Ranks that the last search found, and their IoU, which is above 0. The first `count` are valid. */
  readonly ranks: Int32Array;
  readonly overlaps: Float64Array;
  count = 0;
  private readonly c: Candidates;
  private readonly levels: readonly Level[];
  /** First place of each cell in the columns, and one more entry for the end. */
  private readonly starts: Int32Array;
  /** The columns, indexed by place. */
  private readonly rankAt: Int32Array;
  private readonly classAt: Int32Array;
  private readonly x1: Float64Array;
  private readonly y1: Float64Array;
  /** x2 of each box, -Infinity once it is dropped. */
  private readonly x2: Float64Array;
  private readonly y2: Float64Array;
  private readonly area: Float64Array;
  /** Place of each rank in the columns; -1 if the rank is not listed. */
  private readonly placeOf: Int32Array;
  private length: number;
  private dropped = 0;

  /** @param ranks ranks of the boxes to find: their places in the order of the scores */
  constructor(c: Candidates, ranks: Int32Array) {
    const { corners: b, order, classIds } = c;
    const n = ranks.length;
    this.c = c;
    this.length = n;
    const groups = splitBySize(c, ranks);
    let cells = 0;
    this.levels = groups.map((members) => {
      const level = { x: axisOf(c, members, 0), y: axisOf(c, members, 1), first: cells };
      cells += level.x.cells * level.y.cells;
      return level;
    });
    const cellOf = ({ x, y, first }: Level, i: number): number =>
      first + cellAt(y, b[i + 1]) * x.cells + cellAt(x, b[i]);
    this.starts = new Int32Array(cells + 1);
    this.x1 = new Float64Array(n);
    this.y1 = new Float64Array(n);
    this.x2 = new Float64Array(n);
    this.y2 = new Float64Array(n);
    this.area = new Float64Array(n);
    this.rankAt = new Int32Array(n);
    this.classAt = new Int32Array(n);
    this.placeOf = new Int32Array(order.length).fill(-1);
    this.ranks = new Int32Array(n);
    this.overlaps = new Float64Array(n);
    const { starts } = this;
    groups.forEach((members, g) => {
      for (const rank of members) starts[cellOf(this.levels[g], order[rank] * 4)]++;
    });
    for (let cell = 1; cell <= cells; cell++) starts[cell] += starts[cell - 1];
    groups.forEach((members, g) => {
      for (const rank of members) {
        const i = order[rank] * 4;
        const place = --starts[cellOf(this.levels[g], i)];
        this.x1[place] = b[i];
        this.y1[place] = b[i + 1];
        this.x2[place] = b[i + 2];
        this.y2[place] = b[i + 3];
        this.area[place] = areaAt(c, i);
        this.rankAt[place] = rank;
        this.classAt[place] = classIds[order[rank]];
        this.placeOf[rank] = place;
      }
    });
  }

  /** Finds the boxes of the same class that share an area with the box of a rank, in no order. */
  find(rank: number): void {
    const { corners: b, order, offset } = this.c;
    const i = order[rank] * 4;
    this.count = 0;
    for (const { x, y, first } of this.levels) {
      const [left, right] = cellsWithin(x, b[i], b[i + 2], offset);
      const [top, bottom] = cellsWithin(y, b[i + 1], b[i + 3], offset);
      for (let strip = top; strip <= bottom; strip++) {
        const cell = first + strip * x.cells;
        this.findBetween(order[rank], this.starts[cell + left], this.starts[cell + right + 1]);
      }
    }
  }

  drop(rank: number): void {
    const place = this.placeOf[rank];
    if (place < 0) return;
    this.placeOf[rank] = -1;
    this.x2[place] = -Infinity;
    if (++this.dropped * 4 > this.length) this.closeGaps();
  }

  /** Adds the boxes at the places `start` to `end` that overlap a row. Calculates the IoU exactly as `iouOf` does. */
  private findBetween(row: number, start: number, end: number): void {
    const { x1, y1, x2, y2, area, classAt, rankAt, ranks, overlaps } = this;
    const { corners: b, classIds, offset } = this.c;
    const i = row * 4;
    const [bx1, by1, bx2, by2] = [b[i], b[i + 1], b[i + 2], b[i + 3]];
    const ownArea = areaAt(this.c, i);
    const classId = classIds[row];
    let { count } = this;
    for (let place = start; place < end; place++) {
      const right = x2[place];
      const bottom = y2[place];
      const left = x1[place];
      const top = y1[place];
      const width = (right < bx2 ? right : bx2) - (left > bx1 ? left : bx1) + offset;
      if (!(width > 0) || classAt[place] !== classId) continue;
      const height = (bottom < by2 ? bottom : by2) - (top > by1 ? top : by1) + offset;
      if (!(height > 0)) continue;
      const shared = width * height;
      const overlap = shared === 0 ? 0 : shared / (ownArea + area[place] - shared);
      if (overlap === 0) continue;
      ranks[count] = rankAt[place];
      overlaps[count++] = overlap;
    }
    this.count = count;
  }

  private closeGaps(): void {
    const { starts, x1, y1, x2, y2, area, classAt, rankAt, placeOf } = this;
    let to = 0;
    let from = 0;
    for (let cell = 0; cell + 1 < starts.length; cell++) {
      for (; from < starts[cell + 1]; from++) {
        if (placeOf[rankAt[from]] < 0) continue;
        x1[to] = x1[from];
        y1[to] = y1[from];
        x2[to] = x2[from];
        y2[to] = y2[from];
        area[to] = area[from];
        classAt[to] = classAt[from];
        rankAt[to] = rankAt[from];
        placeOf[rankAt[to]] = to;
        to++;
      }
      starts[cell + 1] = to;
    }
    this.length = to;
    this.dropped = 0;
  }
}

function splitBySize({ corners: b, order }: Candidates, ranks: Int32Array): Int32Array[] {
  const sizes = Float64Array.from(ranks, (rank) => {
    const i = order[rank] * 4;
    return Math.log2(Math.max(b[i + 2] - b[i], b[i + 3] - b[i + 1], Number.MIN_VALUE)) / 2;
  });
  const median = sizes.slice().sort()[ranks.length >> 1];
  const levels = sizes.map((size) => Math.max(-LEVELS, Math.min(LEVELS, Math.round(size - median))));
  return [...new Set(levels)].map((level) => ranks.filter((_, k) => levels[k] === level));
}

/** @param side 0 for x, 1 for y */
function axisOf({ corners: b, order }: Candidates, ranks: Int32Array, side: 0 | 1): Axis {
  let reach = 0;
  let low = Infinity;
  let high = -Infinity;
  for (const rank of ranks) {
    const i = order[rank] * 4 + side;
    reach = Math.max(reach, b[i + 2] - b[i]);
    low = Math.min(low, b[i]);
    high = Math.max(high, b[i]);
  }
  const span = high - low;
  const most = Math.ceil(CELLS_PER_ROOT * Math.sqrt(ranks.length));
  const cells = span > 0 && span < Infinity ? Math.min(most, Math.floor((CELLS_PER_BOX * span) / reach)) : 1;
  return cells > 1 ? { reach, low, scale: cells / span, cells } : { reach, low, scale: 0, cells: 1 };
}

/** Returns the first and the last cell of the boxes that may share an area with a box from `low` to `high`. */
function cellsWithin(axis: Axis, low: number, high: number, offset: number): [first: number, last: number] {
  const far = axis.reach + offset;
  // A margin above the sum of all rounding errors.
  const slack = 16 * Number.EPSILON * (Math.max(Math.abs(low), Math.abs(high)) + far);
  return [cellAt(axis, low - far - slack), cellAt(axis, high + offset + slack)];
}
