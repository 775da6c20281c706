/** Candidates of a suppression: corners in doubles and the order of scores. Functions measure overlaps. */
import { writeCorners } from "../../core/corners.ts";
import { type SuppressBoxFormat, checkCorners } from "../../core/suppression.ts";

export interface Candidates {
  /** x1, y1, x2, y2 of every box, row by row. */
  readonly corners: Float64Array;
  readonly scores: Float64Array;
  /** Class id of every box. All are 0 if boxes of different classes suppress each other. */
  readonly classIds: Int32Array;
  /** Rows of the valid boxes, best first. If scores are equal, the lower row number comes first. */
  readonly order: Int32Array;
  /** Option `pixelOffset`: added to sides to compute areas. 1 if the pixels of both corners belong to the box. */
  readonly offset: number;
}

/** The boxes that suppression kept. */
export interface Outcome {
  /** Row of each box, best first. */
  readonly rows: readonly number[];
  /** Score of each box. */
  readonly scores: readonly number[];
  /** Corners of each box. Null for methods that do not move boxes: `Candidates.corners` then has the corners. */
  readonly corners: readonly number[] | null;
  /** Rows that were merged into each box. The box's own row comes first. Null for methods that do not merge. */
  readonly members: readonly (readonly number[])[] | null;
}

/** Returns the corners in doubles. Throws if most boxes have x2 < x1 or y2 < y1: they probably hold sizes. */
export function readCorners(boxes: ArrayLike<number>, n: number, format: SuppressBoxFormat): Float64Array {
  checkCorners(boxes, format);
  const corners = new Float64Array(n * 4);
  for (let i = 0; i < n * 4; i += 4) writeCorners(corners, i, boxes, i, format);
  return corners;
}

/** Converts the corners at `from` to the four values of a format, and writes them to `to`. */
export function writeBox(
  to: Float32Array,
  at: number,
  corners: ArrayLike<number>,
  from: number,
  format: SuppressBoxFormat,
): void {
  const x1 = corners[from];
  const y1 = corners[from + 1];
  const x2 = corners[from + 2];
  const y2 = corners[from + 3];
  const values = {
    xyxy: [x1, y1, x2, y2],
    yxyx: [y1, x1, y2, x2],
    xywh: [x1, y1, x2 - x1, y2 - y1],
    cxcywh: [(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1],
  }[format];
  to.set(values, at);
}

/**
 * Returns the rows with a finite box and area and a score above the threshold, best first. If scores are equal, the
 * lower row number comes first.
 */
export function orderOf(
  values: Float64Array,
  width: number,
  scores: ArrayLike<number>,
  threshold: number,
): Int32Array {
  const rows: number[] = [];
  // Compare in f32, as the kernel does: a score of 0.1 in a Float32Array equals the threshold 0.1.
  const limit = Math.fround(threshold);
  for (let i = 0; i < scores.length; i++) {
    const score = Math.fround(scores[i]);
    const passes = score > limit || (limit === -Infinity && score === limit);
    const at = i * width;
    let sum = 0;
    for (let k = 0; k < width; k++) sum += values[at + k];
    // Check the area too: an infinite area would make the IoU NaN.
    const area = width === 4 ? (values[at + 2] - values[at]) * (values[at + 3] - values[at + 1]) : 0;
    if (passes && Number.isFinite(sum + 2 * area)) rows.push(i);
  }
  return Int32Array.from(rows).sort((a, b) => scores[b] - scores[a] || a - b);
}

/** Returns the shared area of two boxes. */
function sharedArea({ corners: b, offset }: Candidates, i: number, j: number): number {
  const width = Math.min(b[i + 2], b[j + 2]) - Math.max(b[i], b[j]) + offset;
  if (!(width > 0)) return 0;
  const height = Math.min(b[i + 3], b[j + 3]) - Math.max(b[i + 1], b[j + 1]) + offset;
  return height > 0 ? width * height : 0;
}

/** Returns the area of the box whose corners begin at `i`. */
export const areaAt = ({ corners: b, offset }: Candidates, i: number): number =>
  (b[i + 2] - b[i] + offset) * (b[i + 3] - b[i + 1] + offset);

/** Returns intersection / union of two rows. Returns 0 if the union is empty. */
export function iouOf(c: Candidates, a: number, b: number): number {
  const shared = sharedArea(c, a * 4, b * 4);
  return shared === 0 ? 0 : shared / (areaAt(c, a * 4) + areaAt(c, b * 4) - shared);
}

/** Returns intersection / smaller area of two rows. Returns 0 if the smaller area is 0. */
export function iosOf(c: Candidates, a: number, b: number): number {
  const shared = sharedArea(c, a * 4, b * 4);
  return shared === 0 ? 0 : shared / Math.min(areaAt(c, a * 4), areaAt(c, b * 4));
}

/** Returns the DIoU of two rows: IoU - (d^2 / c^2) ^ beta. d: distance of centres, c: diagonal around both boxes. */
export function diouOf(c: Candidates, a: number, b: number, beta: number): number {
  const { corners: v } = c;
  const i = a * 4;
  const j = b * 4;
  const dx = (v[i] + v[i + 2] - v[j] - v[j + 2]) / 2;
  const dy = (v[i + 1] + v[i + 3] - v[j + 1] - v[j + 3]) / 2;
  const width = Math.max(v[i + 2], v[j + 2]) - Math.min(v[i], v[j]);
  const height = Math.max(v[i + 3], v[j + 3]) - Math.min(v[i + 1], v[j + 1]);
  const diagonal = width * width + height * height;
  return iouOf(c, a, b) - (diagonal > 0 ? ((dx * dx + dy * dy) / diagonal) ** beta : 0);
}

/** True if two rows can suppress each other. */
export const isSameClass = ({ classIds }: Candidates, a: number, b: number): boolean =>
  classIds[a] === classIds[b];
