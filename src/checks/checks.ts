/** The value `checks`: all checks for wrong input, in the order in which they run on a frame. */
import * as A from "../core/abi.ts";
import { READINGS } from "../core/readings.ts";
import type { Checks } from "../decode/checks.ts";
import type { PlanInMemory } from "../decode/values.ts";
import { checkBoxes, checkOverlaps, InvertedBoxes, noteOfBoxes } from "./boxes.ts";
import { noteOfCellBoxes } from "./cell-boxes.ts";
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

/** Checks of all boxes in the tensors. */
const ALL_BOXES = ["cell-boxes", "list-boxes"];
/** Checks that find the cause of strange boxes. A note by one of them ends the checks of the scene. */
const CAUSES = [...ALL_BOXES, "boxes", "overlaps", "background"];

const PLAN_CHECKS: readonly CheckRow<PlanInMemory>[] = [
  ["distributions", "first tensors", ({ work }) => checkDistributions(work)],
  ["lost", "first tensors", ({ work, lost }) => noteOfLost(work, lost)],
  ["activated", "first tensors", ({ work }) => noteOfActivated(work)],
  ["constant-scores", "first tensors", ({ work }) => noteOfConstantScores(work)],
  ["two-sigmoids", "first tensors", ({ work }) => noteOfTwoSigmoids(work)],
  ["confidence", "first tensors", ({ work }) => noteOfConfidence(work)],
  ["coarse-scale", "first tensors", ({ work }) => noteOfCoarseScale(work)],
  ["float-bytes", "first tensors", ({ work }) => noteOfFloatBytes(work)],
  ["sigmoid-angles", "first tensors", ({ work }) => noteOfSigmoidAngles(work)],
  ["cell-boxes", "first tensors", ({ work }) => noteOfCellBoxes(work)],
  ["list-boxes", "first tensors", ({ work }) => noteOfListBoxes(work)],
  ["storage-order", "first tensors", ({ work }) => noteOfStorageOrder(work), { unless: ["cell-boxes"] }],
  [
    "count",
    "image",
    ({ work, image }) => noteOfCount(work, image),
    { applies: ({ plan }) => plan?.heads[0].count !== null },
  ],
  ["impossible-boxes", "first boxes", ({ work, block }) => checkBoxes(work, block)],
  ["boxes", "first boxes", ({ work, block }) => noteOfBoxes(work, block), { unless: ALL_BOXES }],
  ["overlaps", "first boxes", ({ work, block }) => checkOverlaps(work, block)],
  ["background", "first boxes", ({ work, block }) => checkBackground(work, block)],
  ["outside", "first boxes", ({ work, block }) => noteOfOutside(work, block), { unless: CAUSES }],
  [
    "same-boxes",
    "first boxes",
    ({ work, block }) => noteOfSameBoxes(work, block),
    { unless: [...CAUSES, "outside"] },
  ],
  [
    "crowd",
    "first boxes",
    ({ work, block }) => noteOfCrowd(work, block),
    { unless: [...CAUSES, "outside", "same-boxes"] },
  ],
  [
    "constant-boxes",
    "first boxes",
    ({ work }) => noteOfConstantBoxes(work),
    { readsTensors: true, unless: [...CAUSES, "outside", "same-boxes", "crowd"] },
  ],
  ["class-ids", "first boxes", ({ work, block, image }) => checkClassIds(work, block, image)],
  [
    "labels",
    "first boxes",
    ({ work, detections, labels, classes }) =>
      // Class ids may count the background, unless the reading excludes it.
      checkLabels(
        detections.classIds.subarray(0, detections.length),
        labels,
        classes,
        READINGS[work.plan.reading].bareClassIds ? 0 : 1,
      ),
  ],
  () => {
    const inverted = new InvertedBoxes();
    return [
      "inverted",
      "boxes",
      ({ work, block }) => inverted.noteOf(work, block),
      {
        unless: ["boxes", "list-boxes"],
        applies: ({ plan }) =>
          plan !== undefined && READINGS[plan.reading].finished === true && plan.heads[0].kind === "corners",
      },
    ];
  },
  [
    "forgotten-frame",
    "boxes",
    ({ prepared, inputSize, frame }) => noteOfForgotten(prepared, inputSize, frame),
  ],
  [
    "contradicting-frame",
    "boxes",
    ({ isOfPrepared, prepared, inputSize, frame }) =>
      isOfPrepared && prepared && frame ? noteOfContradiction(prepared, inputSize, frame) : null,
    { applies: ({ inPhoto }) => !inPhoto },
  ],
  [
    "without-frame",
    "boxes",
    ({ work, block, frame }) => (frame === undefined ? checkWithoutFrame(work, block) : null),
    { applies: ({ inPhoto }) => inPhoto },
  ],
  [
    "photo",
    "boxes",
    ({ work, block, frame }) => (frame ? noteOfPhoto(work, block, frame) : null),
    { applies: ({ inPhoto }) => inPhoto },
  ],
  ["emptied-boxes", "no boxes", ({ work, block }) => checkEmptied(work, block), { unless: ["emptied"] }],
  [
    "nan",
    "no boxes",
    ({ work, image, frames }) => noteOfNaN(work, image, frames),
    { readsTensors: true, unless: NOT_FINITE },
  ],
  ["result", "first result", ({ detections }) => noteOfResult(detections), { unless: CAUSES }],
  ["empty-map", "empty frames", ({ work }) => noteOfEmptyMap(work), { readsTensors: true }],
  pictureCheck,
  // The sender may count the background without having a label for it.
  ["packet-labels", "packet", ({ classIds, labels, classes }) => checkLabels(classIds, labels, classes, 1)],
];

/** Checks the unit of boxes that the clamp dropped. Scans without the clamp, then with it to restore the memory. */
function checkEmptied(work: PlanInMemory, block: number): string | null {
  const { engine, memory } = work;
  if (memory.i32[(block >> 2) + A.P_EMPTY] === 0) return null;
  const flags = (block >> 2) + A.P_FLAGS;
  memory.i32[flags] &= ~A.FLAG_CLAMP_BEFORE;
  try {
    engine.scan(block);
    return checkBoxes(work, block) ?? noteOfBoxes(work, block);
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
