/** Finds points in rows and maps of scores. Coordinates are indices of cells. `spec/landmarks.ts` has the formulas. */
import { exp } from "../../../core/elementary.ts";
import { log } from "../../../core/exp.ts";

/** Returns the index of the largest value, the first of equal ones; -1 if all are NaN. */
export function indexOfMost(values: Float64Array, count: number): number {
  let at = -1;
  let most = -Infinity;
  for (let i = 0; i < count; i++)
    if (values[i] > most) {
      most = values[i];
      at = i;
    }
  // If no value is larger than -Infinity, return the first -Infinity: logits of a masked row are -Infinity.
  return at < 0 && values.indexOf(-Infinity) >= 0 ? values.indexOf(-Infinity) : at;
}

/** Moves a point a quarter cell towards the larger neighbour on each axis, not at the edge (mmpose). */
export function refineByQuarter(map: Float64Array, width: number, height: number, point: Float64Array): void {
  const [x, y] = point;
  const at = y * width + x;
  if (x > 1 && x < width - 1 && y > 0) point[0] += Math.sign(map[at + 1] - map[at - 1]) / 4;
  if (y > 1 && y < height - 1 && x > 0) point[1] += Math.sign(map[at + width] - map[at - width]) / 4;
}

/** Taps of the blur on each side of the middle one: 11 in all. For 11 taps, `cv2.GaussianBlur` has a sigma of 2. */
const REACH = 5;
const TAPS = /* @__PURE__ */ (() => {
  const taps = Float64Array.from({ length: REACH + 1 }, (_, i) => exp(-(i * i) / 8));
  const sum = taps.reduce((all, tap, i) => all + (i === 0 ? tap : 2 * tap), 0);
  return taps.map((tap) => tap / sum);
})();

/** Smallest value of a blurred map before the logarithm. */
const LEAST = 0.001;
/** Largest value of a blurred map before the logarithm. */
const MOST = 50;

/** Added to the diagonal of the second derivatives, so that a flat map has an inverse: the epsilon of f32. */
const EPSILON = 2 ** -23;

/** Scratch of `refineByDarkUdp` for one size of map. */
export interface BlurScratch {
  readonly across: Float64Array;
  readonly blurred: Float64Array;
}

/**
 * Moves a point by a Newton step on the logarithm of the blurred map (mmpose, refine_keypoints_dark_udp). The blur
 * reads zeros outside the map.
 */
export function refineByDarkUdp(
  map: Float64Array,
  width: number,
  height: number,
  point: Float64Array,
  { across, blurred }: BlurScratch,
): void {
  blur(map, across, { step: 1, length: width, next: width, lines: height });
  blur(across, blurred, { step: width, length: height, next: 1, lines: width });
  let most = -Infinity;
  for (let i = 0; i < width * height; i++) if (blurred[i] > most) most = blurred[i];
  const scale = point[2] / most;
  const at = (dx: number, dy: number): number => {
    const x = Math.min(Math.max(point[0] + dx, 0), width - 1);
    const y = Math.min(Math.max(point[1] + dy, 0), height - 1);
    const value = blurred[y * width + x] * scale;
    return log(value > LEAST ? (value < MOST ? value : MOST) : LEAST);
  };
  const middle = at(0, 0);
  const [left, right, up, down] = [at(-1, 0), at(1, 0), at(0, -1), at(0, 1)];
  const dx = (right - left) / 2;
  const dy = (down - up) / 2;
  const dxx = right - 2 * middle + left + EPSILON;
  const dyy = down - 2 * middle + up + EPSILON;
  const dxy = (at(1, 1) - right - down + 2 * middle - left - up + at(-1, -1)) / 2;
  const determinant = dxx * dyy - dxy * dxy;
  point[0] -= (dyy * dx - dxy * dy) / determinant;
  point[1] -= (dxx * dy - dxy * dx) / determinant;
}

/** One axis of a map. `step` is the distance between elements of a line, `next` the distance between lines. */
interface Axis {
  readonly step: number;
  readonly length: number;
  readonly next: number;
  readonly lines: number;
}

/** Blurs along one axis. Values beyond both ends count as zeros. */
function blur(from: Float64Array, to: Float64Array, { step, length, next, lines }: Axis): void {
  const [t0, t1, t2, t3, t4, t5] = TAPS;
  // Copy each line with zeros around it. The loop then needs no bounds checks, which makes it four times as fast.
  const line = new Float64Array(length + 2 * REACH);
  for (let l = 0, first = 0; l < lines; l++, first += next) {
    for (let i = 0, at = first; i < length; i++, at += step) line[i + REACH] = from[at];
    for (let i = 0, at = first; i < length; i++, at += step)
      to[at] =
        t0 * line[i + 5] +
        t1 * (line[i + 4] + line[i + 6]) +
        t2 * (line[i + 3] + line[i + 7]) +
        t3 * (line[i + 2] + line[i + 8]) +
        t4 * (line[i + 1] + line[i + 9]) +
        t5 * (line[i] + line[i + 10]);
  }
}
