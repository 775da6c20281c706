/** Suppression of oriented boxes: centre x, centre y, width, height and angle in radians, clockwise on the screen. */
import { orderOf } from "./candidates.ts";
import { keepFast, keepGreedily, type Suppresses } from "./greedy.ts";
import { COMMON_RULES, SUPPRESS, UNIT, checkLengths, checkOptions } from "./options.ts";

/** Options of `nmsOriented`. */
export interface OrientedOptions {
  /** Overlap of two boxes: of their Gaussians, as Ultralytics, or of their areas, as OpenCV. Default "probiou". */
  readonly iou?: "probiou" | "polygon";
  /** "fast": suppressed boxes suppress too, as Ultralytics. "hard": greedy, as OpenCV. Default "fast". */
  readonly method?: "fast" | "hard";
  /** Default 0.45. */
  readonly iouThreshold?: number;
  /** ">": suppress above the threshold; ">=": at the threshold too. Default: ">=" for "fast", ">" for "hard". */
  readonly suppress?: ">" | ">=";
  /** Boxes at or below this score are left out. Default: none. */
  readonly scoreThreshold?: number;
  /** Largest number of indices that come out. Default: all. */
  readonly maxDetections?: number;
  /** Class id of each box: boxes suppress each other within a class only. Default: one class. */
  readonly classIds?: ArrayLike<number>;
}

const RULES = {
  ...COMMON_RULES,
  iou: ['"probiou" or "polygon"', (x: unknown) => x === "probiou" || x === "polygon"],
  method: ['"fast" or "hard"', (x: unknown) => x === "fast" || x === "hard"],
  iouThreshold: UNIT,
  suppress: SUPPRESS,
} as const;

const WIDTH = 5;
/** Keeps denominators and logarithms finite, as published. */
const LITTLE = 1e-7;

/** Overlaps of the rows of a list. One that certainly misses the threshold may be given as 0. */
interface Overlap {
  of(a: number, b: number): number;
}

/** Overlap of the Gaussians that stand for two boxes. */
class ProbIou implements Overlap {
  private readonly centres: Float64Array;
  /** Variances along x and y, and covariance, of each box. */
  private readonly covariances: Float64Array;
  private readonly determinants: Float64Array;
  /** Largest variance of each box in any direction. */
  private readonly extents: Float64Array;
  /** Squared distance per variance beyond which no overlap reaches the threshold. */
  private readonly reach: number;

  constructor(boxes: ArrayLike<number>, n: number, threshold: number) {
    this.centres = new Float64Array(n * 2);
    this.covariances = new Float64Array(n * 3);
    this.determinants = new Float64Array(n);
    this.extents = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const along = boxes[i * WIDTH + 2] ** 2 / 12;
      const across = boxes[i * WIDTH + 3] ** 2 / 12;
      const cos = Math.cos(boxes[i * WIDTH + 4]);
      const sin = Math.sin(boxes[i * WIDTH + 4]);
      const xx = along * cos * cos + across * sin * sin;
      const yy = along * sin * sin + across * cos * cos;
      const xy = (along - across) * cos * sin;
      this.centres.set([boxes[i * WIDTH], boxes[i * WIDTH + 1]], i * 2);
      this.covariances.set([xx, yy, xy], i * 3);
      this.determinants[i] = Math.max(0, xx * yy - xy * xy);
      this.extents[i] = Math.max(along, across);
    }
    // ProbIoU > t needs a Bhattacharyya distance below -ln(1 - (1 - t)^2). The distance of the centres alone makes
    // it d^2 / 4 by the largest variance. One percent is left for rounding.
    const most = -Math.log(1 - (1 - Math.max(threshold, 1e-6)) ** 2 + LITTLE);
    this.reach = threshold > 0 ? 4.04 * most + LITTLE : Infinity;
  }

  of(a: number, b: number): number {
    const { centres, covariances: v, determinants, extents } = this;
    const dx = centres[a * 2] - centres[b * 2];
    const dy = centres[a * 2 + 1] - centres[b * 2 + 1];
    if (dx * dx + dy * dy > this.reach * (extents[a] + extents[b]) + this.reach * LITTLE) return 0;
    const xx = v[a * 3] + v[b * 3];
    const yy = v[a * 3 + 1] + v[b * 3 + 1];
    const xy = v[a * 3 + 2] + v[b * 3 + 2];
    const determinant = xx * yy - xy * xy;
    const places = (xx * dy * dy + yy * dx * dx) / 4 - (xy * dx * dy) / 2;
    const shapes = determinant / (4 * Math.sqrt(determinants[a] * determinants[b]) + LITTLE);
    const distance = places / (determinant + LITTLE) + Math.log(shapes + LITTLE) / 2;
    return 1 - Math.sqrt(1 - Math.exp(-Math.max(LITTLE, Math.min(100, distance))) + LITTLE);
  }
}

/** Intersection / union of two boxes as polygons. */
class PolygonIou implements Overlap {
  private readonly corners: Float64Array;
  private readonly areas: Float64Array;
  private readonly centres: Float64Array;
  /** Half the diagonal of each box. */
  private readonly radii: Float64Array;
  /** The polygon that is clipped, and the one that comes of it: x, y of each corner. A clip adds one corner at most. */
  private polygon = new Float64Array(16);
  private clipped = new Float64Array(16);

  constructor(boxes: ArrayLike<number>, n: number) {
    this.corners = new Float64Array(n * 8);
    this.areas = new Float64Array(n);
    this.centres = new Float64Array(n * 2);
    this.radii = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const [x, y, width, height, angle] = Array.from({ length: WIDTH }, (_, k) => boxes[i * WIDTH + k]);
      const [ax, ay] = [(width / 2) * Math.cos(angle), (width / 2) * Math.sin(angle)];
      const [bx, by] = [(-height / 2) * Math.sin(angle), (height / 2) * Math.cos(angle)];
      const around = [ax + bx, ay + by, bx - ax, by - ay, -ax - bx, -ay - by, ax - bx, ay - by];
      this.corners.set(
        around.map((v, k) => v + (k % 2 === 0 ? x : y)),
        i * 8,
      );
      this.areas[i] = Math.abs(width * height);
      this.centres.set([x, y], i * 2);
      this.radii[i] = Math.hypot(width, height) / 2;
    }
  }

  of(a: number, b: number): number {
    const { centres, radii, areas } = this;
    const dx = centres[a * 2] - centres[b * 2];
    const dy = centres[a * 2 + 1] - centres[b * 2 + 1];
    const reach = radii[a] + radii[b];
    if (dx * dx + dy * dy > reach * reach) return 0;
    const both = this.sharedArea(a * 8, b * 8);
    const union = areas[a] + areas[b] - both;
    return union > 0 ? both / union : 0;
  }

  /** Returns the area that two boxes share: one is clipped by each side of the other (Sutherland and Hodgman). */
  private sharedArea(a: number, b: number): number {
    const { corners } = this;
    for (let k = 0; k < 8; k++) this.polygon[k] = corners[a + k];
    let n = 4;
    for (let side = 0; side < 8 && n > 0; side += 2) {
      n = this.clip(n, b + side, b + ((side + 2) & 7));
      [this.polygon, this.clipped] = [this.clipped, this.polygon];
    }
    const { polygon: p } = this;
    let twice = 0;
    for (let i = 0, j = n - 1; i < n; j = i++) twice += p[j * 2] * p[i * 2 + 1] - p[i * 2] * p[j * 2 + 1];
    return Math.abs(twice) / 2;
  }

  /** Clips the polygon of n corners by the line through two corners of a box. Returns the number of corners left. */
  private clip(n: number, from: number, to: number): number {
    const { corners, polygon: p, clipped } = this;
    const [x, y] = [corners[from], corners[from + 1]];
    const [sideX, sideY] = [corners[to] - x, corners[to + 1] - y];
    let count = 0;
    let px = p[n * 2 - 2];
    let py = p[n * 2 - 1];
    let before = sideX * (py - y) - sideY * (px - x);
    for (let i = 0; i < n; i++) {
      const qx = p[i * 2];
      const qy = p[i * 2 + 1];
      const here = sideX * (qy - y) - sideY * (qx - x);
      if (before >= 0 !== here >= 0) {
        const part = before / (before - here);
        clipped[count * 2] = px + part * (qx - px);
        clipped[count * 2 + 1] = py + part * (qy - py);
        count++;
      }
      if (here >= 0) {
        clipped[count * 2] = qx;
        clipped[count * 2 + 1] = qy;
        count++;
      }
      [px, py, before] = [qx, qy, here];
    }
    return count;
  }
}

/** Returns the overlap of every two oriented boxes by their rows. */
const overlapsOf = (
  kind: "probiou" | "polygon",
  boxes: ArrayLike<number>,
  n: number,
  threshold: number,
): Overlap => (kind === "polygon" ? new PolygonIou(boxes, n) : new ProbIou(boxes, n, threshold));

/**
 * Returns the overlap of two oriented boxes: centre x, centre y, width, height, angle in radians. Polygon IoU is exact.
 * ProbIoU compares Gaussians: equal boxes have 0.99955, and boxes that only touch have more than 0.
 * @example
 * import { orientedIou } from "boxwright/suppress";
 *
 * const a = [0, 0, 50, 20, 0.3];
 * const b = [5, 3, 48, 22, 0.4];
 * console.log(orientedIou(a, b, "polygon").toFixed(6), orientedIou(a, b, "probiou").toFixed(6)); // 0.691604 0.822876
 */
export function orientedIou(a: ArrayLike<number>, b: ArrayLike<number>, kind: "probiou" | "polygon"): number {
  checkOptions({ iou: kind }, RULES);
  const both = Array.from({ length: 2 * WIDTH }, (_, i) => (i < WIDTH ? a[i] : b[i - WIDTH]));
  return Math.max(0, overlapsOf(kind, both, 2, 0).of(0, 1));
}

/**
 * Suppresses oriented boxes. By default as Ultralytics does: ProbIoU, and a suppressed box suppresses too.
 * `{ iou: "polygon", method: "hard" }` is OpenCV's NMSBoxesRotated.
 * @param boxes rows of centre x, centre y, width, height, angle in radians, in a unit in which both axes count alike
 * @param scores one for each box; a box with a NaN score or that is not finite is left out
 * @returns indices of the kept boxes in order of score, ties by index
 * @throws RangeError for lengths that do not fit and for unknown options or values
 * @example
 * import { nmsOriented } from "boxwright/suppress";
 *
 * const boxes = [50, 50, 80, 20, 0.5, 51, 50, 80, 20, 0.55, 50, 50, 80, 20, 2.07]; // the third stands across
 * console.log([...nmsOriented(boxes, [0.9, 0.8, 0.7], { iou: "polygon", method: "hard" })]); // [0,2]
 */
export function nmsOriented(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  options: OrientedOptions = {},
): Int32Array {
  checkOptions(options, RULES);
  const { iou = "probiou", method = "fast", iouThreshold = 0.45, classIds = null } = options;
  checkLengths(boxes, scores, classIds, WIDTH);
  const orEqual = (options.suppress ?? (method === "fast" ? ">=" : ">")) === ">=";
  const order = orderOf(Float64Array.from(boxes), WIDTH, scores, options.scoreThreshold ?? -Infinity);
  const overlap = overlapsOf(iou, boxes, scores.length, iouThreshold);
  const suppresses: Suppresses = (better, row) => {
    if (classIds !== null && classIds[better] !== classIds[row]) return false;
    const value = overlap.of(better, row);
    return orEqual ? value >= iouThreshold : value > iouThreshold;
  };
  const keep = method === "fast" ? keepFast : keepGreedily;
  return Int32Array.from(keep(order, options.maxDetections ?? Infinity, suppresses));
}
