/** Traces outlines along edges of pixels, with set pixels on the right: outer rings clockwise, holes the other way. */
import type { MaskPolygon } from "../../decode/mask.ts";

/** Steps from a corner to the next corner for each direction: right, down, left, up. */
const DX = [1, 0, -1, 0];
const DY = [0, 1, 0, -1];
const DOWN = 1;
const UP = 3;

interface Pixels {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Returns the 4-connected parts of a mask: a shared corner does not connect. Holes are 8-connected. */
export function polygonsOf(mask: Pixels): MaskPolygon[] {
  const { width, height, data } = mask;
  const polygons: { outer: number[]; holes: number[][] }[] = [];
  /** For each vertical edge: 0 before the walk, then 1 + the index of its polygon. */
  const walked = new Int32Array((width + 1) * height);
  const corners: number[] = [];
  for (let y = 0; y < height; y++) {
    /** Value of the nearest walked edge to the left. A hole that begins here belongs to the polygon of that edge. */
    let left = 0;
    for (let x = 0, before = 0; x <= width; x++) {
      const pixel = x < width ? data[y * width + x] : 0;
      if (pixel !== before) {
        const edge = y * (width + 1) + x;
        if (walked[edge] === 0) {
          // In reading order, the first edge of an outer ring has a set pixel on its right side. The first edge of a
          // hole does not.
          if (pixel === 1)
            polygons.push({ outer: walk(mask, walked, corners, x, y, UP, polygons.length + 1), holes: [] });
          else polygons[left - 1].holes.push(walk(mask, walked, corners, x, y, DOWN, left));
        }
        left = walked[edge];
      }
      before = pixel;
    }
  }
  return polygons;
}

/**
 * Walks around one ring, starting at the left edge of pixel x, y. Marks the vertical edges of the ring. Returns the
 * corners of the ring, x and y in turn, in pixels of the picture.
 * @param corners list for the corners. It is reused, since one list per ring would take several times the memory of a
 * small ring
 */
function walk(
  { x: originX, y: originY, width, height, data }: Pixels,
  walked: Int32Array,
  corners: number[],
  startX: number,
  startY: number,
  startDirection: number,
  mark: number,
): number[] {
  const isSet = (x: number, y: number): boolean =>
    x >= 0 && y >= 0 && x < width && y < height && data[y * width + x] === 1;
  if (startDirection === UP && isAlone(data, width, startY * width + startX, startX)) {
    const edge = startY * (width + 1) + startX;
    walked[edge] = walked[edge + 1] = mark;
    const [left, top] = [originX + startX, originY + startY];
    return [left, top, left + 1, top, left + 1, top + 1, left, top + 1];
  }
  let count = 0;
  let direction = startDirection;
  let x = startX;
  let y = direction === UP ? startY + 1 : startY;
  const [firstX, firstY] = [x, y];
  do {
    if (direction === UP) walked[(y - 1) * (width + 1) + x] = mark;
    else if (direction === DOWN) walked[y * (width + 1) + x] = mark;
    x += DX[direction];
    y += DY[direction];
    // Look at the two pixels ahead, one on each side.
    const right = isSet(x + AHEAD_RIGHT_X[direction], y + AHEAD_RIGHT_Y[direction]);
    const left = isSet(x + AHEAD_LEFT_X[direction], y + AHEAD_LEFT_Y[direction]);
    // Turn right where two set pixels touch only at this corner, to stay at the same pixel: parts are 4-connected.
    const next = !right ? (direction + 1) & 3 : left ? (direction + 3) & 3 : direction;
    if (next !== direction) {
      corners[count++] = originX + x;
      corners[count++] = originY + y;
    }
    direction = next;
  } while (x !== firstX || y !== firstY || direction !== startDirection);
  return corners.slice(0, count);
}

/** True if no neighbour of a set pixel is set. If `walk` handled such pixels of noise, it would take twice as long. */
const isAlone = (data: Uint8Array, width: number, at: number, x: number): boolean =>
  (x === 0 || data[at - 1] !== 1) &&
  (x === width - 1 || data[at + 1] !== 1) &&
  (at < width || data[at - width] !== 1) &&
  (at + width >= data.length || data[at + width] !== 1);

// Steps from a corner to the pixels ahead of it for each direction: right, down, left, up.
const AHEAD_RIGHT_X = [0, -1, -1, 0];
const AHEAD_RIGHT_Y = [0, 0, -1, -1];
const AHEAD_LEFT_X = [0, 0, -1, -1];
const AHEAD_LEFT_Y = [-1, 0, 0, -1];
