/** Computes the keypoints of the detections that suppression kept. All engines share this code. */
import { refuseFor } from "../../core/errors.ts";
import * as A from "../../core/abi.ts";
import { expInPlace } from "../../core/number.ts";
import { type Detections, extend, setLength } from "../../decode/detections.ts";
import { placeInFrame } from "../../decode/frame.ts";
import type { AfterImageOfTask, TaskMemory, TaskWork } from "../../decode/tasks.ts";
import { move } from "../../heads/channels.ts";
import { firstSource, headIndexOf, readChannels } from "../../memory/extra.ts";
import { attachCrop } from "./crop/attach.ts";
import { isCropPlan } from "./crop/plan.ts";
import { POINT_CHANNELS, type PointHead, type PointTask, type PosePlan, pointHeadOf } from "./plan.ts";
import { fuseScore } from "./fuse-score.ts";
import { KEYPOINT_WIDTH as WIDTH, POSE_ROWS as ROWS, countOf } from "./rows.ts";

/** Confidences may lie outside 0..1 by a step of a quantised tensor. */
const SLACK = 0.02;

/** Attaches the task of a plan. */
export function attachPose(work: TaskWork): AfterImageOfTask {
  const { plan } = work;
  if (isCropPlan(plan.task)) return attachCrop(work);
  const pose = plan.task as PosePlan;
  const heads = plan.heads.map((head) => pointHeadOf(plan, pose, head));
  return attachPoints(work, { ...pose, clamp: plan.rules.clamp, heads });
}

/** Adds the column of keypoints to the detections of a plan. Returns the function that fills it after each image. */
export function attachPoints(work: TaskMemory, plan: PointTask): AfterImageOfTask {
  const { count, names, edges } = plan;
  for (const detections of work.detections)
    extend(
      detections,
      {
        keypoints: new Float32Array(detections.scores.length * count * WIDTH),
        ...(plan.slots && { fusedScores: new Float32Array(detections.scores.length) }),
        ...(names && { keypointNames: names }),
        ...(edges && { edges }),
      },
      ROWS,
    );
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

/** Fewer points than this may all lie in the corner of the input. */
const FEW = 4;
/** Points in 0..1 that are taken for pixels lie within so many pixels of the corner. */
const CORNER = 2;
/** A box that reaches further than so many pixels is none of the corner. */
const BEYOND = 16;
/** Points in 0..1 of which most lie further than so many images away must be pixels. */
const AWAY = 2;
/** One normalised coordinate above this may be a point in pixels, or one that the network has made up. */
const FAR = 16;

/** Points are decoded if at least this part of them lies in or near their box. Of raw points, hardly any does. */
const IN_BOXES = 0.2;
/** Raw points lie fewer strides than this from their cell. */
const MOST_STRIDES = 64;

/**
 * Checks that points are decoded, and not raw: offsets from their cell in strides. The shape of the tensor cannot tell.
 * Only frames with a negative coordinate are judged here, since raw points have some. `checkUnit` judges the others.
 * @throws TensorError if few points lie in their box, or outside of it by at most its width and height
 */
function checkInBoxes(
  { memory: { f32 }, plan: { inputSize } }: TaskMemory,
  plan: PointTask,
  detections: Detections,
  block: number,
): void {
  const keypoints = detections.keypoints as Float32Array;
  const p = block >> 2;
  let inside = 0;
  let seen = 0;
  let isSigned = false;
  let furthest = 0;
  for (let row = 0; row < detections.length; row++)
    for (let k = 0; k < plan.count; k++) {
      const at = (row * plan.count + k) * WIDTH;
      // Points at 0 are missing.
      if (keypoints[at] === 0 && keypoints[at + 1] === 0) continue;
      seen++;
      let isNear = true;
      for (let axis = 0; axis < 2; axis++) {
        const low = detections.boxes[row * 4 + axis];
        const high = detections.boxes[row * 4 + 2 + axis];
        const point = keypoints[at + axis] * f32[p + A.P_SCALE_X + axis] + f32[p + A.P_SHIFT_X + axis];
        if (!(point >= low - (high - low) && point <= high + (high - low))) isNear = false;
        const raw = keypoints[at + axis] * (plan.normalised ? 1 : (inputSize?.[axis] ?? 1));
        if (raw < 0) isSigned = true;
        furthest = Math.max(furthest, Math.abs(raw));
      }
      if (isNear) inside++;
    }
  if (isSigned && furthest < MOST_STRIDES && seen >= FEW && inside < seen * IN_BOXES)
    refuseFor(
      [{ option: "keypointCoordinates", value: "strides" }],
      plan.about,
      `${seen - inside} of ${seen} keypoints far from their box`,
      'decoded keypoints; if they are raw, offsets from their cell in strides, say keypointCoordinates: "strides"',
    );
}

/**
 * Checks the unit of decoded points, 0..1 across the input, before they are clamped. Boxes have a check of their own:
 * exports exist whose boxes and points differ.
 * @returns true if there were enough points to tell
 * @throws TensorError if most points lie many images away, or all lie in the corner and a box does not
 */
function checkUnit(work: TaskMemory, plan: PointTask, detections: Detections, block: number): boolean {
  const { inputSize } = work.plan;
  if (plan.mayBeRaw) checkInBoxes(work, plan, detections, block);
  const end = detections.length * plan.count * WIDTH;
  const keypoints = detections.keypoints as Float32Array;
  if (plan.normalised) {
    let far = 0;
    let furthest = 0;
    for (let at = 0; at < end; at += WIDTH) {
      const x = Math.abs(keypoints[at]);
      const y = Math.abs(keypoints[at + 1]);
      if (x > AWAY || y > AWAY) far++;
      if (x > furthest && x < Infinity) furthest = x;
      if (y > furthest && y < Infinity) furthest = y;
    }
    if (far * 2 * WIDTH > end)
      refuseFor(
        [{ option: "keypointCoordinates", value: "pixels" }],
        plan.about,
        `keypoints up to ${Number(furthest.toPrecision(4))}`,
        '0..1; if they are pixels, say keypointCoordinates: "pixels"',
      );
    if (furthest > FAR)
      work.note(
        `keypoints lie more than ${FAR} images away: if they are in pixels, say keypointCoordinates: "pixels"`,
      );
    return end > 0;
  }
  if (!inputSize || plan.alone || end < FEW * WIDTH) return false;
  const { f32 } = work.memory;
  let furthest = 0;
  let reach = 0;
  for (let axis = 0; axis < 2; axis++) {
    for (let at = axis; at < end; at += WIDTH)
      furthest = Math.max(furthest, Math.abs(keypoints[at]) * inputSize[axis]);
    const p = (block >> 2) + axis;
    for (let at = axis + 2; at < detections.length * 4; at += 4)
      reach = Math.max(
        reach,
        ((detections.boxes[at] - f32[p + A.P_SHIFT_X]) / f32[p + A.P_SCALE_X]) * inputSize[axis],
      );
  }
  // Points at 0 are missing. NaN compares as false.
  if (furthest > 0 && furthest <= CORNER && reach > BEYOND)
    refuseFor(
      [{ option: "keypointCoordinates", value: "normalised" }],
      plan.about,
      `keypoints within ${Number(furthest.toPrecision(3))} pixels of the corner beside boxes that reach ${Math.round(reach)}`,
      `pixels of a ${inputSize.join("x")} input; if they are 0..1, say keypointCoordinates: "normalised"`,
    );
  return true;
}

/** Argument and result of the exponential in `fillRow`. An array, since a plain number would become a heap number. */
const power = new Float64Array(1);

/**
 * Writes the keypoints of a cell to `row` of the detections, 0..1 across the network's input.
 * @param raw scratch for the channels of all keypoints
 */
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
  // By index: a pattern would make an iterator, which is garbage until V8 sees through it.
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
  // No closure here: it would be garbage of every frame with points.
  if (detections.fusedScores)
    detections.fusedScores[row] = fuseScore(
      detections.scores[row],
      raw,
      count,
      keypoints,
      row * count * WIDTH,
    );
}

/** Returns the count of channels from one point to the next. */
const stepOf = ({ values, slots }: PointTask): number => (slots ? POINT_CHANNELS : values);

/** Maps the keypoints from the network's input to the image of the frame, with the kernel's rules for boxes. */
function placePoints(
  { memory: { f32 } }: TaskMemory,
  { clamp }: PointTask,
  detections: Detections,
  block: number,
): void {
  const keypoints = detections.keypoints as Float32Array;
  const end = detections.length * countOf(detections) * WIDTH;
  for (let at = 0; at < end; at += WIDTH)
    for (let axis = 0; axis < 2; axis++)
      keypoints[at + axis] = placeInFrame(keypoints[at + axis], axis, clamp, f32, block >> 2);
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
  // Compare with the threshold in the head record: `writeThresholds` has combined score threshold and gate in it.
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

/** The sigmoids of 0 and of 1: confidences that all lie between are those of values that were probabilities already. */
const SIGMOID_OF_0 = 0.5;
const SIGMOID_OF_1 = 0.731059;

/** Notes keypoints that are not finite, and a sigmoid applied twice. Throws if confidences are no probabilities. */
function noteStrangePoints(work: TaskMemory, plan: PointTask, detections: Detections): void {
  const keypoints = detections.keypoints as Float32Array;
  const end = detections.length * plan.count * WIDTH;
  let lost = 0;
  let least = Infinity;
  let most = -Infinity;
  for (let at = 0; at < end; at += WIDTH) {
    const x = keypoints[at];
    const y = keypoints[at + 1];
    const confidence = keypoints[at + 2];
    // `x - x` is not 0 for NaN and the infinities.
    if (x - x !== 0 || y - y !== 0 || confidence - confidence !== 0) lost++;
    if (confidence < least) least = confidence;
    if (confidence > most) most = confidence;
  }
  // Give no count: each one would be a note of its own.
  if (lost > 0) work.note("keypoints are NaN or infinite, and are given as they are");
  if (plan.values === 3 && !plan.logits && (most > 1 + SLACK || least < -SLACK))
    refuseFor(
      [{ option: "keypointScores", value: "logits" }],
      plan.about,
      `confidences of keypoints from ${Number(least.toPrecision(4))} to ${Number(most.toPrecision(4))}`,
      'probabilities in 0..1; if they are raw, say keypointScores: "logits"',
    );
  if (
    plan.values === 3 &&
    plan.logits &&
    end >= FEW * WIDTH &&
    least >= SIGMOID_OF_0 &&
    most <= SIGMOID_OF_1 &&
    most > SIGMOID_OF_0
  )
    work.note(
      "every confidence of a keypoint already lies in 0..1: if the network applies the sigmoid itself, say " +
        'keypointScores: "probabilities"',
    );
}
