/** The value `checks`: all checks for wrong input, in the order in which they run on a frame. */
import type { Moment, CheckRow } from "./check.ts";
import * as A from "../core/abi.ts";
import { READINGS } from "../core/readings.ts";
import type { Checks } from "../decode/checks.ts";
import type { PlanInMemory } from "../decode/values.ts";
import { checkBoxes, checkOverlaps, InvertedBoxes, noteOfBoxes } from "./boxes.ts";
import { noteOfCellBoxes } from "./cell-boxes.ts";
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
  ["distributions", "first tensors", checkDistributions],
  ["lost", "first tensors", noteOfLost],
  ["activated", "first tensors", noteOfActivated],
  ["constant-scores", "first tensors", noteOfConstantScores],
  ["two-sigmoids", "first tensors", noteOfTwoSigmoids],
  ["confidence", "first tensors", noteOfConfidence],
  ["coarse-scale", "first tensors", noteOfCoarseScale],
  ["float-bytes", "first tensors", noteOfFloatBytes],
  ["sigmoid-angles", "first tensors", noteOfSigmoidAngles],
  ["cell-boxes", "first tensors", noteOfCellBoxes],
  ["list-boxes", "first tensors", noteOfListBoxes],
  ["storage-order", "first tensors", noteOfStorageOrder, { unless: ["cell-boxes"] }],
  ["count", "image", noteOfCount, { applies: ({ plan }) => plan?.heads[0].count !== null }],
  ["impossible-boxes", "first boxes", checkBoxes],
  ["boxes", "first boxes", noteOfBoxes, { unless: ALL_BOXES }],
  ["overlaps", "first boxes", checkOverlaps],
  ["background", "first boxes", checkBackground],
  ["outside", "first boxes", noteOfOutside, { unless: CAUSES }],
  ["same-boxes", "first boxes", noteOfSameBoxes, { unless: [...CAUSES, "outside"] }],
  ["crowd", "first boxes", noteOfCrowd, { unless: [...CAUSES, "outside", "same-boxes"] }],
  [
    "constant-boxes",
    "first boxes",
    noteOfConstantBoxes,
    { readsTensors: true, unless: [...CAUSES, "outside", "same-boxes", "crowd"] },
  ],
  ["class-ids", "first boxes", checkClassIds],
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
      (at) => inverted.noteOf(at),
      {
        unless: ["boxes", "list-boxes"],
        applies: ({ plan }) =>
          plan !== undefined && READINGS[plan.reading].finished === true && plan.heads[0].kind === "corners",
      },
    ];
  },
  ["forgotten-frame", "boxes", noteOfForgotten],
  ["contradicting-frame", "boxes", noteOfContradiction, { applies: ({ inPhoto }) => !inPhoto }],
  ["without-frame", "boxes", checkWithoutFrame, { applies: ({ inPhoto }) => inPhoto }],
  ["photo", "boxes", noteOfPhoto, { applies: ({ inPhoto }) => inPhoto }],
  ["emptied-boxes", "no boxes", checkEmptied, { unless: ["emptied"] }],
  ["nan", "no boxes", noteOfNaN, { readsTensors: true, unless: NOT_FINITE }],
  ["result", "first result", noteOfResult, { unless: CAUSES }],
  ["empty-map", "empty frames", noteOfEmptyMap, { readsTensors: true }],
  pictureCheck,
  // The sender may count the background without having a label for it.
  ["packet-labels", "packet", ({ classIds, labels, classes }) => checkLabels(classIds, labels, classes, 1)],
];

/** Checks the unit of boxes that the clamp dropped. Scans without the clamp, then with it to restore the memory. */
function checkEmptied(at: Moment<PlanInMemory>): string | null {
  const { block } = at;
  const { engine, memory } = at.work;
  if (memory.i32[(block >> 2) + A.P_EMPTY] === 0) return null;
  const flags = (block >> 2) + A.P_FLAGS;
  memory.i32[flags] &= ~A.FLAG_CLAMP_BEFORE;
  try {
    engine.scan(block);
    return checkBoxes(at) ?? noteOfBoxes(at);
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
