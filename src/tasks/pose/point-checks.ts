/** Finds keypoints in another unit than the config states, raw keypoints, and values that cannot be keypoints. */
import { refuseFor } from "../../core/errors.ts";
import * as A from "../../core/abi.ts";
import type { Detections } from "../../decode/detections.ts";
import type { TaskMemory } from "../../decode/tasks.ts";
import type { PointTask } from "./plan.ts";
import { KEYPOINT_WIDTH as WIDTH } from "./rows.ts";

/** Amount by which confidences may leave 0..1: one step of a quantised tensor. */
const SLACK = 0.02;

/** Smallest count of points for a conclusion, since fewer may all lie in the input's corner by chance. */
const FEW = 4;
/** Points up to this pixel coordinate lie in the input's corner. Points in 0..1, if read as pixels, all lie there. */
const CORNER = 2;
/** A box that reaches beyond this coordinate in pixels lies outside the corner. */
const BEYOND = 16;
/** If most points that are read as 0..1 exceed this coordinate, they must be in pixels. */
const AWAY = 2;
/** A single point that is read as 0..1 and exceeds this coordinate is in pixels, or wrong. */
const FAR = 16;

/** Smallest fraction of decoded points in or near their box. Hardly any raw point lies in or near its box. */
const IN_BOXES = 0.2;
/** Largest distance of a raw point from its cell, in strides. */
const MOST_STRIDES = 64;

/**
 * Checks that points are decoded, and not raw offsets from their cell in strides. Both have the same shape. Checks only
 * frames with a negative coordinate, since some raw points are negative. `checkUnit` checks the other frames.
 * @throws TensorError if few points lie in their box, enlarged on each side by its own width or height
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
      // Skip points at 0: they are missing.
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
 * Checks that decoded points have the config's unit, before they are clamped. Other code checks the unit of boxes,
 * which differs from the unit of points in some exports.
 * @returns true if there were enough points for a conclusion
 * @throws TensorError if most points lie many images away, or all lie in the corner and a box does not
 */
export function checkUnit(work: TaskMemory, plan: PointTask, detections: Detections, block: number): boolean {
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
  // If `furthest` is 0, all points are missing. Comparisons with NaN are false.
  if (furthest > 0 && furthest <= CORNER && reach > BEYOND)
    refuseFor(
      [{ option: "keypointCoordinates", value: "normalised" }],
      plan.about,
      `keypoints within ${Number(furthest.toPrecision(3))} pixels of the corner beside boxes that reach ${Math.round(reach)}`,
      `pixels of a ${inputSize.join("x")} input; if they are 0..1, say keypointCoordinates: "normalised"`,
    );
  return true;
}

/** Sigmoid of 0. If all confidences lie between the sigmoids of 0 and 1, a sigmoid was applied to probabilities. */
const SIGMOID_OF_0 = 0.5;
const SIGMOID_OF_1 = 0.731059;

/** Adds a note for NaN or infinite points, or if a sigmoid was applied twice. Throws for confidences outside 0..1. */
export function noteStrangePoints(work: TaskMemory, plan: PointTask, detections: Detections): void {
  const keypoints = detections.keypoints as Float32Array;
  const end = detections.length * plan.count * WIDTH;
  let lost = 0;
  let least = Infinity;
  let most = -Infinity;
  for (let at = 0; at < end; at += WIDTH) {
    const x = keypoints[at];
    const y = keypoints[at + 1];
    const confidence = keypoints[at + 2];
    // `x - x` is NaN for NaN and infinite values, else 0.
    if (x - x !== 0 || y - y !== 0 || confidence - confidence !== 0) lost++;
    if (confidence < least) least = confidence;
    if (confidence > most) most = confidence;
  }
  // Leave the count out of the note: a note with another count would be reported as a new note.
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
