/**
 * Finds frames that contradict the config. The first frame of a plan is checked in full. Later frames are checked if
 * they have the first candidates, or if they end a long run of empty frames. A contradiction throws a TensorError.
 * A suspicion becomes a note of `describe()`, and `onNote` receives it.
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

/** Empty frames in a row before the best score is checked. Then after twice as many, and so on. */
const LONG_EMPTY = 30;
/** A best score below threshold * FAR_BELOW is suspicious: even a dark, empty scene gives about 0.001 or more. */
const FAR_BELOW = 0.004;

export class Diagnostics {
  readonly #config: Config;
  readonly #stats: FrameCounts;
  readonly #onNote: ((note: string) => void) | null;
  readonly #notes: string[] = [];
  /** Notes that `onNote` received, over all plans. */
  readonly #reported = new Set<string>();
  /** How many of `#notes` were reported. */
  #reportedCount = 0;
  #labels: readonly string[] | null = null;
  #hasCheckedScores = false;
  #hasCheckedBoxes = false;
  /** The boxes of an image whose clamp left none were checked. */
  #hasCheckedEmptied = false;
  /** A note of this plan already tells of values that are not finite. */
  #hasToldNotFinite = false;
  /** Empty frames in a row. */
  #emptyFrames = 0;
  /** The run length of empty frames at which the best score is checked. Infinity: a note has told it. */
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

  /** True if the next frame has to be copied whole: gathered rows lack the scores that did not pass. */
  get wantsWhole(): boolean {
    return !this.#hasCheckedScores || this.#emptyFrames + 1 === this.#nextLook;
  }

  /** Adds a note, unless this plan has it already. */
  add(note: string): void {
    if (!this.#notes.includes(note)) this.#notes.push(note);
  }

  /** Begins anew with a new plan, which has notes of its own. */
  begin(notes: readonly string[], labels: readonly string[] | null): void {
    this.#labels = labels;
    this.#notes.splice(0, Infinity, ...notes);
    this.#reportedCount = 0;
    this.#emptyFrames = 0;
    this.#nextLook = 1;
    this.#hasCheckedScores = false;
    this.#hasCheckedBoxes = false;
    this.#hasCheckedEmptied = false;
    this.#hasToldNotFinite = false;
  }

  /**
   * Looks at every score of the first whole frame.
   * @throws TensorError if they are not what the config says
   */
  beforeScan(work: Work, isWhole: boolean): void {
    if (this.#hasCheckedScores || !isWhole) return;
    checkDistributions(work);
    const lost = checkProbabilities(work);
    this.#hasToldNotFinite = lost > 0;
    if (lost > 0) this.#notes.push(`${lost} scores of the first frame are NaN, which pass no threshold`);
    if (looksActivated(work))
      this.#notes.push(
        'every score already lies in 0..1: if the network applies the sigmoid itself, say activation: "sigmoid"',
      );
    this.#hasCheckedScores = true;
  }

  /**
   * Looks at the first candidates there are, and at frames without any.
   * @throws TensorError for a probability above 1, and for boxes that contradict the config
   */
  afterImage(work: Work, image: number, block: number, candidates: number): void {
    if (isOutOfRange(work, block)) throw outOfRange(work.plan, work.plan.about, null);
    if (candidates > 0) {
      if (!this.#hasCheckedBoxes) this.#checkBoxes(work, image, block);
    } else if (!this.#hasCheckedEmptied && work.memory.i32[(block >> 2) + A.P_EMPTY] > 0) {
      this.#checkEmptied(work, block);
    } else if (!this.#hasToldNotFinite) {
      const isWhole = block === work.blocks[image];
      const note = this.#noteOfNaN(work, image, isWhole, work.memory.i32[(block >> 2) + A.P_NOT_FINITE]);
      if (note !== null) this.#notes.push(note);
      this.#hasToldNotFinite = note !== null;
    }
  }

  /**
   * Counts empty frames. Returns true if the best score of this one has to be checked: the first frame, and frames that
   * follow many empty ones.
   */
  afterFrame(): boolean {
    if (this.#stats.candidates > 0) {
      this.#emptyFrames = 0;
      this.#nextLook = Math.max(this.#nextLook, LONG_EMPTY);
      return false;
    }
    return ++this.#emptyFrames === this.#nextLook;
  }

  /** Checks the best score of an empty frame. `threshold`: the one of the config, or one per class. */
  checkBest(work: Work, best: Best | null, threshold: number | readonly number[]): void {
    this.#nextLook = Math.max(LONG_EMPTY, this.#emptyFrames * 2);
    if (this.#hasToldNotFinite || !hasScoresInEmptyScenes(work)) return;
    const note = noteOfEmpty(this.#emptyFrames, best, Math.min(...[threshold].flat()));
    if (note === null) return;
    this.#notes.push(note);
    this.#nextLook = Infinity;
  }

  /** Calls `onNote` with each note that it has not received yet. */
  report(): void {
    const onNote = this.#onNote;
    if (onNote === null) return;
    while (this.#reportedCount < this.#notes.length) {
      const note = this.#notes[this.#reportedCount++];
      if (this.#reported.has(note)) continue;
      this.#reported.add(note);
      onNote(note);
    }
  }

  /**
   * Checks the boxes of an image whose clamp left none, as they were before the clamp: their unit may be wrong. Scans
   * without the clamp, then once more with it to restore memory.
   */
  #checkEmptied(work: Work, block: number): void {
    this.#hasCheckedEmptied = true;
    const { engine, memory } = work;
    const flags = (block >> 2) + A.P_FLAGS;
    memory.i32[flags] &= ~A.FLAG_CLAMP_BEFORE;
    try {
      engine.scan(block);
      const note = checkBoxes(work, block);
      if (note !== null) this.#notes.push(note);
    } finally {
      memory.i32[flags] |= A.FLAG_CLAMP_BEFORE;
      engine.scan(block);
    }
    this.#notes.push(
      `all ${memory.i32[(block >> 2) + A.P_EMPTY]} candidates of frame ${this.#stats.frames} lie outside the image, and are dropped: are boxFormat, coordinates and inputSize those of the network?`,
    );
  }

  #checkBoxes(work: Work, image: number, block: number): void {
    const { classIds, length } = work.detections[image];
    // The class column of another network may count the background.
    const classes = READINGS[work.plan.reading].bareClassIds ? this.#config.classes : null;
    const labels = checkLabels(classIds.subarray(0, length), this.#labels, classes);
    for (const note of [checkBoxes(work, block), labels]) if (note !== null) this.#notes.push(note);
    this.#hasCheckedBoxes = true;
  }

  /** Returns the note on NaN or infinite values of an image without candidates; null if there are none. */
  #noteOfNaN(work: Work, image: number, isWhole: boolean, notFinite: number): string | null {
    const { frames } = this.#stats;
    if (notFinite > 0) return `boxes of frame ${frames} are NaN or infinite, and dropped: ${notFinite}`;
    if (isWhole && meetsNaN(work, image, frames - 1))
      return `scores of frame ${frames} are NaN, which pass no threshold`;
    return null;
  }
}

/**
 * True if an empty scene still has scores above 0. False for finished lists, which may be empty, and for quantised
 * scores, which round to 0.
 */
const hasScoresInEmptyScenes = ({ plan }: Work): boolean =>
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
