/** Computes the keypoints of the detections that suppression kept. All engines share this code. */
import * as A from "../../core/abi.ts";
import { clampToUnit, expInPlace } from "../../core/number.ts";
import { type Detections, setLength } from "../../decode/detections.ts";
import type { AfterImageOfTask, TaskMemory, TaskWork } from "../../decode/tasks.ts";
import { move } from "../../heads/channels.ts";
import { firstSource, headIndexOf, readChannels } from "../../memory/extra.ts";
import { attachCrop } from "./crop/attach.ts";
import { isCropPlan } from "./crop/plan.ts";
import { POINT_CHANNELS, type PointHead, type PointTask, type PosePlan, pointHeadOf } from "./plan.ts";
import { fuseScore } from "./fuse-score.ts";
import { checkUnit, noteStrangePoints } from "./point-checks.ts";
import { KEYPOINT_WIDTH as WIDTH, countOf, addPointColumns } from "./rows.ts";

/** Attaches the task of a plan. */
export function attachPose(work: TaskWork): AfterImageOfTask {
  const { plan } = work;
  if (isCropPlan(plan.task)) return attachCrop(work);
  const pose = plan.task as PosePlan;
  const heads = plan.heads.map((head) => pointHeadOf(plan, pose, head));
  return attachPoints(work, { ...pose, clamp: plan.rules.clamp, heads });
}

/** Adds a column of keypoints. Returns the function that fills the column after each image. */
export function attachPoints(work: TaskMemory, plan: PointTask): AfterImageOfTask {
  const { count } = plan;
  addPointColumns(work.detections, plan, { fusedScores: plan.slots ? 1 : null });
  const raw = new Float64Array(count * stepOf(plan));
  let mayBeWrongUnit = plan.rule === "decoded";
  const checkOnce = (detections: Detections, block: number): void => {
    if (mayBeWrongUnit) mayBeWrongUnit = !checkUnit(work, plan, detections, block);
  };
  return (image, block) => {
    const detections = work.detections[image];
    if (plan.root)
      for (let row = 0; row < detections.length; row++)
        detections.scores[row] = Math.sqrt(detections.scores[row]);
    if (plan.alone) fillOne(work, plan, image, block, raw, checkOnce);
    else {
      fillRows(work, plan, image, raw);
      checkOnce(detections, block);
      placePoints(work, plan, detections, block);
    }
    noteStrangePoints(work, plan, detections);
  };
}

/** Computes the keypoints of each detection, 0..1 across the network's input. */
function fillRows(work: TaskMemory, plan: PointTask, image: number, raw: Float64Array): void {
  const { heads } = plan;
  const detections = work.detections[image];
  const { sources } = detections;
  for (let row = 0; row < detections.length; row++) {
    const k = headIndexOf(heads, sources[row]);
    fillRow(work, plan, image, heads[k], sources[row] - firstSource(heads, k), raw, row);
  }
}

/** Argument and result of the exponential in `fillRow`. An array, since V8 may allocate an object for a number. */
const power = new Float64Array(1);

/** Writes the keypoints of a cell to `row` of the detections, 0..1 of the input. `raw` is scratch. */
function fillRow(
  work: TaskMemory,
  plan: PointTask,
  image: number,
  head: PointHead,
  cell: number,
  raw: Float64Array,
  row: number,
): void {
  const { count, values, rule, yFirst, logits, slots } = plan;
  const { gridWidth, unit, add, priors } = head;
  const detections = work.detections[image];
  const step = stepOf(plan);
  const slot = slots ? detections.classIds[row] - slots.firstClass : 0;
  const extra = slot === 0 ? head.extra : move(head.extra, slot * count * step);
  readChannels(work, extra, image, cell, count * step, raw);
  const keypoints = detections.keypoints as Float32Array;
  // Read by index: destructuring creates an iterator, which allocates until V8 optimises it.
  let scaleX = head.scale[0];
  let scaleY = head.scale[1];
  let shiftX = 0;
  let shiftY = 0;
  if (rule === "grid") {
    const line = Math.floor(cell / gridWidth);
    shiftX = (cell - line * gridWidth + add) * unit[0];
    shiftY = (line + add) * unit[1];
  } else if (priors) {
    const at = cell * 4;
    scaleX *= priors[at + 2];
    scaleY *= priors[at + 3];
    shiftX = priors[at];
    shiftY = priors[at + 1];
  }
  const x = yFirst ? 1 : 0;
  for (let k = 0, from = 0, to = row * count * WIDTH; k < count; k++, from += step, to += WIDTH) {
    keypoints[to] = raw[from + x] * scaleX + shiftX;
    keypoints[to + 1] = raw[from + 1 - x] * scaleY + shiftY;
    let confidence = values === 3 ? raw[from + 2] : 1;
    if (logits) {
      power[0] = -confidence;
      expInPlace(power);
      confidence = 1 / (1 + power[0]);
    }
    keypoints[to + 2] = confidence;
  }
  // Avoid a closure in this function. V8 would allocate one for every row.
  if (detections.fusedScores)
    detections.fusedScores[row] = fuseScore(
      detections.scores[row],
      raw,
      count,
      keypoints,
      row * count * WIDTH,
    );
}

const stepOf = ({ values, slots }: PointTask): number => (slots ? POINT_CHANNELS : values);

/**
 * Maps the keypoints from the network's input to the image of the frame, with the kernel's rules for boxes. Repeats the
 * formula of `placeInFrame`: a call that V8 does not inline would allocate an object for each fraction.
 */
function placePoints(
  { memory: { f32 } }: TaskMemory,
  { clamp }: PointTask,
  detections: Detections,
  block: number,
): void {
  const keypoints = detections.keypoints as Float32Array;
  const end = detections.length * countOf(detections) * WIDTH;
  const before = clamp === "before";
  const after = clamp === "after" || clamp === "centre";
  for (let axis = 0; axis < 2; axis++) {
    const scale = f32[(block >> 2) + A.P_SCALE_X + axis];
    const shift = f32[(block >> 2) + A.P_SHIFT_X + axis];
    for (let at = axis; at < end; at += WIDTH) {
      const inside = before ? clampToUnit(keypoints[at]) : keypoints[at];
      const placed = inside * scale + shift;
      keypoints[at] = after ? clampToUnit(placed) : placed;
    }
  }
}

/**
 * Writes the only detection of a network that outputs one pose and no box. The score is the mean of the confidences.
 * The box is the smallest one around the points.
 */
function fillOne(
  work: TaskMemory,
  plan: PointTask,
  image: number,
  block: number,
  raw: Float64Array,
  checkOnce: (detections: Detections, block: number) => void,
): void {
  const detections = work.detections[image];
  const { i32, f32 } = work.memory;
  fillRow(work, plan, image, plan.heads[0], 0, raw, 0);
  const keypoints = detections.keypoints as Float32Array;
  let sum = 0;
  for (let k = 0; k < plan.count; k++) sum += keypoints[k * WIDTH + 2];
  const score = Math.fround(sum / plan.count);
  // Compare with the threshold in the head record: `writeThresholds` combined the score threshold and the gate there.
  const passes = score >= f32[(i32[(block >> 2) + A.P_HEAD0] >> 2) + A.H_THRESHOLD];
  setLength(detections, passes ? 1 : 0);
  if (!passes) return;
  checkOnce(detections, block);
  placePoints(work, plan, detections, block);
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = 0; k < plan.count; k++)
    for (let axis = 0; axis < 2; axis++) {
      const x = keypoints[k * WIDTH + axis];
      if (x < box[axis]) box[axis] = x;
      if (x > box[axis + 2]) box[axis + 2] = x;
    }
  detections.boxes.set(box);
  detections.scores[0] = score;
  detections.classIds[0] = 0;
  detections.sources[0] = 0;
}
