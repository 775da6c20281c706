/** Computes the points of a network whose input is the crop of one object. Points are 0..1 of the input. */
import { refuseFor } from "../../../core/errors.ts";
import { clampToUnit, sigmoid } from "../../../core/number.ts";
import type { TaskWork } from "../../../decode/tasks.ts";
import { readChannels } from "../../../memory/extra.ts";
import { KEYPOINT_WIDTH as WIDTH } from "../rows.ts";
import { type BlurScratch, indexOfMost, refineByDarkUdp, refineByQuarter } from "./maps.ts";
import type { CropPlan, HeatmapPlan, LandmarkPlan, SimccPlan, VectorPlan } from "./plan.ts";

/** The points of an image, 0..1 across the network's input. */
export interface Points {
  readonly xy: Float64Array;
  /** z of each row, in multiples of the input's width. */
  readonly z: Float64Array | null;
  /** For each row, the probability that the point lies inside the picture. */
  readonly presences: Float64Array | null;
  /** x, y and z in metres. */
  readonly world: Float64Array | null;
  /** Probability that the object is present; null if the network does not output it. */
  score: number | null;
  classId: number;
}

/** Writes the points of an image. */
type Compute = (image: number, points: Points) => void;

/** Returns the function that computes the points of a network. */
export function computeOf(work: TaskWork, plan: CropPlan): Compute {
  switch (plan.network) {
    case "simcc":
      return computeSimcc(work, plan);
    case "heatmaps":
      return computeHeatmaps(work, plan);
    case "vector":
      return computeVector(work, plan);
    case "landmarks":
      return computeLandmarks(work, plan);
  }
}

const LOST = "scores of keypoints are NaN or infinite";

/** Computes SimCC points: on each axis, the bin with the largest score. Confidence: the smaller of both (mmpose). */
function computeSimcc(work: TaskWork, { tensors, count, bins }: SimccPlan): Compute {
  const scores = bins.map((n) => new Float64Array(n));
  const most = [0, 0];
  return (image, { xy }) => {
    let isLost = false;
    for (let k = 0; k < count; k++) {
      for (let axis = 0; axis < 2; axis++) {
        const row = scores[axis];
        const column = { tensor: tensors[axis], offset: k * bins[axis], channel: 1, cell: 0 };
        readChannels(work, column, image, 0, bins[axis], row);
        isLost ||= hasLost(row);
        const at = indexOfMost(row, bins[axis]);
        most[axis] = at < 0 ? NaN : row[at];
        xy[k * WIDTH + axis] = at / bins[axis];
      }
      const least = Math.min(most[0], most[1]);
      xy[k * WIDTH + 2] = least;
      // Place a point without a positive score one bin before the first bin, as mmpose does.
      if (!(least > 0)) for (let axis = 0; axis < 2; axis++) xy[k * WIDTH + axis] = -1 / bins[axis];
    }
    if (isLost) work.note(LOST);
  };
}

/** True if a value is NaN or Infinity. -Infinity is allowed: it is a masked logit. */
const hasLost = (values: Float64Array): boolean => {
  for (let i = 0; i < values.length; i++) if (!(values[i] < Infinity)) return true;
  return false;
};

/** Computes the points of heat maps. As in mmpose, a point without a score above 0 lies one cell before the first. */
function computeHeatmaps(work: TaskWork, plan: HeatmapPlan): Compute {
  const { tensors, count, refinement, size, channel, cell } = plan;
  const [width, height] = size;
  const cells = width * height;
  const map = new Float64Array(cells);
  const scratch: BlurScratch = { across: new Float64Array(cells), blurred: new Float64Array(cells) };
  const point = new Float64Array(3);
  const isOfMmpose = refinement === "quarter" || refinement === "dark-udp";
  // With UDP, the centres of the first and last cells lie on the edges of the crop.
  const [across, down] = refinement === "dark-udp" ? [width - 1, height - 1] : size;
  const half = refinement === "centre" ? 0.5 : 0;
  return (image, { xy }) => {
    let isLost = false;
    for (let k = 0; k < count; k++) {
      readChannels(
        work,
        { tensor: tensors[0], offset: k * channel, channel: cell, cell: 0 },
        image,
        0,
        cells,
        map,
      );
      isLost ||= hasLost(map);
      const at = indexOfMost(map, cells);
      const isBelow = at < 0 || (isOfMmpose && !(map[at] > 0));
      point[0] = isBelow ? -1 : at % width;
      point[1] = isBelow ? -1 : Math.floor(at / width);
      point[2] = at < 0 ? NaN : map[at];
      if (!isBelow && refinement === "quarter") refineByQuarter(map, width, height, point);
      if (!isBelow && refinement === "dark-udp") refineByDarkUdp(map, width, height, point, scratch);
      xy[k * WIDTH] = (point[0] + half) / across;
      xy[k * WIDTH + 1] = (point[1] + half) / down;
      xy[k * WIDTH + 2] = refinement === "none" ? clampToUnit(point[2]) : point[2];
    }
    if (isLost) work.note(LOST);
  };
}

/** Computes points that the network outputs as numbers. Clips them to 0..1 (KeypointParser of depthai-nodes). */
function computeVector(work: TaskWork, { tensors, count, values, divisors, about }: VectorPlan): Compute {
  const raw = new Float64Array(count * values);
  return (image, { xy, z }) => {
    readChannels(work, { tensor: tensors[0], offset: 0, channel: 1, cell: 0 }, image, 0, raw.length, raw);
    checkUnit(work, raw, values, divisors, about);
    for (let k = 0, from = 0; k < count; k++, from += values) {
      for (let axis = 0; axis < 2; axis++)
        xy[k * WIDTH + axis] = clampToUnit(raw[from + axis] / divisors[axis]);
      xy[k * WIDTH + 2] = 1;
      if (z) z[k] = clampToUnit(raw[from + 2] / divisors[2]);
    }
  };
}

/** If a coordinate that is read as 0..1 exceeds this value, the points must be in another unit. */
const FAR = 16;
/** If no coordinate that is read as pixels exceeds this value, the points must be 0..1. */
const NEAR = 2;

/** Throws if the coordinates cannot be in the plan's unit. */
function checkUnit(
  _work: TaskWork,
  raw: Float64Array,
  values: number,
  divisors: readonly number[],
  about: string,
): void {
  let most = 0;
  for (let at = 0; at < raw.length; at += values)
    for (let axis = 0; axis < 2; axis++) {
      const size = Math.abs(raw[at + axis]);
      if (size > most && size < Infinity) most = size;
    }
  if (most / divisors[0] > FAR)
    refuseFor(
      [{ option: "keypointCoordinates", value: "pixels" }],
      about,
      `coordinates up to ${Number(most.toPrecision(4))}`,
      `numbers up to ${divisors[0]}, the other side of the input; if they are in pixels, say keypointCoordinates: "pixels"`,
    );
  if (divisors[0] > FAR && most > 0 && most <= NEAR)
    refuseFor(
      [{ option: "keypointCoordinates", value: "normalised" }],
      about,
      `coordinates up to ${Number(most.toPrecision(3))}`,
      `pixels of the input, up to ${divisors[0]}; if they are 0..1, say keypointCoordinates: "normalised"`,
    );
}

/** Count of cells on each side of a point's cell that are used to refine the point. */
const HEAT_REACH = 3;
/** A point is refined only if one of these cells has at least this probability. */
const HEAT_LEAST = 0.5;

/** Computes landmarks as MediaPipe's TensorsToLandmarksCalculator and RefineLandmarksFromHeatmapCalculator do. */
function computeLandmarks(work: TaskWork, plan: LandmarkPlan): Compute {
  const { tensors, rows, values, divisors, logits, side, world, heat, about } = plan;
  const raw = new Float64Array(rows * values);
  const one = new Float64Array(1);
  const read = (at: number, image: number, to: Float64Array): void =>
    readChannels(work, { tensor: tensors[at], offset: 0, channel: 1, cell: 0 }, image, 0, to.length, to);
  return (image, points) => {
    const { xy, z, presences } = points;
    read(0, image, raw);
    checkUnit(work, raw, values, divisors, about);
    for (let k = 0, from = 0; k < rows; k++, from += values) {
      xy[k * WIDTH] = raw[from] / divisors[0];
      xy[k * WIDTH + 1] = raw[from + 1] / divisors[1];
      xy[k * WIDTH + 2] = values === 5 ? sigmoid(raw[from + 3]) : 1;
      (z as Float64Array)[k] = raw[from + 2] / divisors[2];
      if (presences) presences[k] = sigmoid(raw[from + 4]);
    }
    if (heat >= 0) refineByHeat(work, plan, image, xy);
    read(1, image, one);
    if (Math.abs(one[0]) === Infinity) work.note("the presence is infinite: has the network overflowed?");
    points.score = logits ? sigmoid(one[0]) : probabilityOf(work, one[0], "presence", about);
    if (side >= 0) {
      read(side, image, one);
      if (Number.isNaN(one[0])) work.note("the side is NaN, and is taken for the first");
      points.classId = probabilityOf(work, one[0], "side", about) > 0.5 ? 1 : 0;
    }
    if (world >= 0) {
      read(world, image, points.world as Float64Array);
      if (!(points.world as Float64Array).every(Number.isFinite))
        work.note("points in metres are NaN or infinite, and are given as they are");
      checkMetres(work, raw, points.world as Float64Array, values, about);
    }
  };
}

/** Amount by which a probability may leave 0..1 by rounding, mostly in quantised tensors. */
const SLACK = 0.02;

/** Returns a value that must be a probability, else throws. NaN stays: it fails the threshold later. */
function probabilityOf(_work: TaskWork, value: number, what: string, about: string): number {
  if (value < -SLACK || value > 1 + SLACK)
    refuseFor(
      what === "presence" ? [{ option: "scores", value: "logits" }] : [],
      about,
      `${what} ${Number(value.toPrecision(6))}`,
      `a probability in 0..1${what === "presence" ? '; if it is raw, say scores: "logits"' : ""}; are ` +
        "the outputs in the order of the export?",
    );
  return clampToUnit(value);
}

/** Throws if the tensors of metres and of pixels are exchanged. In some networks, both have the same shape. */
function checkMetres(
  _work: TaskWork,
  raw: Float64Array,
  world: Float64Array,
  values: number,
  about: string,
): void {
  if (values !== 3) return;
  const most = world.reduce((a, b) => (Math.abs(b) > a ? Math.abs(b) : a), 0);
  if (most > FAR && raw.every((x) => !(Math.abs(x) > NEAR)))
    refuseFor(
      [],
      about,
      `points in metres up to ${Number(most.toPrecision(4))}`,
      "the outputs in the order of the export",
    );
}

/** Moves each point to the mean of the cells around it. Each cell is weighted by its probability. */
function refineByHeat(work: TaskWork, plan: LandmarkPlan, image: number, xy: Float64Array): void {
  const { tensors, heat, heatSize, rows } = plan;
  const [width, height] = heatSize;
  const line = new Float64Array(2 * HEAT_REACH + 1);
  for (let k = 0; k < rows; k++) {
    const column = Math.trunc(xy[k * WIDTH] * width);
    const row = Math.trunc(xy[k * WIDTH + 1] * height);
    if (!(column >= 0 && column < width && row >= 0 && row < height)) continue;
    const first = Math.max(0, column - HEAT_REACH);
    const end = Math.min(width, column + HEAT_REACH + 1);
    let sum = 0;
    let most = 0;
    let across = 0;
    let down = 0;
    for (let y = Math.max(0, row - HEAT_REACH); y < Math.min(height, row + HEAT_REACH + 1); y++) {
      const at = { tensor: tensors[heat], offset: (y * width + first) * rows + k, channel: rows, cell: 0 };
      readChannels(work, at, image, 0, end - first, line);
      for (let x = first; x < end; x++) {
        const weight = sigmoid(line[x - first]);
        sum += weight;
        across += weight * x;
        down += weight * y;
        if (weight > most) most = weight;
      }
    }
    if (Number.isNaN(sum)) work.note("heat maps are NaN, and do not move points");
    if (!(most >= HEAT_LEAST && sum > 0)) continue;
    xy[k * WIDTH] = across / sum / width;
    xy[k * WIDTH + 1] = down / sum / height;
  }
}
