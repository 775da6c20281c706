/** The candidates as columns by rank. If most boxes overlap, long loops over columns are faster than a grid. */
import type { Candidates } from "./candidates.ts";

export class RankedBoxes {
  readonly #x1: Float64Array;
  readonly #y1: Float64Array;
  readonly #x2: Float64Array;
  readonly #y2: Float64Array;
  readonly #areas: Float64Array;
  readonly #classIds: Int32Array;
  readonly #offset: number;

  constructor({ corners, order, classIds, offset }: Candidates) {
    const column = (k: number): Float64Array => Float64Array.from(order, (row) => corners[row * 4 + k]);
    this.#x1 = column(0);
    this.#y1 = column(1);
    this.#x2 = column(2);
    this.#y2 = column(3);
    this.#areas = this.#x1.map((x, i) => (this.#x2[i] - x + offset) * (this.#y2[i] - this.#y1[i] + offset));
    this.#classIds = Int32Array.from(order, (row) => classIds[row]);
    this.#offset = offset;
  }

  /** Writes the overlaps of a rank with the first `count` others, -1 for another class. Returns the largest. */
  overlapsWith(
    rank: number,
    others: Int32Array,
    count: number,
    metric: "iou" | "ios",
    overlaps: Float64Array,
  ): number {
    const offset = this.#offset;
    const [x1, y1, x2, y2] = [this.#x1, this.#y1, this.#x2, this.#y2];
    const [left, top, right, bottom] = [x1[rank], y1[rank], x2[rank], y2[rank]];
    const areas = this.#areas;
    const area = areas[rank];
    const classIds = this.#classIds;
    const classId = classIds[rank];
    const isIou = metric === "iou";
    let most = 0;
    for (let k = 0; k < count; k++) {
      const i = others[k];
      let overlap = classIds[i] === classId ? 0 : -1;
      const width = (x2[i] < right ? x2[i] : right) - (x1[i] > left ? x1[i] : left) + offset;
      const height = (y2[i] < bottom ? y2[i] : bottom) - (y1[i] > top ? y1[i] : top) + offset;
      if (width > 0 && height > 0 && overlap === 0) {
        const shared = width * height;
        const smaller = areas[i] < area ? areas[i] : area;
        // Write 0 if the product of the sides underflows to 0.
        if (shared > 0) overlap = shared / (isIou ? areas[i] + area - shared : smaller);
        if (overlap > most) most = overlap;
      }
      overlaps[k] = overlap;
    }
    return most;
  }
}

/** If a grid finds more than this fraction of all ranks, comparing all ranks is faster. */
const CROWDED = 0.2;
/** Count of searches after which the fraction is checked. */
const SAMPLE = 256;

/** Detects that most boxes overlap: counts the neighbours that the first searches of a grid find. */
export class Crowd {
  readonly #c: Candidates;
  #sum = 0;
  #searches = 0;

  constructor(c: Candidates) {
    this.#c = c;
  }

  /** Counts the neighbours of a search. Returns columns if the searches so far show a crowd, else null. */
  count(found: number): RankedBoxes | null {
    this.#sum += found;
    return ++this.#searches === SAMPLE && this.#sum > CROWDED * SAMPLE * this.#c.order.length
      ? new RankedBoxes(this.#c)
      : null;
  }
}
