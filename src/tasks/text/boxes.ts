/**
 * Turns a map of text probabilities into rotated boxes, by two published rules:
 *
 * - `paddleocr`: `db_postprocess.py` of PaddleOCR, with quads as polygons and the fast score
 * - `depthai`: PPTextDetectionParser of depthai-nodes (`parsers/utils/ppdet.py`)
 *
 * All coordinates are indices of pixels, as in both sources: 0 is the centre of the first pixel.
 */
import { BorderFollower, type Contours, areaOf } from "./contours.ts";
import { HullScratch, RECTANGLE_VALUES, hullInto, rectangleCornersInto, rectangleInto } from "./rectangle.ts";

/** Settings for turning a map into boxes. */
export interface TextSettings {
  readonly rule: "paddleocr" | "depthai";
  /** A pixel is text if its probability exceeds this value. */
  readonly maskThreshold: number;
  /** For the rule "paddleocr": each side of a box moves outwards by area x ratio / perimeter. */
  readonly unclipRatio: number;
}

/** The conditions that a box must meet under each rule. */
const LIMITS = {
  /** Smallest length of the rectangle's shorter side in pixels: `side` before it grows, `grownSide` after. */
  paddleocr: { side: 3, grownSide: 5, area: 0 },
  /** Smallest allowed length of the rectangle's shorter side, and smallest allowed area inside the border. */
  depthai: { side: 8, grownSide: 0, area: 8 },
} as const;

/** Largest count of borders that are examined: `max_candidates` of PaddleOCR. */
export const MOST_BORDERS = 1000;

/** Pixels by which depthai's rule shrinks a rectangle on each side before it takes the mean. */
const SHRINK = 2;

/** One pixel in the fixed-point numbers that OpenCV uses for edges. */
const ONE = 1 << 16;

/** Count of values of a box: score, then x and y of the four corners in order around the box. */
export const TEXT_VALUES = 9;

/** Turns maps of one size into boxes. The arrays are reused. */
export class TextReader {
  /** The boxes, best first, with `TEXT_VALUES` values each. */
  readonly boxes: Float64Array;
  /** Range of the last map's values, widened to contain 0..1. `lost`: count of NaN. `texts`: count of text pixels. */
  range: { readonly least: number; readonly most: number; readonly lost: number; readonly texts: number } = {
    texts: 0,
    least: 0,
    most: 1,
    lost: 0,
  };
  /** True if the last map had more borders than `MOST_BORDERS`. */
  isCut = false;
  readonly #width: number;
  readonly #height: number;
  readonly #settings: TextSettings;
  readonly #follower: BorderFollower;
  /** Sums of the probabilities from the start of a row to each pixel. A row has `width + 1` sums. */
  readonly #sums: Float64Array;
  readonly #rectangle = new Float64Array(RECTANGLE_VALUES);
  readonly #corners = new Float64Array(8);
  /** First pixel of a quad in each row. */
  readonly #first: Int32Array;
  /** Last pixel of a quad in each row. */
  readonly #last: Int32Array;
  /** x at which the left edge of the quad crosses each row, in pixels times `ONE`. */
  readonly #left: Float64Array;
  readonly #right: Float64Array;
  /** x and y of the ends of a side. */
  readonly #ends = new Float64Array(4);
  readonly #most: number;
  readonly #scratch: HullScratch;

  /** @param most largest count of boxes that `read` returns */
  constructor(width: number, height: number, settings: TextSettings, most: number) {
    this.#width = width;
    this.#height = height;
    this.#settings = settings;
    this.#most = most;
    this.#follower = new BorderFollower(width, height);
    this.#sums = new Float64Array((width + 1) * height);
    this.#scratch = new HullScratch(height);
    this.#first = new Int32Array(height);
    this.#last = new Int32Array(height);
    this.#left = new Float64Array(height);
    this.#right = new Float64Array(height);
    this.boxes = new Float64Array(MOST_BORDERS * TEXT_VALUES);
  }

  /** Writes the boxes of a map of probabilities whose score is at least `threshold`. Returns their count. */
  read(map: Float32Array | Float64Array, threshold: number): number {
    this.#mark(map);
    const contours = this.#follower.follow(MOST_BORDERS + 1);
    let borders = contours.starts.length - 1;
    this.isCut = borders > MOST_BORDERS;
    if (this.isCut) borders = MOST_BORDERS;
    let count = 0;
    for (const border of this.#ordered(contours, borders))
      if (this.#boxOf(contours, border, threshold, count * TEXT_VALUES)) count++;
    return this.#sort(count);
  }

  /** Marks the text pixels, and sums the probabilities of each row. */
  #mark(map: Float32Array | Float64Array): void {
    const { marks, stride } = this.#follower;
    const { rule } = this.#settings;
    // Compare in f32, as the sources do.
    const maskThreshold = Math.fround(this.#settings.maskThreshold);
    const sums = this.#sums;
    const width = this.#width;
    const height = this.#height;
    const reach = rule === "depthai" ? 1 : 0;
    let [least, most, lost, others] = [0, 1, 0, 0];
    marks.fill(0);
    for (let y = 0, at = 0, to = 0; y < height; y++) {
      let sum = 0;
      to = y * (width + 1);
      for (let x = 0; x < width; x++, at++) {
        const p = map[at];
        // NaN is not text, and counts as 0 in the sums.
        sum += p === p ? p : 0;
        sums[++to] = sum;
        if (!(p > maskThreshold)) {
          others++;
          if (p < least) least = p;
          else if (p !== p) lost++;
          continue;
        }
        if (p > most) most = p;
        if (reach === 0) {
          marks[(y + 1) * stride + x + 1] = 1;
          continue;
        }
        // Dilate by 3 x 3 inside the picture.
        for (let j = Math.max(0, y - reach); j <= Math.min(height - 1, y + reach); j++)
          for (let i = Math.max(0, x - reach); i <= Math.min(width - 1, x + reach); i++)
            marks[(j + 1) * stride + i + 1] = 1;
      }
    }
    this.range = { least, most, lost, texts: width * height - others };
  }

  /** Returns the borders to examine. Depthai's rule drops small areas, and keeps the largest if there are too many. */
  #ordered(contours: Contours, borders: number): number[] {
    const { starts } = contours;
    const { area: least } = LIMITS[this.#settings.rule];
    const all = Array.from({ length: borders }, (_, border) => border);
    if (this.#settings.rule !== "depthai") return all;
    const areas = all.map((border) => areaOf(contours, starts[border], starts[border + 1]));
    const large = all.filter((border) => areas[border] > least);
    if (large.length <= this.#most) return large;
    return large.sort((a, b) => areas[b] - areas[a] || a - b).slice(0, this.#most);
  }

  /** Writes the box around a border to `boxes`. Returns false if the border has no valid box. */
  #boxOf({ points, starts }: Contours, border: number, threshold: number, at: number): boolean {
    const from = starts[border];
    const to = starts[border + 1];
    const rectangle = this.#rectangle;
    rectangleInto(this.#scratch.hull, hullInto(points, from, to, this.#scratch), rectangle);
    const { rule, unclipRatio } = this.#settings;
    const limit = LIMITS[rule];
    const [, , length, breadth] = rectangle;
    if (Math.min(length, breadth) < limit.side) return false;
    const score = rule === "depthai" ? this.#shrunkMean() : this.#mean();
    if (!(score >= threshold)) return false;
    const corners = this.#corners;
    if (rule === "depthai") this.#widen();
    else {
      const grow = (length * breadth * unclipRatio) / (2 * (length + breadth));
      if (Math.min(length, breadth) + 2 * grow < limit.grownSide) return false;
      rectangleCornersInto(rectangle, grow, corners);
    }
    fromUpperLeft(corners);
    this.boxes.set(corners, at + 1);
    this.boxes[at] = score;
    return true;
  }

  /** Returns the mean probability over the whole pixels of the rectangle (`box_score_fast` of PaddleOCR). */
  #mean(): number {
    const corners = this.#corners;
    rectangleCornersInto(this.#rectangle, 0, corners);
    for (let k = 0; k < 8; k++) corners[k] = cut(corners[k]);
    return this.#meanOf(0);
  }

  /** Returns the mean probability inside the rectangle after moving each corner inwards by two pixels on both axes. */
  #shrunkMean(): number {
    const corners = this.#corners;
    rectangleCornersInto(this.#rectangle, 0, corners);
    fromUpperLeft(corners);
    const inwards = [1, 1, -1, 1, -1, -1, 1, -1];
    for (let k = 0; k < 8; k++) corners[k] = Math.trunc(corners[k] + SHRINK * inwards[k]);
    // Add 1e-5 to the count, as the source does, so that an empty rectangle does not divide by 0.
    return this.#meanOf(1e-5);
  }

  /**
   * Returns the mean over the pixels that `cv2.fillPoly` sets: pixels on the four lines between the corners, and pixels
   * between two edges of a row. OpenCV 4.6 clips the lines at the picture, to whole pixels, but does not clip the
   * edges.
   * @param more added to the count of pixels
   */
  #meanOf(more: number): number {
    const corners = this.#corners;
    const height = this.#height;
    const first = this.#first;
    const last = this.#last;
    const left = this.#left;
    const right = this.#right;
    let top = height;
    let bottom = -1;
    for (let k = 1; k < 8; k += 2) {
      top = Math.min(top, Math.max(0, corners[k]));
      bottom = Math.max(bottom, Math.min(height - 1, corners[k]));
    }
    for (let y = top; y <= bottom; y++) {
      first[y] = this.#width;
      last[y] = -1;
      left[y] = Infinity;
      right[y] = -Infinity;
    }
    for (let k = 0; k < 4; k++) {
      const n = ((k + 1) & 3) * 2;
      this.#side(corners[2 * k], corners[2 * k + 1], corners[n], corners[n + 1]);
    }
    let sum = 0;
    let count = 0;
    for (let y = top; y <= bottom; y++) {
      const from = Math.max(0, Math.min(first[y], Math.ceil(left[y] / ONE)));
      const to = Math.min(this.#width - 1, Math.max(last[y], Math.floor(right[y] / ONE)));
      if (to < from) continue;
      const row = y * (this.#width + 1);
      sum += this.#sums[row + to + 1] - this.#sums[row + from];
      count += to - from + 1;
    }
    return sum / (count + more);
  }

  /** Adds a side of the quad to its rows: the pixels of the line, and the x at which the edge crosses each row. */
  #side(x1: number, y1: number, x2: number, y2: number): void {
    const ends = this.#ends;
    ends.set([x1, y1, x2, y2]);
    if (clipLine(ends, this.#width - 1, this.#height - 1)) this.#line(ends[0], ends[1], ends[2], ends[3]);
    const from = Math.min(y1, y2);
    const to = Math.min(this.#height, Math.max(y1, y2));
    const step = Math.trunc(((x2 - x1) * ONE) / (y2 - y1));
    for (let y = Math.max(0, from); y < to; y++) {
      const x = (y1 < y2 ? x1 : x2) * ONE + (y - from) * step;
      this.#left[y] = Math.min(this.#left[y], x);
      this.#right[y] = Math.max(this.#right[y], x);
    }
  }

  /** Adds the pixels of a line to the rows of the quad. Steps as OpenCV's `LineIterator` with 8 neighbours does. */
  #line(x1: number, y1: number, x2: number, y2: number): void {
    let x = x2 < x1 ? x2 : x1;
    let y = x2 < x1 ? y2 : y1;
    const dx = Math.abs(x2 - x1);
    const stepY = (x2 < x1 ? y1 - y2 : y2 - y1) < 0 ? -1 : 1;
    const dy = Math.abs(y2 - y1);
    const isSteep = dy > dx;
    const long = isSteep ? dy : dx;
    const short = isSteep ? dx : dy;
    let error = long - 2 * short;
    for (let i = 0; i <= long; i++) {
      if (y >= 0 && y < this.#height) {
        if (x < this.#first[y]) this.#first[y] = x;
        if (x > this.#last[y]) this.#last[y] = x;
      }
      const turns = error < 0;
      error += (turns ? 2 * long : 0) - 2 * short;
      if (isSteep || turns) y += stepY;
      if (!isSteep || turns) x += 1;
    }
  }

  /** Writes depthai's box: sides grow by a factor of root 2, up to the picture's, and the angle is in whole degrees. */
  #widen(): void {
    const rectangle = this.#rectangle;
    const corners = this.#corners;
    rectangleCornersInto(rectangle, 0, corners);
    fromUpperLeft(corners);
    const [x1, y1, x2, y2, x3, y3] = corners;
    const degrees = Math.round((Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI);
    const angle = (degrees * Math.PI) / 180;
    const longer = (dx: number, dy: number, most: number): number =>
      Math.min(most, Math.sqrt(dx * dx + dy * dy) * Math.SQRT2);
    rectangle[2] = longer(x2 - x1, y2 - y1, this.#width);
    rectangle[3] = longer(x3 - x2, y3 - y2, this.#height);
    rectangle[4] = Math.cos(angle);
    rectangle[5] = Math.sin(angle);
    rectangleCornersInto(rectangle, 0, corners);
  }

  /** Sorts the boxes by score. Boxes with equal scores keep their order. Returns the count, at most `#most`. */
  #sort(count: number): number {
    const { boxes } = this;
    const order = Array.from({ length: count }, (_, i) => i).sort(
      (a, b) => boxes[b * TEXT_VALUES] - boxes[a * TEXT_VALUES] || a - b,
    );
    const sorted = new Float64Array(count * TEXT_VALUES);
    order.forEach((from, to) =>
      sorted.set(boxes.subarray(from * TEXT_VALUES, (from + 1) * TEXT_VALUES), to * TEXT_VALUES),
    );
    boxes.set(sorted);
    return Math.min(count, this.#most);
  }
}

/** Truncates a coordinate to a whole pixel, towards 0. A coordinate just below a whole number counts as that number. */
function cut(x: number): number {
  const whole = Math.round(x);
  return Math.abs(x - whole) < 1e-6 ? whole : Math.trunc(x);
}

/** Returns on which sides a point lies outside the picture, as bits: left 1, right 2, top 4, bottom 8. */
const sidesOf = (x: number, y: number, right: number, bottom: number): number =>
  (x < 0 ? 1 : 0) + (x > right ? 2 : 0) + (y < 0 ? 4 : 0) + (y > bottom ? 8 : 0);

/** Clips a line at the picture as OpenCV's `clipLine`: at top and bottom, then at the sides. True if a part is left. */
function clipLine(ends: Float64Array, right: number, bottom: number): boolean {
  const first = sidesOf(ends[0], ends[1], right, bottom);
  const second = sidesOf(ends[2], ends[3], right, bottom);
  if ((first & second) !== 0) return false;
  for (const [end, sides] of [
    [0, first],
    [2, second],
  ])
    if ((sides & 12) !== 0) moveTo(ends, end, 1, (sides & 8) !== 0 ? bottom : 0);
  const firstAcross = sidesOf(ends[0], 0, right, bottom);
  const secondAcross = sidesOf(ends[2], 0, right, bottom);
  if ((firstAcross & secondAcross) !== 0) return false;
  if (firstAcross !== 0) moveTo(ends, 0, 0, firstAcross === 2 ? right : 0);
  if (secondAcross !== 0) moveTo(ends, 2, 0, secondAcross === 2 ? right : 0);
  return true;
}

/** Moves one end along the line until x (`axis` 0) or y (`axis` 1) equals `to`. The other coordinate is truncated. */
function moveTo(ends: Float64Array, end: number, axis: number, to: number): void {
  const other = 1 - axis;
  const slope = (to - ends[end + axis]) * (ends[2 + other] - ends[other]);
  ends[end + other] += Math.trunc(slope / (ends[2 + axis] - ends[axis]));
  ends[end + axis] = to;
}

/** Orders four corners from the upper left, clockwise. The two corners with the smallest x are the left ones. */
function fromUpperLeft(corners: Float64Array): void {
  const points = [0, 2, 4, 6].map((k) => [corners[k], corners[k + 1]] as const).sort((a, b) => a[0] - b[0]);
  const [a, b, c, d] = points;
  const [upperLeft, lowerLeft] = b[1] > a[1] ? [a, b] : [b, a];
  const [upperRight, lowerRight] = d[1] > c[1] ? [c, d] : [d, c];
  [upperLeft, upperRight, lowerRight, lowerLeft].forEach(([x, y], k) => {
    corners[2 * k] = x;
    corners[2 * k + 1] = y;
  });
}
