/** Reads the thresholds that `update` may change between frames. */
import { knownOf } from "../core/json.ts";
import { mismatch } from "../core/errors.ts";
import { CONFIDENCE, UNIT, isUnit, nameComplaint, valueComplaint } from "../core/options.ts";
import { isKeyed, show } from "../core/tensor.ts";
import type { Thresholds } from "../memory/write.ts";

/** Thresholds for `Decoder.update`. */
export interface Update {
  /** Score threshold in 0..1, or one threshold for each class. */
  readonly confidenceThreshold?: number | readonly number[];
  /** IoU threshold in 0..1. */
  readonly iouThreshold?: number;
  /** A whole number from 1 to the limit set at creation. */
  readonly maxDetections?: number;
}

/** Limits that a decoder sets on updates. */
export interface UpdateRules {
  /** Largest `maxDetections`. */
  readonly bound: number;
  /** Returns what is wrong with a confidence threshold, as text for an error. Returns null if it is right. */
  readonly confidenceProblem: (confidence: number | readonly number[]) => string | null;
}

const NAMES = ["confidenceThreshold", "iouThreshold", "maxDetections"];

/** Returns the new thresholds: `update` over `now`. Throws a RangeError with every problem. */
export function readUpdate<T extends Partial<Thresholds>>(
  update: Update | null | undefined,
  now: T,
  { bound, confidenceProblem }: UpdateRules,
): T {
  const problems: string[] = [];
  const say = (name: string, problem: string): void => void problems.push(name && `${name}: ${problem}`);
  const given: Update = update ?? {};
  if (!isKeyed(given)) throw new RangeError(mismatch(show(given), "an object of thresholds"));
  for (const name of Object.keys(given)) {
    const complaint = nameComplaint(name, NAMES);
    if (complaint) say(name, mismatch(...complaint));
  }
  // Treat null like undefined, because plain JavaScript may pass either.
  const confidence = given.confidenceThreshold ?? null;
  const iou = given.iouThreshold ?? null;
  const most = given.maxDetections ?? null;
  if (confidence !== null) {
    const isList = Array.isArray(confidence) && confidence.length > 0;
    const problem =
      isUnit(confidence) || (isList && Array.from(confidence).every(isUnit))
        ? confidenceProblem(confidence)
        : mismatch(...(valueComplaint(confidence, CONFIDENCE) ?? [show(confidence), CONFIDENCE[0]]));
    if (problem !== null) say("confidenceThreshold", problem);
  }
  const wrongIou = iou === null ? null : valueComplaint(iou, UNIT);
  if (wrongIou) say("iouThreshold", mismatch(...wrongIou));
  if (most !== null && !(Number.isInteger(most) && most > 0 && most <= bound))
    say("maxDetections", mismatch(show(most), `1..${bound}, the bound given at creation`));
  if (problems.length > 0) throw new RangeError(problems.join("\n"));
  return {
    ...now,
    ...knownOf({
      // Copy the list, because the caller may change it later.
      confidenceThreshold: Array.isArray(confidence) ? [...(confidence as number[])] : confidence,
      iouThreshold: iou,
      maxDetections: most,
    }),
  };
}
