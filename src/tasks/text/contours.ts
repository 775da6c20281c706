/**
 * Follows the borders of the set pixels of a picture: S. Suzuki and K. Abe, "Topological structural analysis of
 * digitized binary images by border following" (1985), algorithm 1. Set pixels that touch at an edge or a corner form a
 * component. A component has one outer border, and one border for each hole. `cv2.findContours` returns the same
 * borders with RETR_LIST and CHAIN_APPROX_NONE.
 */

/** Borders of a picture, one after the other. */
export interface Contours {
  /** x and y of the pixels of all borders. The pixels of a border are in the order in which it was followed. */
  readonly points: Int32Array;
  /** Index of the first pixel of each border. The last entry is the count of all pixels. */
  readonly starts: readonly number[];
}

/** Column steps to the eight neighbours, clockwise from the right one. */
const DX = [1, 1, 0, -1, -1, -1, 0, 1] as const;
/** Row steps to the same neighbours. */
const DY = [0, 1, 1, 1, 0, -1, -1, -1] as const;

const SET = 1;
/** Mark of a pixel on a followed border. `RIGHT_END`: the same if its right neighbour is clear. */
const BORDER = 2;
const RIGHT_END = -2;

/** A picture with clear pixels around it. `follow` marks the pixels of each border, to follow no border twice. */
export class BorderFollower {
  readonly width: number;
  readonly height: number;
  /** Marks of all pixels, `stride` per row, with at least one clear pixel on each side of the picture. */
  readonly marks: Int8Array;
  readonly stride: number;
  /** The same memory as words of four marks. Each row begins at a whole word. */
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

  /** Returns the first `most` borders of the pixels whose mark is 1, in the order of their first pixels. */
  follow(most: number): Contours {
    const { marks, stride, height } = this;
    const words = this.#words;
    const starts: number[] = [];
    this.#count = 0;
    // Test four pixels at a time, because most of a picture is clear.
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

  /** Follows the border from pixel `first`, whose clear neighbour lies in direction `side`. */
  #followOne(first: number, side: number): void {
    const { marks } = this;
    const steps = this.#steps;
    // Turn clockwise from the clear neighbour to the first set one, which is the border's last pixel.
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
      // Turn counterclockwise from the previous pixel to the next set pixel.
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

/** Returns the area that a border encloses, measured through the centres of its pixels, as `cv2.contourArea` does. */
export function areaOf({ points }: Contours, from: number, to: number): number {
  let twice = 0;
  for (let i = from, before = to - 1; i < to; before = i++)
    twice += points[2 * before] * points[2 * i + 1] - points[2 * i] * points[2 * before + 1];
  return Math.abs(twice) / 2;
}
