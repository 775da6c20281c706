/**
 * Notices mistakes in frames. The first frame of a plan is looked at in full, later ones only where that
 * costs nothing. What the config rules out is an error; what is only suspicious becomes a note of `describe()`, and
 * `onNote` gets it.
 */
import * as A from "../core/abi.ts";
import type { Config } from "../config/types.ts";
import { READINGS } from "../core/readings.ts";
import { isFloat } from "../core/tensor.ts";
import type { MemoryImage } from "../memory/write.ts";
import type { Best } from "./best.ts";
import { type Ready, isOutOfRange } from "./loop.ts";
import {
  checkBoxes,
  checkDistributions,
  checkLabels,
  checkProbabilities,
  looksActivated,
  meetsNaN,
  outOfRange,
} from "./sanity.ts";
import type { Stats } from "./stats.ts";

type Work = MemoryImage & Ready;
type FrameCounts = Pick<Stats, "frames" | "candidates">;

/** Empty frames in a row after which the best score is looked at. Then after twice as many, and so on. */
const LONG_EMPTY = 30;
/** Scores below this part of the threshold are far below: the best of a dark, empty scene is above a thousandth. */
const FAR_BELOW = 0.004;

export class Diagnostics {
  readonly #config: Config;
  readonly #stats: FrameCounts;
  readonly #onNote: ((note: string) => void) | null;
  readonly #notes: string[] = [];
  /** Notes that `onNote` got, over all plans. */
  readonly #told = new Set<string>();
  #labels: readonly string[] | null = null;
  #hasCheckedScores = false;
  #hasCheckedBoxes = false;
  /** The last frame without candidates had NaN, and a note says so. */
  #hasMetNaN = false;
  /** Empty frames in a row. */
  #emptyFrames = 0;
  /** Count of empty frames in a row at which the best score is looked at; Infinity: a note has said it. */
  #nextLook = 1;

  constructor(config: Config, stats: FrameCounts, onNote: ((note: string) => void) | null) {
    this.#config = config;
    this.#stats = stats;
    this.#onNote = onNote;
  }

  /** Everything noticed when the plan was made and since, as sentences. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** True if the next frame has to be copied whole. Gathered rows do not tell what did not pass. */
  get wantsWhole(): boolean {
    return !this.#hasCheckedScores || this.#emptyFrames + 1 === this.#nextLook;
  }

  /** Begins anew with a new plan, which has notes of its own. */
  begin(notes: readonly string[], labels: readonly string[] | null): void {
    this.#labels = labels;
    this.#notes.splice(0, Infinity, ...notes);
    this.#emptyFrames = 0;
    this.#nextLook = 1;
    this.#hasCheckedScores = false;
    this.#hasCheckedBoxes = false;
    this.#hasMetNaN = false;
  }

  /**
   * Looks at every score of the first whole frame.
   * @throws TensorError if they are not what the config says
   */
  beforeScan(work: Work, isWhole: boolean): void {
    if (this.#hasCheckedScores || !isWhole) return;
    checkDistributions(work);
    const lost = checkProbabilities(work);
    this.#hasMetNaN = lost > 0;
    if (lost > 0) this.#notes.push(`${lost} scores of the first frame are NaN, which pass no threshold`);
    if (looksActivated(work))
      this.#notes.push(
        'every score already lies in 0..1: if the network applies the sigmoid itself, say activation: "sigmoid"',
      );
    this.#hasCheckedScores = true;
  }

  /**
   * Looks at the first candidates there are, and at frames without any.
   * @throws TensorError for a probability outside 0..1, and for boxes that are not what the config says
   */
  afterImage(work: Work, image: number, block: number, candidates: number): void {
    if (isOutOfRange(work, block)) throw outOfRange(work.plan, work.plan.about, null);
    if (candidates > 0) {
      if (!this.#hasCheckedBoxes) this.#checkBoxes(work, image, block);
    } else if (!this.#hasMetNaN) {
      const isWhole = block === work.blocks[image];
      const note = this.#noteOfNaN(work, image, isWhole, work.memory.i32[(block >> 2) + A.P_NOT_FINITE]);
      if (note !== null) this.#notes.push(note);
      this.#hasMetNaN = note !== null;
    }
  }

  /** Looks at the best score of the first frame if it is empty, and of frames that follow many empty ones. */
  afterFrame(
    work: Work,
    decoder: { readonly best: Best | null },
    threshold: number | readonly number[],
  ): void {
    if (this.#stats.candidates > 0) {
      this.#emptyFrames = 0;
      this.#nextLook = Math.max(this.#nextLook, LONG_EMPTY);
      return;
    }
    if (++this.#emptyFrames !== this.#nextLook) return;
    this.#nextLook = Math.max(LONG_EMPTY, this.#emptyFrames * 2);
    if (this.#hasMetNaN || !tellsEmptyScenes(work)) return;
    const note = noteOfEmpty(this.#emptyFrames, decoder.best, Math.min(...[threshold].flat()));
    if (note === null) return;
    this.#notes.push(note);
    this.#nextLook = Infinity;
  }

  /** Calls `onNote` with each note that it did not get yet. */
  tell(): void {
    if (this.#onNote === null || this.#told.size === this.#notes.length) return;
    for (const note of this.#notes)
      if (!this.#told.has(note)) {
        this.#told.add(note);
        this.#onNote(note);
      }
  }

  #checkBoxes(work: Work, image: number, block: number): void {
    const { classIds, length } = work.detections[image];
    // The class column of another network may count the background.
    const classes = READINGS[work.plan.reading].bareClassIds ? this.#config.classes : null;
    const labels = checkLabels(classIds.subarray(0, length), this.#labels, classes);
    for (const note of [checkBoxes(work, block), labels]) if (note !== null) this.#notes.push(note);
    this.#hasCheckedBoxes = true;
  }

  /** Returns what a frame without candidates says of NaN. */
  #noteOfNaN(work: Work, image: number, isWhole: boolean, notFinite: number): string | null {
    const { frames } = this.#stats;
    if (notFinite > 0) return `boxes of frame ${frames} are NaN or infinite, and dropped: ${notFinite}`;
    if (isWhole && meetsNaN(work, image, frames - 1))
      return `scores of frame ${frames} are NaN, which pass no threshold`;
    return null;
  }
}

/**
 * True if even an empty scene gives scores above 0. A list may be empty, and small scores are 0 in quantised tensors.
 */
const tellsEmptyScenes = ({ plan }: Work): boolean =>
  !READINGS[plan.reading].finished &&
  plan.heads.every((h) => h.marker === null && h.count === null && isFloat(plan.tensors[h.score.tensor]));

/** Returns what `frames` empty frames in a row say, the last of which has this best score. */
function noteOfEmpty(frames: number, best: Best | null, threshold: number): string | null {
  if (best === null)
    return frames === 1
      ? "every score of the first frame is 0: has the network run, and is this the tensor that it wrote?"
      : `every score is 0, in the last of ${frames} frames without a detection: does the network still run?`;
  if (frames === 1 || best.confidence >= threshold * FAR_BELOW) return null;
  const { label, source } = best;
  return (
    `nothing passed the threshold ${threshold} in ${frames} frames, and the best score of the last one is ` +
    `${Number(best.confidence.toPrecision(3))} (class ${label}, cell ${source}): is the picture prepared as the network ` +
    "wants it (scaled once, RGB or BGR, NCHW or NHWC, letterboxed)?"
  );
}
