/**
 * Points of networks whose input is the crop of one object, in plain doubles. A map is row-major. Results are the
 * score, and x and y in cells or bins of the map. If no score is above 0, x and y are -1.
 */
import { sigmoid } from "./points.ts";

/** Scores of the cells of one point. */
export interface ScoreMap {
  readonly values: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
}

type Scored = readonly [x: number, y: number, score: number];

const indexOfMost = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((best, value, i) => (value > values[best] ? i : best), 0);

/**
 * Returns the best bins along x and y, and the smaller of their two scores. The bins are -1 if that score is not above
 * 0. Source: mmpose, get_simcc_maximum.
 */
export function pointOfSimcc(x: ArrayLike<number>, y: ArrayLike<number>): Scored {
  const [i, j] = [indexOfMost(x), indexOfMost(y)];
  const score = Math.min(x[i], y[j]);
  return score > 0 ? [i, j, score] : [-1, -1, score];
}

/**
 * Returns the cell with the highest score, or -1 and -1 if that score is not above 0. Source: mmpose,
 * get_heatmap_maximum.
 */
export function peakOf({ values, width }: ScoreMap): Scored {
  const at = indexOfMost(values);
  return values[at] > 0 ? [at % width, Math.floor(at / width), values[at]] : [-1, -1, values[at]];
}

/** Moves a peak by a quarter of a cell towards the larger neighbour. Source: mmpose, refine_keypoints. */
export function quarterOf({ values, width, height }: ScoreMap, [x, y, score]: Scored): Scored {
  const at = (column: number, row: number): number => values[row * width + column];
  const dx = x > 1 && x < width - 1 && y > 0 && y < height ? at(x + 1, y) - at(x - 1, y) : 0;
  const dy = y > 1 && y < height - 1 && x > 0 && x < width ? at(x, y + 1) - at(x, y - 1) : 0;
  return [x + Math.sign(dx) / 4, y + Math.sign(dy) / 4, score];
}

/**
 * Kernel of 11 taps with a sigma of 2: cv2.GaussianBlur computes 0.3 ((11 - 1) / 2 - 1) + 0.8 = 2 if sigma is given as
 * 0.
 */
const KERNEL = Array.from({ length: 11 }, (_, i) => Math.exp(-((i - 5) ** 2) / 8));
const KERNEL_SUM = KERNEL.reduce((a, b) => a + b);

/**
 * Blurs a map, with zeros outside of it, and scales the result to the maximum of the original map. Source: mmpose,
 * gaussian_blur.
 */
export function blurred({ values, width, height }: ScoreMap): ScoreMap {
  const at = (x: number, y: number): number =>
    x >= 0 && x < width && y >= 0 && y < height ? values[y * width + x] : 0;
  const out = Array.from({ length: width * height }, (_, i) => {
    let sum = 0;
    for (let dy = -5; dy <= 5; dy++)
      for (let dx = -5; dx <= 5; dx++)
        sum += KERNEL[dx + 5] * KERNEL[dy + 5] * at((i % width) + dx, Math.floor(i / width) + dy);
    return sum / KERNEL_SUM ** 2;
  });
  const scale = Math.max(...Array.from(values)) / Math.max(...out);
  return { values: out.map((value) => value * scale), width, height };
}

/**
 * Refines a peak by one Newton step on the logarithm of the blurred map, whose edge values are repeated outside.
 * Source: mmpose, refine_keypoints_dark_udp.
 */
export function darkOf(map: ScoreMap, [x, y, score]: Scored): Scored {
  const { values, width, height } = blurred(map);
  const at = (dx: number, dy: number): number => {
    const column = Math.min(Math.max(x + dx, 0), width - 1);
    const row = Math.min(Math.max(y + dy, 0), height - 1);
    return Math.log(Math.min(Math.max(values[row * width + column], 0.001), 50));
  };
  const dx = (at(1, 0) - at(-1, 0)) / 2;
  const dy = (at(0, 1) - at(0, -1)) / 2;
  const xx = at(1, 0) - 2 * at(0, 0) + at(-1, 0) + 2 ** -23;
  const yy = at(0, 1) - 2 * at(0, 0) + at(0, -1) + 2 ** -23;
  const xy = (at(1, 1) - at(1, 0) - at(0, 1) + 2 * at(0, 0) - at(-1, 0) - at(0, -1) + at(-1, -1)) / 2;
  const determinant = xx * yy - xy * xy;
  return [x - (yy * dx - xy * dy) / determinant, y - (xx * dy - xy * dx) / determinant, score];
}

/**
 * Moves a point to the weighted mean of the cells around it. x and y are in 0..1. `values` are raw, before the sigmoid.
 * Source: MediaPipe, RefineLandmarksFromHeatmapCalculator with a kernel of 7.
 */
export function refinedByHeat(
  { values, width, height }: ScoreMap,
  [x, y]: readonly [number, number],
): readonly [number, number] {
  const [column, row] = [Math.trunc(x * width), Math.trunc(y * height)];
  if (column < 0 || column >= width || row < 0 || row >= height) return [x, y];
  let [sum, most, across, down] = [0, 0, 0, 0];
  for (let j = Math.max(0, row - 3); j <= Math.min(height - 1, row + 3); j++)
    for (let i = Math.max(0, column - 3); i <= Math.min(width - 1, column + 3); i++) {
      const weight = sigmoid(values[j * width + i]);
      sum += weight;
      across += weight * i;
      down += weight * j;
      most = Math.max(most, weight);
    }
  return most >= 0.5 ? [across / sum / width, down / sum / height] : [x, y];
}
