/** Computes the points of a network whose input is the crop of one object, and places the points in the image. */
import * as A from "../../../core/abi.ts";
import { type AffineMap, type Crop, cropOfObject, mapOfCrop } from "../../../core/crop.ts";
import { writeCosSin } from "../../../core/elementary.ts";
import { clampToUnit } from "../../../core/number.ts";
import { type Detections, setLength } from "../../../decode/detections.ts";
import type { Frame } from "../../../decode/frame.ts";
import type { AfterImageOfTask, TaskWork } from "../../../decode/tasks.ts";
import { KEYPOINT_WIDTH as WIDTH, addPointColumns, CROP_WIDTH } from "../rows.ts";
import type { CropPlan } from "./plan.ts";
import { type Points, computeOf } from "./points.ts";

/** Adds the columns of points to the detections of a plan. Returns the function that fills them after each image. */
export function attachCrop(work: TaskWork): AfterImageOfTask {
  const plan = work.plan.task as CropPlan;
  const { count } = plan;
  const rows = plan.network === "landmarks" ? plan.rows : count;
  const isLandmarks = plan.network === "landmarks";
  const points: Points = {
    xy: new Float64Array(rows * WIDTH),
    z: isLandmarks || (plan.network === "vector" && plan.values === 3) ? new Float64Array(rows) : null,
    presences: isLandmarks && plan.values === 5 ? new Float64Array(rows) : null,
    world: isLandmarks && plan.world >= 0 ? new Float64Array(rows * 3) : null,
    score: null,
    classId: 0,
  };
  addPointColumns(work.detections, plan, {
    depths: points.z && count,
    presences: points.presences && count,
    world: points.world && count * 3,
    nextCrops: plan.next ? CROP_WIDTH : null,
  });
  const compute = computeOf(work, plan);
  return (image, block, frame) => {
    const detections = work.detections[image];
    points.score = null;
    points.classId = 0;
    compute(image, points);
    fillRow(work, plan, detections, points, placeOf(work, block, frame));
  };
}

interface CropPlace {
  /** Map from coordinates of the input to coordinates of the image, both 0..1. */
  readonly map: AffineMap;
  readonly angle: number;
  /** Size of the image in pixels. Size of the input if there is no frame. */
  readonly image: readonly [number, number];
  /** Width of the part of the image that the input shows, as a fraction of the image's width. */
  readonly width: number;
}

function placeOf({ memory: { f32 }, plan }: TaskWork, block: number, frame: Frame | undefined): CropPlace {
  const image = frame
    ? ([frame.width, frame.height] as const)
    : (plan.inputSize as readonly [number, number]);
  if (frame?.crop)
    return {
      map: mapOfCrop(frame.crop, image),
      angle: frame.crop.angle ?? 0,
      image,
      width: frame.crop.width / frame.width,
    };
  const p = block >> 2;
  const scaleX = f32[p + A.P_SCALE_X];
  const scaleY = f32[p + A.P_SCALE_X + 1];
  return {
    map: [scaleX, 0, f32[p + A.P_SHIFT_X], 0, scaleY, f32[p + A.P_SHIFT_X + 1]],
    angle: 0,
    image,
    width: scaleX,
  };
}

/** Writes the only row: the box around the points, and as its score the presence, else the mean confidence. */
function fillRow(
  work: TaskWork,
  plan: CropPlan,
  detections: Detections,
  points: Points,
  place: CropPlace,
): void {
  const { count } = plan;
  const { score } = points;
  const threshold = Math.fround(Math.min(...[work.thresholds().confidenceThreshold].flat()));
  const passes = score === null || Math.fround(score) > threshold;
  setLength(detections, 0);
  if (score !== null && score !== score) work.note("the presence is NaN, which passes no threshold");
  if (!passes) return;
  toImage(points, place);
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  const { xy, z, presences, world } = points;
  const keypoints = detections.keypoints as Float32Array;
  let sum = 0;
  let isLost = false;
  for (let at = 0; at < count * WIDTH; at += WIDTH) {
    const [x, y, confidence] = [xy[at], xy[at + 1], xy[at + 2]];
    keypoints[at] = x;
    keypoints[at + 1] = y;
    keypoints[at + 2] = confidence;
    if (confidence === confidence) sum += confidence;
    // `x - x` is NaN for NaN and infinite values, else 0.
    if (x - x !== 0 || y - y !== 0 || confidence - confidence !== 0) isLost = true;
    if (x - x !== 0 || y - y !== 0) continue;
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  if (isLost) work.note("keypoints are NaN or infinite, and are given as they are");
  // Report no object if no point is valid.
  if (box[0] === Infinity) return;
  if (z) detections.depths?.set(z.subarray(0, count));
  if (presences) detections.presences?.set(presences.subarray(0, count));
  if (world) detections.world?.set(world.subarray(0, count * 3));
  detections.boxes.set(box);
  detections.scores[0] = score ?? clampToUnit(sum / count);
  detections.classIds[0] = points.classId;
  detections.sources[0] = 0;
  if (plan.next) writeNext(work, plan, detections, points, place);
  setLength(detections, 1);
}

const turn = new Float64Array(2);

/** Maps points from the input to the image, both 0..1. z has the unit of x. Points in metres are only rotated. */
function toImage({ xy, z, world }: Points, { map, angle, width }: CropPlace): void {
  const [xx, xy1, x0, yx, yy, y0] = map;
  for (let at = 0; at < xy.length; at += WIDTH) {
    const [x, y] = [xy[at], xy[at + 1]];
    xy[at] = xx * x + xy1 * y + x0;
    xy[at + 1] = yx * x + yy * y + y0;
  }
  if (z) for (let k = 0; k < z.length; k++) z[k] *= width;
  if (!world || angle === 0) return;
  writeCosSin(angle, turn);
  for (let at = 0; at < world.length; at += 3) {
    const [x, y] = [world[at], world[at + 1]];
    world[at] = turn[0] * x - turn[1] * y;
    world[at + 1] = turn[1] * x + turn[0] * y;
  }
}

/** Writes the crop for the next frame, in pixels of the image. */
function writeNext(
  work: TaskWork,
  plan: CropPlan,
  detections: Detections,
  { xy }: Points,
  place: CropPlace,
): void {
  const [w, h] = place.image;
  const pixels = Float64Array.from(xy, (v, i) => (i % WIDTH === 0 ? v * w : i % WIDTH === 1 ? v * h : v));
  const crop: Crop = cropOfObject(
    plan.next as NonNullable<CropPlan["next"]>,
    null,
    { values: pixels, step: WIDTH, count: xy.length / WIDTH },
    work.plan.inputSize as readonly [number, number],
  );
  const { cx, cy, width, height, angle = 0 } = crop;
  detections.nextCrops?.set([cx, cy, width, height, angle]);
}
