/** The value `explain`: long answers to "what is this?", for those who build a page and not for those who open it. */
import { refuseAll, refuseSeveral } from "../heads/refuse.ts";
import { describeConfig, describePlan } from "./describe.ts";
import { notesOf, notesOfFamily } from "./notes.ts";

/**
 * Describes decoders, says what tensors were expected in place of others, and notes what is odd about a plan. Without
 * this value of `boxwright/core` an error on tensors that fit no reading names them and the family alone.
 * @example
 * import { createDecoder, explain } from "boxwright/core";
 *
 * const decoder = await createDecoder({ family: "yolov8", classes: 80, inputSize: [640, 640] }, { explain });
 * console.log(decoder.describe().text.split("\n")[1]); // family: yolov8 (option family)
 */
export const explain = {
  describeConfig,
  describePlan,
  notesOf,
  notesOfFamily,
  refuseAll,
  refuseSeveral,
} as const;

export type Explain = typeof explain;
