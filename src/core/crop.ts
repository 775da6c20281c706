/** Crops: parts of an image that keypoint networks get as input. `spec/crops.ts` has the rules in plain doubles. */
import { angleOfVector, writeCosSin } from "./elementary.ts";
import { refuseValue } from "./errors.ts";
import { nameComplaint } from "./options.ts";
import { show } from "./tensor.ts";

/** A part of an image. It may be rotated, and may reach beyond the image. */
export interface Crop {
  /** Centre in pixels of the image. */
  readonly cx: number;
  readonly cy: number;
  /** Length of the sides in pixels of the image, along the crop's own axes. */
  readonly width: number;
  readonly height: number;
  /** Radians from the image's x axis to the crop's, clockwise on the screen. Default 0. */
  readonly angle?: number;
}

/** A line that gives the angle of a crop. Each end is a keypoint, or the mean of several, by their indices. */
export interface Line {
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** Direction from `from` to `to` in the rotated crop. "right": horizontal. "up": vertical. */
  readonly lies: "right" | "up";
}

/** Rule that turns a box or points into a crop. */
export interface CropRule {
  /** Factor on the lengths of the sides. */
  readonly scale: number;
  /** The shorter side grows until the crop has the aspect ratio of the network's "input", or is a "square". */
  readonly sides: "input" | "square";
  /** Line that gives the angle of the crop. If `line` is absent, or if there are no points, the crop is upright. */
  readonly line?: Line;
  /** Moves the centre downwards along the crop's own axis. Unit: heights of the box before `scale`. */
  readonly shift?: number;
  /** True: the crop is the square around a circle with centre `line.from`. `line.to` lies on the circle. */
  readonly circle?: true;
  /** Indices of the points whose bounding box replaces the detection's box. */
  readonly around?: readonly number[] | "all";
  /** True: the bounding box of the points is measured along the axes of the rotated crop. */
  readonly turned?: true;
}

/** Points in pixels of the image: x and y of point k at k * step. */
export interface PixelPoints {
  readonly values: ArrayLike<number>;
  readonly step: number;
  readonly count: number;
}

const HALF_TURN = Math.PI;

/** Text of the error about an angle in degrees. */
export const IN_RADIANS = "radians, not degrees: multiply by pi / 180";

/** True if an angle is surely in degrees: a whole number beyond two turns in radians. */
export const isInDegrees = (angle: number): boolean =>
  Math.abs(angle) > 4 * HALF_TURN && Number.isInteger(angle);

/** Returns an angle in [-pi, pi). */
export const withinTurn = (angle: number): number =>
  angle - 2 * HALF_TURN * Math.floor((angle + HALF_TURN) / (2 * HALF_TURN));

/** Reused by `writeCosSin`: cosine and sine of the last angle. */
const turn = new Float64Array(2);

const meanOf = ({ values, step }: PixelPoints, indices: readonly number[], axis: number): number =>
  indices.reduce((sum, k) => sum + values[k * step + axis], 0) / indices.length;

/** Returns the angle of the crop in which the line has the direction `lies`. */
function angleOfLine(points: PixelPoints, { from, to, lies }: Line): number {
  const dx = meanOf(points, to, 0) - meanOf(points, from, 0);
  const dy = meanOf(points, to, 1) - meanOf(points, from, 1);
  if (dx === 0 && dy === 0) return 0;
  return withinTurn((lies === "up" ? HALF_TURN / 2 : 0) - angleOfVector(dx, -dy));
}

/**
 * Returns the crop of an object.
 * @param box corners of the object's box; null: the crop surrounds the points
 * @param points the object's points; null if it has none
 * @param input width and height of the network's input
 */
export function cropOfObject(
  rule: CropRule,
  box: readonly [number, number, number, number] | null,
  points: PixelPoints | null,
  input: readonly [number, number],
): Crop {
  const { line, circle, around, scale, shift = 0 } = rule;
  const last = line ? Math.max(...line.from, ...line.to) : -1;
  const isTurned = points !== null && line !== undefined && last < points.count;
  const angle = isTurned ? angleOfLine(points, line) : 0;
  if (circle && isTurned) {
    const [cx, cy] = [meanOf(points, line.from, 0), meanOf(points, line.from, 1)];
    const [dx, dy] = [meanOf(points, line.to, 0) - cx, meanOf(points, line.to, 1) - cy];
    const side = 2 * Math.sqrt(dx * dx + dy * dy) * scale;
    return { cx, cy, width: side, height: side, angle };
  }
  const upright =
    box === null || around
      ? boxAround(points as PixelPoints, around ?? "all", rule.turned ? angle : 0)
      : boxOf(box);
  writeCosSin(angle, turn);
  const cx = upright.cx - upright.height * shift * turn[1];
  const cy = upright.cy + upright.height * shift * turn[0];
  const [width, height] = sidesOf(rule, upright.width, upright.height, input);
  return { cx, cy, width: width * scale, height: height * scale, angle };
}

const boxOf = ([x0, y0, x1, y1]: readonly [number, number, number, number]): Required<Crop> => ({
  cx: (x0 + x1) / 2,
  cy: (y0 + y1) / 2,
  width: x1 - x0,
  height: y1 - y0,
  angle: 0,
});

/** Returns width and height after one of them grows as the rule's `sides` states. */
function sidesOf(
  { sides }: CropRule,
  width: number,
  height: number,
  [inputWidth, inputHeight]: readonly [number, number],
): readonly [number, number] {
  const proportion = sides === "square" ? 1 : inputWidth / inputHeight;
  return width > height * proportion ? [width, width / proportion] : [height * proportion, height];
}

/** Returns the smallest box around points, measured along axes that are rotated by `angle`. */
function boxAround(points: PixelPoints, around: readonly number[] | "all", angle: number): Required<Crop> {
  const { values, step, count } = points;
  const indices = around === "all" ? Array.from({ length: count }, (_, k) => k) : around;
  writeCosSin(angle, turn);
  const [cos, sin] = turn;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const k of indices) {
    const x = values[k * step];
    const y = values[k * step + 1];
    const across = x * cos + y * sin;
    const down = y * cos - x * sin;
    left = Math.min(left, across);
    right = Math.max(right, across);
    top = Math.min(top, down);
    bottom = Math.max(bottom, down);
  }
  const across = (left + right) / 2;
  const down = (top + bottom) / 2;
  return {
    cx: across * cos - down * sin,
    cy: across * sin + down * cos,
    width: right - left,
    height: bottom - top,
    angle,
  };
}

/** Six numbers of an affine map, row by row: x' = m0 x + m1 y + m2, y' = m3 x + m4 y + m5. */
export type AffineMap = readonly [number, number, number, number, number, number];

/** Returns the map from normalised coordinates of a crop to normalised coordinates of the image. */
export function mapOfCrop(
  { cx, cy, width, height, angle = 0 }: Crop,
  [w, h]: readonly [number, number],
): AffineMap {
  writeCosSin(angle, turn);
  const [cos, sin] = turn;
  const [xx, xy, yx, yy] = [cos * width, -sin * height, sin * width, cos * height];
  return [xx / w, xy / w, (cx - (xx + xy) / 2) / w, yx / h, yy / h, (cy - (yx + yy) / 2) / h];
}

const NAMES: readonly string[] = ["cx", "cy", "width", "height", "angle"];

/** Checks the names of a crop's fields, and that its numbers are finite and its sides positive. */
export function checkCrop(crop: Crop, where: string): void {
  if (!isCrop(crop))
    refuseValue(
      where,
      show(crop),
      "{cx, cy, width, height, angle}: its centre and sides in pixels of the image, its angle in radians",
    );
  for (const name in crop) {
    const complaint = nameComplaint(name, NAMES);
    if (complaint) refuseValue(`${where}.${name}`, ...complaint);
  }
  const { cx, cy, width, height, angle = 0 } = crop;
  // Refuse a crop inside the first pixel: its values are most likely fractions of the image.
  if (cx >= 0 && cy >= 0 && cx <= 1 && cy <= 1 && width <= 1 && height <= 1)
    refuseValue(
      where,
      `a centre of ${cx}, ${cy} and sides of ${width} x ${height}`,
      "pixels of the image, no fractions of it",
    );
  if (isInDegrees(angle)) refuseValue(where, `the angle ${angle}`, IN_RADIANS);
}

/** True for a valid crop: finite numbers, and positive sides. */
function isCrop(crop: unknown): crop is Crop {
  if (typeof crop !== "object" || crop === null) return false;
  const { cx, cy, width, height, angle = 0 } = crop as Crop;
  return [cx, cy, width, height, angle].every(Number.isFinite) && width > 0 && height > 0;
}
