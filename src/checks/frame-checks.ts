/** The checks that need only facts about a frame. `loadPlan` uses these checks too. */
import type { Checked, Checks } from "../decode/checks.ts";
import type { CheckRow } from "./check.ts";
import { checkMissingOne, noteOfEmptied, noteOfNotFinite } from "./dropped.ts";
import { noteOfEmpty } from "./empty.ts";
import { PaddingCheck, noteOfOnePixel } from "./padding.ts";
import { CheckRunner } from "./runner.ts";
import { checkUnitOfBlock } from "./unit.ts";

/** Ids of the checks for values that are NaN or infinite. */
export const NOT_FINITE = ["lost", "not-finite", "nan"];

export const FRAME_CHECKS: readonly CheckRow[] = [
  ["not-finite", "image", noteOfNotFinite, { unless: ["lost", "nan"] }],
  // Only for plan files: `createDecoder` checks the unit with facts from the config.
  ["unit", "first boxes", checkUnitOfBlock, { applies: isOfPlanFile }],
  [
    "one-pixel",
    // Run once for each plan, so that later calls need not read a frozen frame.
    "first boxes",
    noteOfOnePixel,
    { applies: ({ inPhoto }) => !inPhoto },
  ],
  () => {
    const padding = new PaddingCheck();
    return [
      "padding",
      "boxes",
      (at) => padding.noteOf(at),
      { unless: ["one-pixel"], applies: ({ inPhoto, inputSize }) => !inPhoto && inputSize !== null },
    ];
  },
  // Only for plan files, which do not state the family.
  ["missing-one", "no boxes", checkMissingOne, { applies: isOfPlanFile }],
  ["emptied", "no boxes", noteOfEmptied],
  ["empty-frames", "empty frames", noteOfEmpty, { unless: NOT_FINITE }],
];

function isOfPlanFile({ plan }: Checked): boolean {
  return plan === undefined;
}

/** The checks for decoders from `loadPlan`. */
export const frameChecks: Checks = { watch: (decoder) => new CheckRunner(FRAME_CHECKS, decoder) };
