/**
 * Follows the borders of the set pixels of a picture: S. Suzuki and K. Abe, "Topological structural analysis of
 * digitized binary images by border following" (1985), algorithm 1. Set pixels that touch by an edge or a corner belong
 * together. Each component has one outer border, and one more for each of its holes, as `cv2.findContours` returns them
 * with RETR_LIST and CHAIN_APPROX_NONE.
 */

/** Borders of a picture, one after the other. */
export interface Contours {
  /** x and y of each pixel of each border, in the order in which the border is followed. */
  readonly points: Int32Array;
  /** Index of the first pixel of each border, and at the end the count of all pixels. */
  readonly starts: readonly number[];
}

/** Column and row steps to the eight neighbours, clockwise from the right one. */
const DX = [1, 1, 0, -1, -1, -1, 0, 1] as const;
const DY = [0, 1, 1, 1, 0, -1, -1, -1] as const;

/** Values of a pixel: set, on a border, on a border with the right neighbour outside. */
const SET = 1;
const BORDER = 2;
const RIGHT_END = -2;

/**
 * A picture of set pixels surrounded by clear ones, so that steps need no check of the edges. `follow` marks the pixels
 * of borders, so that each border is followed once.
 */
export class BorderFollower {
  readonly width: number;
  readonly height: number;
  /** Marks of all pixels, `stride` a row, with at least one clear pixel around the picture. */
  readonly marks: Int8Array;
  readonly stride: number;
  /** The same memory, four marks a word: rows begin at whole words. */
  readonly #words: Int32Array;
  readonly #steps: Int32Array;
  #points = new Int32Array(1024);
  #count = 0;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.stride = Math.ceil((width + 2) / 4) * 4;
    this.#words = new Int32Array((this.stride / 4) * (height + 2));
    this.marks = new Int8Array(this.#words.buffer);
    this.#steps = Int32Array.from(DX, (dx, k) => dx + DY[k] * this.stride);
  }

  /** Returns the borders of the marks that are 1. Takes at most `most` of them, in the order of their first pixels. */
  follow(most: number): Contours {
    const { marks, stride, height } = this;
    const words = this.#words;
    const starts: number[] = [];
    this.#count = 0;
    // Look at four pixels at a time, since most of a picture is clear.
    for (let word = stride / 4, last = word * (height + 1); word < last; word++) {
      if (words[word] === 0) continue;
      for (let at = 4 * word; at < 4 * word + 4; at++) {
        const mark = marks[at];
        if (mark === 0) continue;
        const isOuter = mark === SET && marks[at - 1] === 0;
        if (!isOuter && !(mark >= SET && marks[at + 1] === 0)) continue;
        if (starts.length === most) return this.#contours(starts);
        starts.push(this.#count);
        this.#followOne(at, isOuter ? 4 : 0);
      }
    }
    return this.#contours(starts);
  }

  #contours(starts: number[]): Contours {
    return { points: this.#points.slice(0, 2 * this.#count), starts: [...starts, this.#count] };
  }

  /**
   * Follows the border that begins at the pixel `first`.
   * @param side direction of the clear neighbour from which the border was met
   */
  #followOne(first: number, side: number): void {
    const { marks } = this;
    const steps = this.#steps;
    // Turn clockwise from the clear neighbour to the first set one: the last pixel of the border.
    let turn = 1;
    while (turn < 8 && marks[first + steps[(side + turn) & 7]] === 0) turn++;
    if (turn === 8) {
      marks[first] = RIGHT_END;
      return this.#add(first);
    }
    const last = first + steps[(side + turn) & 7];
    let at = first;
    let from = (side + turn) & 7;
    for (;;) {
      // Turn counterclockwise from the pixel before to the next set one.
      let sawRight = false;
      let direction = (from + 7) & 7;
      while (marks[at + steps[direction]] === 0) {
        if (direction === 0) sawRight = true;
        direction = (direction + 7) & 7;
      }
      if (sawRight) marks[at] = RIGHT_END;
      else if (marks[at] === SET) marks[at] = BORDER;
      this.#add(at);
      const next = at + steps[direction];
      if (next === first && at === last) return;
      at = next;
      from = (direction + 4) & 7;
    }
  }

  #add(at: number): void {
    if (2 * this.#count === this.#points.length) {
      const more = new Int32Array(2 * this.#points.length);
      more.set(this.#points);
      this.#points = more;
    }
    const row = Math.floor(at / this.stride);
    this.#points[2 * this.#count] = at - row * this.stride - 1;
    this.#points[2 * this.#count + 1] = row - 1;
    this.#count++;
  }
}

/** Returns the area that a border encloses, through the centres of its pixels, as `cv2.contourArea` does. */
export function areaOf({ points }: Contours, from: number, to: number): number {
  let twice = 0;
  for (let i = from, before = to - 1; i < to; before = i++)
    twice += points[2 * before] * points[2 * i + 1] - points[2 * i] * points[2 * before + 1];
  return Math.abs(twice) / 2;
}
