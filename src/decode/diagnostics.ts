/**
 * Finds frames that contradict the config. The first frame of a plan is checked in full. Later frames are checked if
 * they have the first candidates, or if they end a long run of empty frames. A contradiction throws a TensorError.
 * A suspicion becomes a note of `describe()`, and `onNote` receives it.
 */
import * as A from "../core/abi.ts";
import type { Config } from "../config/types.ts";
import { READINGS } from "../core/readings.ts";
import type { MemoryImage } from "../memory/write.ts";
import type { Best } from "./best.ts";
import { checkBoxes, checkOverlaps } from "./box-checks.ts";
import { noteOfCellBoxes } from "./cell-boxes.ts";
import { checkBackground, checkClassIds, checkLabels, noteOfConfidence } from "./class-checks.ts";
import type { Detections } from "./detections.ts";
import type { Frame } from "./frame.ts";
import {
  EmptyFrames,
  Notes,
  PaddingCheck,
  checkPhoto,
  noteOfEmptied,
  noteOfNotFinite,
} from "./frame-notes.ts";
import { type Ready, isOutOfRange } from "./loop.ts";
import { PictureCheck } from "./picture-notes.ts";
import type { ImageInput } from "./prepare.ts";
import { noteOfConstantScores, noteOfResult, noteOfScene, noteOfTwoSigmoids } from "./scene.ts";
import type { Stats } from "./stats.ts";
import { noteOfStorageOrder } from "./storage-order.ts";
import {
  checkDistributions,
  checkListScores,
  checkScores,
  isList,
  looksActivated,
  meetsNaN,
  noteOfCount,
  rangeErrorOf,
} from "./value-checks.ts";

type Work = MemoryImage & Ready;
type FrameCounts = Pick<Stats, "frames" | "candidates">;

export class Diagnostics {
  readonly #config: Config;
  readonly #stats: FrameCounts;
  readonly #notes: Notes;
  readonly #pictures = new PictureCheck();
  /** The note on a picture's bytes, null for none. `begin` keeps this note: a picture does not depend on the plan. */
  #pictureNote: string | null = null;
  #empty = new EmptyFrames();
  #padding = new PaddingCheck();
  #labels: readonly string[] | null = null;
  #hasCheckedScores = false;
  #hasCheckedBoxes = false;
  #hasCheckedResult = false;
  /** The boxes of an image whose clamp left none were checked. */
  #hasCheckedEmptied = false;
  /** A note of this plan already tells of values that are not finite. */
  #hasToldNotFinite = false;
  /** A note of this plan already tells that boxes lie outside the photo of their frame. */
  #hasToldPhoto = false;
  /** A note of this plan already tells of an invalid count. */
  #hasToldCount = false;
  /** The scores of a list with rows were checked. */
  #hasCheckedList = false;

  constructor(config: Config, stats: FrameCounts, onNote: ((note: string) => void) | null) {
    this.#config = config;
    this.#stats = stats;
    this.#notes = new Notes(onNote);
  }

  /** Everything noticed when the plan was made and since, as sentences. */
  get notes(): readonly string[] {
    return this.#notes.list;
  }

  /** True if the next frame has to be copied whole: gathered rows lack the scores that did not pass. */
  get wantsWhole(): boolean {
    return !this.#hasCheckedScores || this.#empty.isNext;
  }

  /** Adds a note, unless this plan has it already. */
  add(note: string): void {
    this.#notes.addOnce(note);
  }

  /** Checks a picture that `prepare` has turned into an input, and remembers its frame. */
  afterPrepare(image: ImageInput, frame: Frame, inputSize: readonly [number, number]): void {
    const note = this.#pictures.noteOf(image, frame, inputSize);
    if (note === null) return;
    this.#pictureNote = note;
    this.add(note);
  }

  /** Begins anew with a new plan, which has notes of its own. */
  begin(notes: readonly string[], labels: readonly string[] | null): void {
    this.#labels = labels;
    this.#notes.begin(this.#pictureNote === null ? notes : [...notes, this.#pictureNote]);
    this.#empty = new EmptyFrames();
    this.#padding = new PaddingCheck();
    this.#hasCheckedScores = false;
    this.#hasCheckedBoxes = false;
    this.#hasCheckedResult = false;
    this.#hasCheckedEmptied = false;
    this.#hasToldNotFinite = false;
    this.#hasToldCount = false;
    this.#hasCheckedList = false;
    this.#hasToldPhoto = false;
  }

  /**
   * Checks every score of the first frame whose tensors are whole.
   * @throws TensorError if they are not what the config says
   */
  beforeScan(work: Work, isWhole: boolean): void {
    if (this.#hasCheckedScores || !isWhole) return;
    checkDistributions(work);
    const lost = checkScores(work);
    this.#hasToldNotFinite = lost > 0;
    if (lost > 0) this.#notes.add(`${lost} scores of the first frame are NaN or infinite`);
    if (looksActivated(work))
      this.#notes.add(
        'every score already lies in 0..1: if the network applies the sigmoid itself, say scores: "probabilities"',
      );
    for (const check of [noteOfConstantScores, noteOfTwoSigmoids, noteOfConfidence])
      this.#notes.add(check(work));
    this.#notes.add(noteOfCellBoxes(work) ?? noteOfStorageOrder(work));
    this.#hasCheckedScores = true;
  }

  /**
   * Checks the first candidates, and frames without candidates.
   * @throws TensorError for a probability above 1, and for boxes that contradict the config
   */
  afterImage(work: Work, image: number, block: number, candidates: number, frame: Frame | undefined): void {
    if (isOutOfRange(work, block)) throw rangeErrorOf(work.plan, work.plan.about, null);
    if (isList(work.plan.heads[0])) {
      const note = noteOfCount(work, image);
      if (!this.#hasToldCount) this.#notes.add(note);
      this.#hasToldCount ||= note !== null;
      this.#hasCheckedList ||= checkListScores(work, image);
    }
    if (candidates > 0) {
      if (!this.#hasCheckedBoxes) this.#checkBoxes(work, image, block);
      this.#addNotFinite(noteOfNotFinite(work, block, this.#stats.frames));
      this.#notes.add(this.#padding.noteOf(work, block, frame));
      const forgotten = this.#pictures.noteOfForgotten(frame);
      if (forgotten !== null) this.add(forgotten);
      if (work.inPhoto && !this.#hasToldPhoto) {
        const note = checkPhoto(work, block, frame);
        if (note !== null) this.add(note);
        this.#hasToldPhoto = note !== null && frame !== undefined;
      }
    } else if (!this.#hasCheckedEmptied && work.memory.i32[(block >> 2) + A.P_EMPTY] > 0) {
      this.#checkEmptied(work, block);
    } else if (!this.#hasToldNotFinite) this.#addNotFinite(this.#noteOfNaN(work, image, block));
  }

  /** Checks the first result: what a task made of the candidates, too. */
  afterResult(detections: Detections): void {
    if (this.#hasCheckedResult || detections.length === 0) return;
    this.#hasCheckedResult = true;
    this.#notes.add(noteOfResult(detections));
  }

  /** Adds a note of values that are not finite, unless there is one already. */
  #addNotFinite(note: string | null): void {
    if (this.#hasToldNotFinite) return;
    this.#notes.add(note);
    this.#hasToldNotFinite = note !== null;
  }

  /**
   * Counts empty frames. Returns true if the best score of this one has to be checked: the first frame, and frames that
   * follow many empty ones.
   */
  afterFrame(): boolean {
    return this.#empty.count(this.#stats.candidates);
  }

  /** Checks the best score of an empty frame. `threshold`: the one of the config, or one per class. */
  checkBest(work: Work, best: Best | null, threshold: number | readonly number[]): void {
    const note = this.#empty.noteOf(work, best, Math.min(...[threshold].flat()));
    if (!this.#hasToldNotFinite) this.#notes.add(note);
  }

  /** Checks the classes of a packet's detections. Its sender may count the background without labels for it. */
  checkReceived(classIds: Int32Array): void {
    const { labels, classes } = this.#config;
    const note = checkLabels(classIds, labels, classes, 1);
    if (note) this.add(note);
    this.report();
  }

  /** Calls `onNote` with each note that it has not received yet. */
  report(): void {
    this.#notes.report();
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
      this.#notes.add(checkBoxes(work, block));
    } finally {
      memory.i32[flags] |= A.FLAG_CLAMP_BEFORE;
      engine.scan(block);
    }
    this.#notes.add(noteOfEmptied(work, block, this.#stats.frames));
  }

  #checkBoxes(work: Work, image: number, block: number): void {
    const { classIds, length } = work.detections[image];
    // Class ids may count the background, unless the reading says that they do not.
    const spare = READINGS[work.plan.reading].bareClassIds ? 0 : 1;
    const labels = checkLabels(classIds.subarray(0, length), this.#labels, this.#config.classes, spare);
    const told = [checkBoxes, checkOverlaps, checkBackground].map((check) => check(work, block));
    told.forEach((note) => this.#notes.add(note));
    // Later checks would tell of the same mistake, in less fitting words.
    const isTold = told.some((note) => note !== null);
    if (!isTold) this.#notes.add(noteOfScene(work, block, block === work.blocks[image]));
    this.#hasCheckedResult = isTold;
    this.#notes.add(checkClassIds(work, block, image));
    this.#notes.add(labels);
    this.#hasCheckedBoxes = true;
  }

  /** Returns the note on NaN or infinite values of an image without candidates; null if there are none. */
  #noteOfNaN(work: Work, image: number, block: number): string | null {
    const { frames } = this.#stats;
    const isWhole = block === work.blocks[image];
    return (
      noteOfNotFinite(work, block, frames) ??
      (isWhole && meetsNaN(work, image, frames - 1)
        ? `scores of frame ${frames} are NaN, which pass no threshold`
        : null)
    );
  }
}
