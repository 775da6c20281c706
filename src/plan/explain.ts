/** The value `explain` of `boxwright/core`: detailed errors and descriptions for developers. */
import { refuseAll, refuseSeveral } from "../heads/refuse.ts";
import { describeConfig, describePlan } from "./describe.ts";
import { noteOfChange, notesOf, notesOfFamily } from "./notes.ts";

/** Functions that a decoder calls for detailed messages. */
export interface Explain {
  /** Describes a config whose plan is not made yet. */
  readonly describeConfig: typeof describeConfig;
  /** Describes a plan: the interpretation of each tensor, and the reason. */
  readonly describePlan: typeof describePlan;
  /** Returns notes about likely mistakes in a plan. */
  readonly notesOf: typeof notesOf;
  /** Returns notes on a family that was guessed. */
  readonly notesOfFamily: typeof notesOfFamily;
  /** Returns a note if a plan seems to be for another network than the previous plan. */
  readonly noteOfChange: typeof noteOfChange;
  /** Throws the error about tensors that fit no interpretation. */
  readonly refuseAll: typeof refuseAll;
  /** Throws the error about tensors that fit several interpretations. */
  readonly refuseSeveral: typeof refuseSeveral;
}

/**
 * Adds `describe()`, notes about odd plans, and errors that say which tensors were expected. Without this value, the
 * error about tensors that fit no interpretation names only the tensors and the family.
 * @example
 * import { createDecoder, explain } from "boxwright/core";
 *
 * const decoder = await createDecoder({ family: "yolov8", classes: 80, inputSize: [640, 640] }, { explain });
 * console.log(decoder.describe().text.split("\n")[1]); // family: yolov8 (option family)
 */
export const explain: Explain = {
  describeConfig,
  describePlan,
  notesOf,
  notesOfFamily,
  noteOfChange,
  refuseAll,
  refuseSeveral,
};
