/** The value `checks`: all checks for wrong input, in the order in which they run on a frame. */
import * as A from "../core/abi.ts";
import { READINGS } from "../core/readings.ts";
import type { Checks } from "../decode/checks.ts";
import type { PlanInMemory } from "../decode/values.ts";
import { checkBoxes, checkOverlaps, InvertedBoxes } from "./boxes.ts";
import { noteOfCellBoxes, noteOfQueryBoxes } from "./cell-boxes.ts";
import type { CheckRow } from "./check.ts";
import { checkBackground, checkClassIds, checkLabels, noteOfConfidence } from "./classes.ts";
import { FRAME_CHECKS, NOT_FINITE } from "./frame-checks.ts";
import { noteOfListBoxes } from "./list-boxes.ts";
import { checkWithoutFrame, noteOfPhoto } from "./padding.ts";
import { noteOfContradiction, noteOfForgotten, pictureCheck } from "./pictures.ts";
import { CheckRunner } from "./runner.ts";
import {
  noteOfConstantBoxes,
  noteOfConstantScores,
  noteOfCrowd,
  noteOfEmptyMap,
  noteOfOutside,
  noteOfResult,
  noteOfSameBoxes,
  noteOfTwoSigmoids,
} from "./scene.ts";
import { checkDistributions, noteOfActivated, noteOfCount, noteOfLost, noteOfNaN } from "./scores.ts";
import { noteOfStorageOrder } from "./storage-order.ts";
import { noteOfCoarseScale, noteOfFloatBytes, noteOfSigmoidAngles } from "./values.ts";

/** Checks that find the cause of strange boxes. A note by one of them ends the checks of the scene. */
const CAUSES = ["boxes", "overlaps", "background"];

const PLAN_CHECKS: readonly CheckRow[] = [
  {
    id: "distributions",
    when: "first tensors",
    needs: "tensors",
    run: ({ work }) => checkDistributions(work),
  },
  { id: "lost", when: "first tensors", needs: "tensors", run: ({ work, lost }) => noteOfLost(work, lost) },
  { id: "activated", when: "first tensors", needs: "tensors", run: ({ work }) => noteOfActivated(work) },
  {
    id: "constant-scores",
    when: "first tensors",
    needs: "tensors",
    run: ({ work }) => noteOfConstantScores(work),
  },
  { id: "two-sigmoids", when: "first tensors", needs: "tensors", run: ({ work }) => noteOfTwoSigmoids(work) },
  { id: "confidence", when: "first tensors", needs: "tensors", run: ({ work }) => noteOfConfidence(work) },
  { id: "coarse-scale", when: "first tensors", needs: "plan", run: ({ work }) => noteOfCoarseScale(work) },
  { id: "float-bytes", when: "first tensors", needs: "tensors", run: ({ work }) => noteOfFloatBytes(work) },
  {
    id: "sigmoid-angles",
    when: "first tensors",
    needs: "tensors",
    run: ({ work }) => noteOfSigmoidAngles(work),
  },
  { id: "cell-boxes", when: "first tensors", needs: "tensors", run: ({ work }) => noteOfCellBoxes(work) },
  { id: "query-boxes", when: "first tensors", needs: "tensors", run: ({ work }) => noteOfQueryBoxes(work) },
  { id: "list-boxes", when: "first tensors", needs: "tensors", run: ({ work }) => noteOfListBoxes(work) },
  {
    id: "storage-order",
    when: "first tensors",
    needs: "tensors",
    unless: ["cell-boxes"],
    run: ({ work }) => noteOfStorageOrder(work),
  },
  {
    id: "count",
    when: "image",
    needs: "plan",
    applies: ({ plan }) => plan?.heads[0].count !== null,
    run: ({ work, image }) => noteOfCount(work, image),
  },
  { id: "boxes", when: "first boxes", needs: "plan", run: ({ work, block }) => checkBoxes(work, block) },
  {
    id: "overlaps",
    when: "first boxes",
    needs: "plan",
    run: ({ work, block }) => checkOverlaps(work, block),
  },
  {
    id: "background",
    when: "first boxes",
    needs: "plan",
    run: ({ work, block }) => checkBackground(work, block),
  },
  {
    id: "outside",
    when: "first boxes",
    needs: "plan",
    unless: CAUSES,
    run: ({ work, block }) => noteOfOutside(work, block),
  },
  {
    id: "same-boxes",
    when: "first boxes",
    needs: "frame",
    unless: [...CAUSES, "outside"],
    run: ({ work, block }) => noteOfSameBoxes(work, block),
  },
  {
    id: "crowd",
    when: "first boxes",
    needs: "plan",
    unless: [...CAUSES, "outside", "same-boxes"],
    run: ({ work, block }) => noteOfCrowd(work, block),
  },
  {
    id: "constant-boxes",
    when: "first boxes",
    needs: "tensors",
    unless: [...CAUSES, "outside", "same-boxes", "crowd"],
    run: ({ work }) => noteOfConstantBoxes(work),
  },
  {
    id: "class-ids",
    when: "first boxes",
    needs: "plan",
    run: ({ work, block, image }) => checkClassIds(work, block, image),
  },
  {
    id: "labels",
    when: "first boxes",
    needs: "plan",
    run: ({ work, detections, labels, classes }) =>
      // Class ids may count the background, unless the reading excludes it.
      checkLabels(
        detections.classIds.subarray(0, detections.length),
        labels,
        classes,
        READINGS[work.plan.reading].bareClassIds ? 0 : 1,
      ),
  },
  () => {
    const inverted = new InvertedBoxes();
    return {
      id: "inverted",
      when: "boxes",
      needs: "plan",
      unless: ["boxes", "list-boxes"],
      applies: ({ plan }) =>
        plan !== undefined && READINGS[plan.reading].finished === true && plan.heads[0].kind === "corners",
      run: ({ work, block }) => inverted.noteOf(work, block),
    };
  },
  {
    id: "forgotten-frame",
    when: "boxes",
    needs: "frame",
    run: ({ prepared, inputSize, frame }) => noteOfForgotten(prepared, inputSize, frame),
  },
  {
    id: "contradicting-frame",
    when: "boxes",
    needs: "frame",
    applies: ({ inPhoto }) => !inPhoto,
    run: ({ isOfPrepared, prepared, inputSize, frame }) =>
      isOfPrepared && prepared && frame ? noteOfContradiction(prepared, inputSize, frame) : null,
  },
  {
    id: "without-frame",
    when: "boxes",
    needs: "frame",
    applies: ({ inPhoto }) => inPhoto,
    run: ({ work, block, frame }) => (frame === undefined ? checkWithoutFrame(work, block) : null),
  },
  {
    id: "photo",
    when: "boxes",
    needs: "frame",
    applies: ({ inPhoto }) => inPhoto,
    run: ({ work, block, frame }) => (frame ? noteOfPhoto(work, block, frame) : null),
  },
  {
    id: "emptied-boxes",
    when: "no boxes",
    needs: "plan",
    unless: ["emptied"],
    run: ({ work, block }) => checkEmptied(work, block),
  },
  {
    id: "nan",
    when: "no boxes",
    needs: "tensors",
    unless: NOT_FINITE,
    run: ({ work, image, frames }) => noteOfNaN(work, image, frames),
  },
  {
    id: "result",
    when: "first result",
    needs: "frame",
    unless: CAUSES,
    run: ({ detections }) => noteOfResult(detections),
  },
  { id: "empty-map", when: "empty frames", needs: "tensors", run: ({ work }) => noteOfEmptyMap(work) },
  pictureCheck,
  {
    id: "packet-labels",
    when: "packet",
    needs: "frame",
    // The sender may count the background without having a label for it.
    run: ({ classIds, labels, classes }) => checkLabels(classIds, labels, classes, 1),
  },
];

/** Checks the unit of boxes that the clamp dropped. Scans without it, then with it, to restore the memory. */
function checkEmptied(work: PlanInMemory, block: number): string | null {
  const { engine, memory } = work;
  if (memory.i32[(block >> 2) + A.P_EMPTY] === 0) return null;
  const flags = (block >> 2) + A.P_FLAGS;
  memory.i32[flags] &= ~A.FLAG_CLAMP_BEFORE;
  try {
    engine.scan(block);
    return checkBoxes(work, block);
  } finally {
    memory.i32[flags] |= A.FLAG_CLAMP_BEFORE;
    engine.scan(block);
  }
}

/**
 * Finds input that contradicts the config. The first frame gets all checks, later frames get the quick ones. For a
 * contradiction, throws a `TensorError`. For a likely mistake, adds a note for `describe()` and `onNote`.
 * @example
 * import { checks, createDecoder } from "boxwright/core";
 *
 * const decoder = await createDecoder({ family: "yolov8", classes: 80, inputSize: [640, 640] }, { checks });
 * console.log(decoder.engine); // simd
 */
export const checks: Checks = {
  watch: (decoder) => new CheckRunner([...PLAN_CHECKS, ...FRAME_CHECKS], decoder),
};
