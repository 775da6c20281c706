/** The value `explain`: long answers to "what is this?", for those who build a page and not for those who open it. */
import { refuseAll, refuseSeveral } from "../heads/refuse.ts";
import { describeConfig, describePlan } from "./describe.ts";
import { noteOfChange, notesOf, notesOfFamily } from "./notes.ts";

/** Functions that a decoder calls when it has to tell something at length: the value `explain`. */
export interface Explain {
  /** Describes a config whose plan is not made yet. */
  readonly describeConfig: typeof describeConfig;
  /** Describes a plan: what each tensor is taken for, and why. */
  readonly describePlan: typeof describePlan;
  /** Returns notes on what is odd about a plan. */
  readonly notesOf: typeof notesOf;
  /** Returns notes on a family that was guessed. */
  readonly notesOfFamily: typeof notesOfFamily;
  /** Returns a note if a plan does not fit the plan before it. */
  readonly noteOfChange: typeof noteOfChange;
  /** Throws the error on tensors that fit no reading. */
  readonly refuseAll: typeof refuseAll;
  /** Throws the error on tensors that fit several readings. */
  readonly refuseSeveral: typeof refuseSeveral;
}

/**
 * Describes decoders, says what tensors were expected in place of others, and notes what is odd about a plan. Without
 * this value of `boxwright/core` an error on tensors that fit no reading names them and the family alone.
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
