/**
 * Notices mistakes in frames. The first frame of a plan is looked at in full, later ones only where that
 * costs nothing. What the config rules out is an error; what is only suspicious becomes a note of `describe()`.
 */
import * as A from "../core/abi.ts";
import type { Config } from "../config/types.ts";
import { READINGS } from "../core/readings.ts";
import type { MemoryImage } from "../memory/write.ts";
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

type Work = MemoryImage & Ready;

export class Diagnostics {
  readonly #config: Config;
  readonly #stats: { readonly frames: number };
  readonly #notes: string[] = [];
  #labels: readonly string[] | null = null;
  #hasCheckedScores = false;
  #hasCheckedBoxes = false;
  /** The last frame without candidates had NaN, and a note says so. */
  #hasMetNaN = false;

  constructor(config: Config, stats: { readonly frames: number }) {
    this.#config = config;
    this.#stats = stats;
  }

  /** Everything noticed since the plan was made, as sentences. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** True once every score of a whole frame was looked at. Gathered rows are only part of a frame. */
  get hasCheckedScores(): boolean {
    return this.#hasCheckedScores;
  }

  /** Begins anew with a new plan. */
  begin(labels: readonly string[] | null): void {
    this.#labels = labels;
    this.#notes.length = 0;
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
