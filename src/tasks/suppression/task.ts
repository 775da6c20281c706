/** Suppression by a named method in a decoder: the option `suppression`. */
import * as A from "../../core/abi.ts";
import { refuseFor } from "../../core/errors.ts";
import { setLength } from "../../decode/detections.ts";
import type { SuppressionTask, TaskWork } from "../../decode/tasks.ts";
import { detect } from "../../engine/ts/detect.ts";
import { listStart, withGaps } from "../../plan/classes.ts";
import type { PlannedSuppression } from "../../plan/plan.ts";
import { type Candidates, orderOf } from "./candidates.ts";
import { type Settings, settingsOf } from "../../core/suppression.ts";
import { outcomeOf } from "./suppress.ts";

/**
 * Suppression by a named method: the option `suppression`.
 * @example
 * import { createDecoderSync, suppression } from "boxwright/core";
 *
 * const config = { family: "yolov8", classes: 80, inputSize: [640, 640], suppression: "soft-gaussian" };
 * const decoder = createDecoderSync(config, { tasks: [suppression] });
 * console.log(decoder.config.suppression?.method); // soft-gaussian
 */
export const suppression: SuppressionTask = {
  task: "suppression",
  attach(work) {
    const planned = work.plan.suppression as PlannedSuppression;
    if (work.plan.task?.name === "oriented")
      refuseFor(
        ["suppression"],
        work.plan.about,
        `suppression "${planned.method}" for oriented boxes`,
        'orientedSuppression: "ultralytics", "probiou" or "opencv"',
      );
    return (image, block) => suppressImage(work, planned, image, block >> 2);
  },
};

/** Suppresses the candidates of an image and writes the kept rows. `plan`: word address of the block. */
function suppressImage(work: TaskWork, suppression: PlannedSuppression, image: number, plan: number): void {
  const { i32, f32 } = work.memory;
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const ownScores = i32[plan + A.P_SCORES] >> 2;
  const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
  const { maxDetections } = work.thresholds();
  const thresholdOf = currentThresholdOf(work, suppression);
  const size = overlapScaleOf(work);
  const candidates = readCandidates(work, suppression, plan);
  const { rows, scores, corners } = outcomeOf(candidates, currentSettings(work, suppression));
  let count = 0;
  for (let i = 0; i < rows.length && count < maxDetections; i++) {
    const row = rows[i];
    // The method may have lowered the score, so compare it with the threshold again.
    const score = Math.fround(scores[i]);
    if (score < f32[ownScores + row] && score < thresholdOf(i32[classIds + row])) continue;
    f32[ownScores + row] = score;
    if (corners) for (let k = 0; k < 4; k++) f32[boxes + row * 4 + k] = corners[i * 4 + k] / size[k & 1];
    // `detect` is the kernels' last step: it transforms, clamps and copies a candidate.
    detect(work.memory, plan, row, count++, i32[plan + A.P_FLAGS]);
  }
  setLength(work.detections[image], count);
}

/** Returns the factors that convert boxes to pixels, which DIoU and `pixelOffset` need. [1, 1] if unknown. */
const overlapScaleOf = ({ plan }: TaskWork): readonly [number, number] => plan.inputSize ?? [1, 1];

/** Reads the candidate columns. Only the best P_ORDERED candidates take part. */
function readCandidates(work: TaskWork, { suppress }: PlannedSuppression, plan: number): Candidates {
  const { i32, f32 } = work.memory;
  const size = overlapScaleOf(work);
  const count = i32[plan + A.P_CANDIDATES];
  const boxes = i32[plan + A.P_BOXES] >> 2;
  const scoresAt = i32[plan + A.P_SCORES] >> 2;
  const classIds = i32[plan + A.P_CLASS_IDS] >> 2;
  const corners = Float64Array.from(f32.subarray(boxes, boxes + count * 4), (v, i) => v * size[i & 1]);
  const scores = Float64Array.from(f32.subarray(scoresAt, scoresAt + count));
  return {
    corners,
    scores,
    classIds: suppress === "all" ? new Int32Array(count) : i32.slice(classIds, classIds + count),
    order: orderOf(corners, 4, scores, -Infinity).subarray(0, i32[plan + A.P_ORDERED]),
    offset: work.plan.inputSize ? work.plan.rules.pixelOffset : 0,
  };
}

/** Returns the settings of the method. If the option states no threshold, uses the decoder's current threshold. */
function currentSettings({ plan, thresholds }: TaskWork, suppression: PlannedSuppression): Settings {
  const { iouThreshold, confidenceThreshold } = thresholds();
  const { method } = suppression;
  return {
    ...settingsOf({ method }),
    ...(method !== "soft-tensorflow" && { iouThreshold }),
    scoreThreshold: Math.min(...[confidenceThreshold].flat()),
    iouGate: plan.rules.iouGate,
    ...suppression,
  };
}

/** Returns a function from a class id to the class's current score threshold, for scores that the method lowered. */
function currentThresholdOf(
  { plan, thresholds }: TaskWork,
  { scoreThreshold }: PlannedSuppression,
): (classId: number) => number {
  const { confidenceThreshold } = thresholds();
  const one = scoreThreshold ?? confidenceThreshold;
  if (typeof one === "number") return () => Math.fround(one);
  const perClass = withGaps(plan, one, 0).map(Math.fround);
  const start = listStart(plan, perClass.length);
  return (classId) => perClass[classId - start] ?? 0;
}
