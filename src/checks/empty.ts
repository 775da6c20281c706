/** Empty frames in a row: when to check the best score of an empty frame, and what that score shows. */
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { type Best, recordsOf } from "../decode/best.ts";
import type { Ready } from "../decode/loop.ts";

/** The best score is checked after this many empty frames in a row. Each later check waits for twice as many. */
const LONG_EMPTY = 30;
/**
 * Multiple of the threshold below which a best score is suspicious. A dark, empty scene gives 0.001, at a threshold of
 * 0.25.
 */
const FAR_BELOW = 0.004;

/** Counts empty frames in a row, and decides when the best score of an empty frame must be checked. */
export class EmptyFrames {
  #count = 0;
  /** True if any frame had a candidate. */
  #hasFound = false;
  /** Count of empty frames in a row at which the best score is checked. */
  #nextLook = 1;

  get count(): number {
    return this.#count;
  }

  /** True if any frame had a candidate. */
  get hasFound(): boolean {
    return this.#hasFound;
  }

  /** True if the best score of the next frame must be checked if that frame is empty. */
  get isNext(): boolean {
    return this.#count + 1 === this.#nextLook;
  }

  /**
   * Counts a frame. Returns true if its best score must be checked: if it is the first, or follows many empty frames.
   */
  add(candidates: number): boolean {
    if (candidates > 0) {
      this.#count = 0;
      this.#hasFound = true;
      this.#nextLook = Math.max(this.#nextLook, LONG_EMPTY);
      return false;
    }
    if (++this.#count < this.#nextLook) return false;
    this.#nextLook = Math.max(LONG_EMPTY, this.#count * 2);
    return true;
  }
}

/** Multiple of the threshold above which a best score is more likely an object than an empty scene. */
const NEAR = 0.6;
/** Threshold that few scores of networks exceed. From it on, every score of at least LIKELY counts as near. */
const VERY_HIGH = 0.9;
const LIKELY = 0.25;

/** True if a score is so close below the threshold that the threshold may be too high. */
const isNear = (score: number, threshold: number): boolean =>
  score < threshold && (score >= threshold * NEAR || (threshold >= VERY_HIGH && score >= LIKELY));

/** Returns a note if the best score of the last of some empty frames is suspicious, or nothing was ever found. */
export function noteOfEmpty({ work, emptyFrames: frames, best, threshold, hasFound }: Moment): string | null {
  if (best !== null && frames >= LONG_EMPTY && isNear(best.confidence, threshold))
    return (
      `nothing passed the threshold ${threshold} in ${frames} frames, and the best score of the last one is ` +
      `${Number(best.confidence.toPrecision(3))} (class ${best.label}): a score lies in 0..1, and no network reaches 1. ` +
      "Lower confidenceThreshold if that object should be found"
    );
  const isFarBelow =
    hasScoresInEmptyScenes(work) && (best === null || best.confidence < threshold * FAR_BELOW);
  if (!isFarBelow)
    return !best?.confidence || frames < LONG_EMPTY || hasFound
      ? null
      : noteOfNothing(frames, best, threshold);
  if (best === null)
    return frames === 1
      ? "every score of the first frame is 0: has the network run, and is this the tensor that it wrote?"
      : `every score is 0, in the last of ${frames} frames without a detection: does the network still run?`;
  return frames === 1 ? null : `${wordsOf(frames, best, threshold)}: is the picture ${PREPARED}`;
}

const PREPARED = "prepared as the network wants it (scaled once, RGB or BGR, NCHW or NHWC, letterboxed)?";

const wordsOf = (frames: number, { confidence, label, source }: Best, threshold: number): string =>
  `nothing passed the threshold ${threshold} in ${frames} frames, and the best score of the last one is ` +
  `${Number(confidence.toPrecision(3))} (class ${label}, cell ${source})`;

/** Returns a note on frames whose scores an empty scene may have too. Nothing was found since the decoder was made. */
const noteOfNothing = (frames: number, best: Best, threshold: number): string =>
  `${wordsOf(frames, best, threshold)}: an empty scene gives such scores. If objects are there, is the picture ${PREPARED}`;

/** True if even an empty scene has scores above 0: not for finished lists, quantised scores, or no kept class. */
function hasScoresInEmptyScenes({ engine: { memory }, blocks }: Ready): boolean {
  const { i32 } = memory;
  const records = recordsOf(memory, blocks[0]).filter((r) => i32[r + A.H_CELLS] > 0);
  const isNone = (r: number, ...words: number[]): boolean => words.every((w) => i32[r + w] === 0);
  // Leave out a head with a single cell: tasks that read whole maps use one.
  const cells = records.reduce((sum, r) => sum + i32[r + A.H_CELLS], 0);
  return (
    cells > 1 &&
    records.every(
      (r) => isNone(r, A.H_MARKER, A.H_COUNT, A.H_CLASS_ID) && i32[r + A.H_SCORE_TYPE] <= A.TYPE_F16,
    )
  );
}
