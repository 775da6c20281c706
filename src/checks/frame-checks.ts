/** The checks that need only facts about a frame. `loadPlan` uses these checks too. */
import type { Checks } from "../decode/checks.ts";
import type { CheckRow } from "./check.ts";
import { checkMissingOne, noteOfEmptied, noteOfNotFinite } from "./dropped.ts";
import { noteOfEmpty } from "./empty.ts";
import { PaddingCheck, noteOfOnePixel } from "./padding.ts";
import { CheckRunner } from "./runner.ts";
import { checkUnitOfBlock } from "./unit.ts";

/** Ids of the checks for values that are NaN or infinite. */
export const NOT_FINITE = ["lost", "not-finite", "nan"];

export const FRAME_CHECKS: readonly CheckRow[] = [
  {
    id: "not-finite",
    when: "image",
    needs: "frame",
    unless: ["lost", "nan"],
    run: ({ work, block, frames }) => noteOfNotFinite(work, block, frames),
  },
  {
    id: "unit",
    when: "first boxes",
    needs: "frame",
    // Only for plan files: `createDecoder` checks the unit with facts from the config.
    applies: ({ plan }) => plan === undefined,
    run: ({ work, block }) => checkUnitOfBlock(work, block),
  },
  {
    id: "one-pixel",
    // Run once for a plan, since later calls do not read a frozen frame.
    when: "first boxes",
    needs: "frame",
    applies: ({ inPhoto }) => !inPhoto,
    run: ({ isOfPrepared, frame }) => (!isOfPrepared && frame ? noteOfOnePixel(frame) : null),
  },
  () => {
    const padding = new PaddingCheck();
    return {
      id: "padding",
      when: "boxes",
      needs: "frame",
      unless: ["one-pixel"],
      applies: ({ inPhoto, inputSize }) => !inPhoto && inputSize !== null,
      run: ({ work, block, frame }) => padding.noteOf(work, block, frame),
    };
  },
  {
    id: "missing-one",
    when: "no boxes",
    needs: "frame",
    // Only for plan files, which do not state the family.
    applies: ({ plan }) => plan === undefined,
    run: ({ work, block }) => checkMissingOne(work, block),
  },
  {
    id: "emptied",
    when: "no boxes",
    needs: "frame",
    run: ({ work, block, frames }) => noteOfEmptied(work, block, frames),
  },
  {
    id: "empty-frames",
    when: "empty frames",
    needs: "frame",
    unless: NOT_FINITE,
    run: ({ work, emptyFrames, best, threshold, hasFound }) =>
      noteOfEmpty(work, emptyFrames, best, threshold, hasFound),
  },
];

/** The checks for decoders from `loadPlan`. */
export const frameChecks: Checks = { watch: (decoder) => new CheckRunner(FRAME_CHECKS, decoder) };
