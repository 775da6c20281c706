/**
 * The geometry of oriented boxes. An oriented box is five numbers: centre x, centre y, width, height, and the angle in
 * radians. y points down and the angle turns x towards y, so that positive angles are clockwise on a screen.
 */

import { IN_RADIANS, isInDegrees } from "../../core/crop.ts";
import { angleOfVector, writeCosSin } from "../../core/elementary.ts";
import { refuseValue } from "../../core/errors.ts";
import { show } from "../../core/tensor.ts";
import type { QuarterTurns } from "../../core/turn.ts";

/** Numbers of a box: centre x, centre y, width, height, angle. */
export type OrientedBox = readonly [cx: number, cy: number, width: number, height: number, angle: number];

const QUARTER = Math.PI / 2;

/** Cosine and sine of the last angle. */
const cosSin = /* @__PURE__ */ new Float64Array(2);

/** Returns the remainder in [0, by), as Python's `%`. */
const modulo = (value: number, by: number): number => {
  // Avoid `%`, which takes as long as a cosine. Most angles are already in range.
  if (value >= 0 && value < by) return value;
  const rest = value > -by && value < by ? value : value % by;
  // Return 0 for a tiny negative remainder: `rest + by` would be rounded to `by`, which is out of range.
  return rest < 0 ? (rest + by < by ? rest + by : 0) : rest;
};

/** Writes an equal box with its angle in [0, pi/2), as Ultralytics does. `box` and `to` may be the same. */
export function regulariseInto(box: ArrayLike<number>, from: number, to: Float64Array, at: number): void {
  const half = modulo(box[from + 4], Math.PI);
  const swapsSides = half >= QUARTER;
  const width = box[from + 2];
  const height = box[from + 3];
  to[at] = box[from];
  to[at + 1] = box[from + 1];
  to[at + 2] = swapsSides ? height : width;
  to[at + 3] = swapsSides ? width : height;
  // The difference is exact: `half` is within a factor of 2 of QUARTER (Sterbenz).
  to[at + 4] = swapsSides ? half - QUARTER : half;
}

/** Writes a box's corners: c + u + v, c + u - v, c - u - v, c - u + v with u along the width, v the height. */
export function cornersInto(box: ArrayLike<number>, from: number, to: Float64Array, at: number): void {
  const x = box[from];
  const y = box[from + 1];
  writeCosSin(box[from + 4], cosSin);
  const cos = cosSin[0] / 2;
  const sin = cosSin[1] / 2;
  const ux = box[from + 2] * cos;
  const uy = box[from + 2] * sin;
  const vx = -box[from + 3] * sin;
  const vy = box[from + 3] * cos;
  to[at] = x + ux + vx;
  to[at + 1] = y + uy + vy;
  to[at + 2] = x + ux - vx;
  to[at + 3] = y + uy - vy;
  to[at + 4] = x - ux - vx;
  to[at + 5] = y - uy - vy;
  to[at + 6] = x - ux + vx;
  to[at + 7] = y - uy + vy;
}

/** Writes the smallest rectangle around a parallelogram that has a side along the parallelogram's longer side. */
export function fitInto(corners: ArrayLike<number>, from: number, to: Float64Array, at: number): void {
  const ux = (corners[from] - corners[from + 6] + corners[from + 2] - corners[from + 4]) / 2;
  const uy = (corners[from + 1] - corners[from + 7] + corners[from + 3] - corners[from + 5]) / 2;
  const vx = (corners[from] - corners[from + 2] + corners[from + 6] - corners[from + 4]) / 2;
  const vy = (corners[from + 1] - corners[from + 3] + corners[from + 7] - corners[from + 5]) / 2;
  const width = Math.sqrt(ux * ux + uy * uy);
  const height = Math.sqrt(vx * vx + vy * vy);
  const longer = Math.max(width, height);
  to[at] = (corners[from] + corners[from + 2] + corners[from + 4] + corners[from + 6]) / 4;
  to[at + 1] = (corners[from + 1] + corners[from + 3] + corners[from + 5] + corners[from + 7]) / 4;
  if (longer === 0) {
    to.fill(0, at + 2, at + 5);
    return;
  }
  const along = longer + Math.abs(ux * vx + uy * vy) / longer;
  const across = Math.abs(ux * vy - uy * vx) / longer;
  const isWide = width >= height;
  to[at + 2] = isWide ? along : across;
  to[at + 3] = isWide ? across : along;
  to[at + 4] = isWide ? angleOfVector(ux, uy) : angleOfVector(vy, -vx);
}

/** Rotates a box centre around its cell, by the box's angle. `box` holds the centre as if the angle were 0. */
export function rotateCentreInto(
  box: ArrayLike<number>,
  from: number,
  cellX: number,
  cellY: number,
  to: Float64Array,
  at: number,
): void {
  const dx = box[from] - cellX;
  const dy = box[from + 1] - cellY;
  const angle = box[from + 4];
  writeCosSin(angle, cosSin);
  const cos = cosSin[0];
  const sin = cosSin[1];
  to[at] = cellX + dx * cos - dy * sin;
  to[at + 1] = cellY + dx * sin + dy * cos;
  to[at + 2] = box[from + 2];
  to[at + 3] = box[from + 3];
  to[at + 4] = angle;
}

/** Corners of one box while they change places. */
const ordered = /* @__PURE__ */ new Float64Array(8);

/**
 * Converts the angle of a box in an upright picture to the picture before rotation. Reorders the corners as
 * `cornersInto` writes them for that angle. `turnBack` turns the corners themselves.
 * @param isRegular the angle is in [0, pi/2) and stays the same: a quarter turn exchanges width and height instead
 * @param range the angle stays in this range of half a turn, if there is one
 */
export function turnAngleBack(
  box: Float64Array,
  at: number,
  corners: Float64Array,
  from: number,
  rotation: QuarterTurns,
  isRegular: boolean,
  range: readonly [number, number] | null,
): void {
  let shift = isRegular ? rotation : 0;
  if (!isRegular) {
    let angle = box[at + 4] - rotation * QUARTER;
    // An angle plus half a turn is the same box. The corners then begin at the opposite corner.
    for (; range && angle < range[0]; angle += Math.PI) shift += 2;
    box[at + 4] = angle;
  }
  for (let k = 0; k < 8; k++) ordered[(k + 2 * shift) & 7] = corners[from + k];
  corners.set(ordered, from);
}

/** Throws a RangeError if a list does not have `length` elements. */
function checkLength(list: unknown, length: number, name: string, expected: string): void {
  const isList = typeof list === "object" && (list as ArrayLike<unknown> | null)?.length === length;
  if (!isList) refuseValue(name, show(list), expected);
}

/** Throws a RangeError if a list does not have `length` finite numbers. */
function checkNumbers(list: unknown, length: number, name: string, expected: string): void {
  checkLength(list, length, name, expected);
  if (!Array.from(list as ArrayLike<unknown>).every(Number.isFinite))
    refuseValue(name, show(list), `${expected}, finite numbers`);
}

const BOX = "[cx, cy, width, height, angle]";

function checkBox(box: OrientedBox): void {
  checkNumbers(box, 5, "box", BOX);
  const [, , width, height, angle] = box;
  if (width < 0 || height < 0) refuseValue("box", `width ${width}, height ${height}`, `${BOX}: no corners`);
  if (isInDegrees(angle)) refuseValue("box", `the angle ${angle}`, IN_RADIANS);
}

const asBox = (values: Float64Array): OrientedBox => Array.from(values) as unknown as OrientedBox;

/**
 * Returns an equal box whose angle is in [0, pi/2), as Ultralytics reports boxes.
 * @throws RangeError for negative sides, and for an angle that is a whole number beyond two turns: it is in degrees
 * @example
 * import { regularise } from "boxwright";
 *
 * console.log(regularise([9, 7, 50, 20, -0.3]).map((v) => v.toFixed(6)).join(" "));
 * // 9.000000 7.000000 20.000000 50.000000 1.270796
 */
export function regularise(box: OrientedBox): OrientedBox {
  checkBox(box);
  const to = new Float64Array(5);
  regulariseInto(box, 0, to, 0);
  return asBox(to);
}

/**
 * Returns the four corners of a box in order around the box, x and y of each corner. Width and height must have the
 * same unit.
 * @throws RangeError as `regularise` does
 * @example
 * import { cornersOf } from "boxwright";
 *
 * console.log(cornersOf([10, 20, 6, 4, 0])); // [[13,22],[13,18],[7,18],[7,22]]
 */
export function cornersOf(box: OrientedBox): [x: number, y: number][] {
  checkBox(box);
  const to = new Float64Array(8);
  cornersInto(box, 0, to, 0);
  return [0, 2, 4, 6].map((k) => [to[k], to[k + 1]]);
}

/** A cross product of two edges below this fraction of the longest edge's square is a rounding error. */
const LEAST_TURN = 1e-4;

/** Returns four corners in order around the box. Exchanges two corners of a path that crosses itself, like "Z". */
function inOrder(corners: readonly number[]): readonly number[] {
  const [a, b, c, d] = [0, 2, 4, 6].map((k) => [corners[k], corners[k + 1]]);
  const all = [a, b, c, d];
  const edges = all.map(([x, y], k) => [all[(k + 1) & 3][0] - x, all[(k + 1) & 3][1] - y]);
  /** Cross products of the edges that meet at each corner. A product is positive if the path turns from x towards y. */
  const turns = edges.map(([x, y], k) => edges[(k + 3) & 3][0] * y - edges[(k + 3) & 3][1] * x);
  const longest = Math.max(...edges.map(([x, y]) => x * x + y * y));
  const signs = turns.map((t) => (Math.abs(t) > LEAST_TURN * longest ? Math.sign(t) : 0)).join();
  if (signs === "1,1,-1,-1" || signs === "-1,-1,1,1") return [a, b, d, c].flat();
  if (signs === "1,-1,-1,1" || signs === "-1,1,1,-1") return [a, c, b, d].flat();
  return corners;
}

/**
 * Returns the smallest rectangle around four corners, which a stretch may have turned from a rectangle into a
 * parallelogram. Corners that still form a rectangle give that rectangle. For corners in another order than `cornersOf`
 * has, width and height of the result may be exchanged.
 * @example
 * import { cornersOf, fitCorners } from "boxwright";
 *
 * console.log(fitCorners(cornersOf([10, 20, 6, 4, 0]))); // [10,20,6,4,0]
 */
export function fitCorners(corners: readonly (readonly [x: number, y: number])[]): OrientedBox {
  checkLength(corners, 4, "corners", "four corners [x, y]");
  const flat = Array.from(corners).flat();
  checkNumbers(flat, 8, "corners", "four corners [x, y]");
  const to = new Float64Array(5);
  fitInto(inOrder(flat), 0, to, 0);
  return asBox(to);
}
