/** Finds the smallest rectangle around points. One side of that rectangle lies on an edge of the convex hull. */

/** Count of a rectangle's values: x, y of the centre, length along and across, x, y of the direction. */
export const RECTANGLE_VALUES = 6;

/** Scratch for `hullInto`, for pictures with a given row count. */
export class HullScratch {
  /** Smallest x of the points in each row. */
  readonly first: Int32Array;
  /** Largest x of the points in each row. */
  readonly last: Int32Array;
  /** x and y of both ends of all rows, from top to bottom. */
  readonly ends: Int32Array;
  /** x and y of the corners of the hull. */
  readonly hull: Float64Array;

  constructor(rows: number) {
    this.first = new Int32Array(rows);
    this.last = new Int32Array(rows);
    this.ends = new Int32Array(4 * rows);
    this.hull = new Float64Array(4 * rows + 2);
  }
}

/**
 * Writes the convex hull of a border's pixels to `scratch.hull`, by Andrew's monotone chain. Only the first and the
 * last pixel of a row can be corners, so nothing needs sorting. Returns the count of corners. Leaves out points on an
 * edge.
 * @param points x and y of each pixel
 */
export function hullInto(points: Int32Array, from: number, to: number, scratch: HullScratch): number {
  const { first, last, ends, hull } = scratch;
  let top = points[2 * from + 1];
  let bottom = top;
  for (let i = from; i < to; i++) {
    const y = points[2 * i + 1];
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  first.fill(0x7fffffff, top, bottom + 1);
  last.fill(-1, top, bottom + 1);
  for (let i = from; i < to; i++) {
    const x = points[2 * i];
    const y = points[2 * i + 1];
    if (x < first[y]) first[y] = x;
    if (x > last[y]) last[y] = x;
  }
  let count = 0;
  const addEnd = (x: number, y: number): void => {
    ends[2 * count] = x;
    ends[2 * count++ + 1] = y;
  };
  for (let y = top; y <= bottom; y++) {
    addEnd(first[y], y);
    if (last[y] > first[y]) addEnd(last[y], y);
  }
  let size = 0;
  const add = (end: number, least: number): void => {
    const x = ends[2 * end];
    const y = ends[2 * end + 1];
    while (size > least) {
      const ax = hull[2 * size - 4];
      const ay = hull[2 * size - 3];
      if ((hull[2 * size - 2] - ax) * (y - ay) - (hull[2 * size - 1] - ay) * (x - ax) > 0) break;
      size--;
    }
    hull[2 * size] = x;
    hull[2 * size++ + 1] = y;
  };
  for (let i = 0; i < count; i++) add(i, 1);
  const lower = size;
  for (let i = count - 2; i >= 0; i--) add(i, lower);
  // The last point equals the first point.
  return count > 1 ? size - 1 : size;
}

/**
 * Writes the smallest rectangle around a hull to `to`: x and y of the centre, length along the edge, length across, and
 * the unit vector of the edge. Uses rotating calipers: from edge to edge, the three most distant corners only move
 * forward, so the time grows with the count of corners. If areas are equal, the first edge wins.
 */
export function rectangleInto(hull: Float64Array, count: number, to: Float64Array): void {
  if (count < 3) {
    const dx = hull[2 * (count - 1)] - hull[0];
    const dy = hull[2 * (count - 1) + 1] - hull[1];
    const length = Math.sqrt(dx * dx + dy * dy);
    to[0] = hull[0] + dx / 2;
    to[1] = hull[1] + dy / 2;
    to[2] = length;
    to[3] = 0;
    to[4] = length > 0 ? dx / length : 1;
    to[5] = length > 0 ? dy / length : 0;
    return;
  }
  let best = Infinity;
  let right = 1;
  let top = 1;
  let left = 1;
  const next = (k: number): number => (k + 1 === count ? 0 : k + 1);
  for (let i = 0; i < count; i++) {
    const j = next(i);
    const ex = hull[2 * j] - hull[2 * i];
    const ey = hull[2 * j + 1] - hull[2 * i + 1];
    const length = Math.sqrt(ex * ex + ey * ey);
    const ux = ex / length;
    const uy = ey / length;
    const along = (k: number): number => hull[2 * k] * ux + hull[2 * k + 1] * uy;
    const across = (k: number): number => hull[2 * k + 1] * ux - hull[2 * k] * uy;
    if (i === 0) right = top = j;
    while (along(next(right)) > along(right)) right = next(right);
    if (i === 0) top = right;
    while (across(next(top)) > across(top)) top = next(top);
    if (i === 0) left = top;
    while (along(next(left)) < along(left)) left = next(left);
    const width = along(right) - along(left);
    const height = across(top) - across(i);
    if (!(width * height < best)) continue;
    best = width * height;
    const middleAlong = (along(right) + along(left)) / 2;
    const middleAcross = (across(top) + across(i)) / 2;
    to[0] = middleAlong * ux - middleAcross * uy;
    to[1] = middleAlong * uy + middleAcross * ux;
    to[2] = width;
    to[3] = height;
    to[4] = ux;
    to[5] = uy;
  }
}

/** Writes the four corners of a rectangle, x and y each. Each side is extended by `more` at both ends. */
export function rectangleCornersInto(rectangle: Float64Array, more: number, to: Float64Array, at = 0): void {
  const [x, y, length, breadth, ux, uy] = rectangle;
  const a = length / 2 + more;
  const b = breadth / 2 + more;
  to[at] = x - a * ux + b * uy;
  to[at + 1] = y - a * uy - b * ux;
  to[at + 2] = x + a * ux + b * uy;
  to[at + 3] = y + a * uy - b * ux;
  to[at + 4] = x + a * ux - b * uy;
  to[at + 5] = y + a * uy + b * ux;
  to[at + 6] = x - a * ux - b * uy;
  to[at + 7] = y - a * uy + b * ux;
}
