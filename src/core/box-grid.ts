/** Finds the boxes that a box may overlap, so that not every pair must be compared. */

/** Largest count of cells along an axis, as a multiple of sqrt(count of boxes). */
const CELLS_PER_ROOT = 2;
/**
 * Largest total length of all cells' lists, divided by the count of boxes. Without a limit, a few boxes as large as the
 * picture would stand in the list of every cell.
 */
const MOST_ENTRIES = 16;

/** A grid over boxes. Each cell lists the boxes that extend into the cell. `fill` reuses the grid's arrays. */
export class BoxGrid {
  /** Places (list positions) of the boxes that the last search found. Only the first `count` entries are valid. */
  places = new Int32Array(0);
  count = 0;
  private length = 0;
  private boxes: Float64Array = new Float64Array(0);
  private rows: Int32Array | null = null;
  /** Added to widths and heights of the intersection. */
  private offset = 0;
  private readonly x: GridAxis = { low: 0, scale: 0, cells: 1 };
  private readonly y: GridAxis = { low: 0, scale: 0, cells: 1 };
  /** First entry of each cell in `members`, and one more entry for the end. */
  private starts = new Int32Array(0);
  private members = new Int32Array(0);
  /** For each place, the number of the last search that found its box: several cells may list the same box. */
  private seenIn = new Int32Array(0);
  private searches = 0;

  /**
   * Fills the grid with boxes, as corners x1, y1, x2, y2. `find` reads this array until the next call of `fill`.
   * @param rows row of the box at each place; null: the place itself
   * @param offset added to widths and heights of an intersection, so that boxes at that distance are found too
   */
  fill(boxes: Float64Array, rows: Int32Array | null, length: number, offset: number): void {
    this.boxes = boxes;
    this.rows = rows;
    this.length = length;
    this.offset = offset;
    this.setAxis(this.x, 0);
    this.setAxis(this.y, 1);
    while (this.entries() > MOST_ENTRIES * length) {
      halve(this.x);
      halve(this.y);
    }
    const cells = this.x.cells * this.y.cells;
    if (this.starts.length <= cells) this.starts = new Int32Array(cells + 1);
    if (this.seenIn.length < length) {
      this.seenIn = new Int32Array(2 * length);
      this.places = new Int32Array(2 * length);
      this.searches = 0;
    }
    this.list(cells);
  }

  /** Finds the places of boxes that overlap the box at `at`, enlarged by `offset`. Some may only touch it. */
  find(box: Float64Array, at: number): void {
    const { x, y, offset, boxes, rows, starts, members, seenIn, places } = this;
    const x1 = box[at] - offset;
    const y1 = box[at + 1] - offset;
    const x2 = box[at + 2] + offset;
    const y2 = box[at + 3] + offset;
    const search = this.nextSearch();
    const lastColumn = cellAt(x, x2);
    const lastRow = cellAt(y, y2);
    let count = 0;
    for (let r = cellAt(y, y1); r <= lastRow; r++)
      for (let cell = r * x.cells + cellAt(x, x1); cell <= r * x.cells + lastColumn; cell++)
        for (let i = starts[cell]; i < starts[cell + 1]; i++) {
          const place = members[i];
          if (seenIn[place] === search) continue;
          seenIn[place] = search;
          const b = (rows === null ? place : rows[place]) * 4;
          if (boxes[b] <= x2 && boxes[b + 2] >= x1 && boxes[b + 1] <= y2 && boxes[b + 3] >= y1)
            places[count++] = place;
        }
    this.count = count;
  }

  /** Finds the same places as `find`, in ascending order. */
  findInOrder(box: Float64Array, at: number): void {
    this.find(box, at);
    const { places, count } = this;
    if (count > 32) {
      places.subarray(0, count).sort();
      return;
    }
    for (let i = 1; i < count; i++) {
      const place = places[i];
      let k = i;
      for (; k > 0 && places[k - 1] > place; k--) places[k] = places[k - 1];
      places[k] = place;
    }
  }

  private nextSearch(): number {
    if (this.searches === 0x7fffffff) {
      this.seenIn.fill(0);
      this.searches = 0;
    }
    return ++this.searches;
  }

  /** Chooses the cells along an axis. A cell is as wide as an average box, unless there would be too many cells. */
  private setAxis(axis: GridAxis, first: number): void {
    let low = Infinity;
    let high = -Infinity;
    let sum = 0;
    for (let place = 0; place < this.length; place++) {
      const i = (this.rows === null ? place : this.rows[place]) * 4 + first;
      const from = this.boxes[i];
      const to = this.boxes[i + 2];
      // Skip a box with NaN, which overlaps nothing.
      if (!(from <= to)) continue;
      low = Math.min(low, from);
      high = Math.max(high, to);
      sum += to - from;
    }
    const span = high - low;
    const most = Math.ceil(CELLS_PER_ROOT * Math.sqrt(this.length));
    const cells = Math.floor((span * this.length) / sum);
    const isUsable = span > 0 && Number.isFinite(span) && cells > 1;
    axis.cells = isUsable ? Math.min(cells, most) : 1;
    axis.low = isUsable ? low : 0;
    axis.scale = isUsable ? axis.cells / span : 0;
  }

  /** Returns the total length of all cells' lists. */
  private entries(): number {
    const { x, y, boxes, rows } = this;
    let count = 0;
    for (let place = 0; place < this.length; place++) {
      const b = (rows === null ? place : rows[place]) * 4;
      const columns = cellAt(x, boxes[b + 2]) - cellAt(x, boxes[b]) + 1;
      count += Math.max(0, columns) * Math.max(0, cellAt(y, boxes[b + 3]) - cellAt(y, boxes[b + 1]) + 1);
    }
    return count;
  }

  /** Lists the boxes of each cell: first counts them, then writes them. */
  private list(cells: number): void {
    const { starts } = this;
    starts.fill(0, 0, cells + 1);
    this.forEachCell((cell) => starts[cell]++);
    for (let cell = 1; cell <= cells; cell++) starts[cell] += starts[cell - 1];
    const total = starts[cells];
    if (this.members.length < total) this.members = new Int32Array(Math.ceil(1.5 * total));
    const { members } = this;
    this.forEachCell((cell, place) => (members[--starts[cell]] = place));
  }

  /** Calls `callback` for each pair of a box and a cell into which the box extends. */
  private forEachCell(callback: (cell: number, place: number) => void): void {
    const { x, y, boxes, rows } = this;
    for (let place = 0; place < this.length; place++) {
      const b = (rows === null ? place : rows[place]) * 4;
      const lastColumn = cellAt(x, boxes[b + 2]);
      const lastRow = cellAt(y, boxes[b + 3]);
      const firstColumn = cellAt(x, boxes[b]);
      for (let r = cellAt(y, boxes[b + 1]); r <= lastRow; r++)
        for (let c = firstColumn; c <= lastColumn; c++) callback(r * x.cells + c, place);
    }
  }
}

/** An axis of a grid: its cells, and how many of them a unit of length has. */
export interface GridAxis {
  low: number;
  /** Cells per unit. */
  scale: number;
  cells: number;
}

function halve(axis: GridAxis): void {
  const cells = Math.ceil(axis.cells / 2);
  axis.scale *= cells / axis.cells;
  axis.cells = cells;
}

/** Returns the cell of a coordinate. Coordinates outside the grid are in the nearest cell. NaN is in the first cell. */
export function cellAt({ low, scale, cells }: Readonly<GridAxis>, coordinate: number): number {
  const cell = Math.floor((coordinate - low) * scale);
  return cell >= cells ? cells - 1 : cell > 0 ? cell : 0;
}
