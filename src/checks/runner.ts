/** Runs the checks at their moments. Every decoder has a runner, with the checks whose facts the decoder has. */
import * as A from "../core/abi.ts";
import type { Best } from "../decode/best.ts";
import type { Checked, CheckedDecoder, FrameChecks } from "../decode/checks.ts";
import type { Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { Notes } from "../decode/notes.ts";
import type { ImageInput } from "../decode/prepare.ts";
import { type Check, type CheckRow, MOMENTS, type Moment, type When } from "./check.ts";
import { EmptyFrames } from "./empty.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const [TENSORS, IMAGE, FIRST_BOXES, BOXES, NO_BOXES, RESULT, EMPTY, PICTURE, PACKET] = MOMENTS.keys();

const startsOnce = (when: When): boolean => when.startsWith("first ");

export class CheckRunner implements FrameChecks {
  readonly #rows: readonly CheckRow<never>[];
  readonly #decoder: CheckedDecoder;
  readonly #notes: Notes;
  /** Checks that still run, by the index of their moment. The lists become shorter, because most checks run once. */
  #pending: Check<never>[][];
  #empty = new EmptyFrames();
  /** Notes on pictures. They stay valid for the next plan. */
  readonly #ofPictures: string[] = [];
  /** Count of pictures prepared since the last decode. */
  #waiting = 0;
  /** True if several pictures were ever prepared before one decode. */
  #overlap = false;
  /** The facts that checks may read. All frames share this object, so that a frame allocates nothing. */
  readonly #moment: Mutable<Moment>;

  constructor(rows: readonly CheckRow<never>[], decoder: CheckedDecoder) {
    const { notes, labels, classes } = decoder;
    this.#rows = rows;
    this.#decoder = decoder;
    this.#notes = notes;
    this.#pending = this.#start();
    this.#moment = {
      image: 0,
      block: 0,
      frame: undefined,
      frames: 0,
      isWhole: true,
      lost: 0,
      best: null,
      threshold: 0,
      emptyFrames: 0,
      hasFound: false,
      labels,
      classes,
      classIds: new Int32Array(),
      picture: null,
      prepared: null,
      isOfPrepared: false,
      inputSize: [0, 0],
      // Checks that read these fields do not run before `begin`.
      work: undefined as unknown as Checked,
      detections: undefined as unknown as Detections,
    };
  }

  /** Returns all checks by the index of their moment. */
  #start(): Check<never>[][] {
    const checks = this.#rows.map((row) => (typeof row === "function" ? row() : row));
    return MOMENTS.map((when) => checks.filter(([, at]) => at === when));
  }

  get wantsWhole(): boolean {
    return this.#pending[TENSORS].length > 0 || (this.#pending[EMPTY].length > 0 && this.#empty.isNext);
  }

  begin(work: Checked, labels: readonly string[] | null): void {
    const pictures = this.#pending[PICTURE];
    this.#pending = this.#start().map((checks) =>
      checks.filter(([, , , more]) => more?.applies?.(work) ?? true),
    );
    this.#pending[PICTURE] = pictures;
    this.#empty = new EmptyFrames();
    this.#moment.work = work;
    this.#moment.labels = labels;
    for (const note of this.#ofPictures) this.#notes.add(note);
  }

  afterPrepare(image: ImageInput, frame: Frame, inputSize: readonly [number, number]): void {
    const moment = this.#moment;
    moment.picture = image;
    moment.prepared = frame;
    if (++this.#waiting > 1) this.#overlap = true;
    moment.inputSize = inputSize;
    this.#run(PICTURE);
    // Release the bytes of the picture.
    moment.picture = null;
  }

  beforeScan(lost: number): void {
    this.#moment.lost = lost;
    this.#moment.isWhole = true;
    this.#run(TENSORS);
  }

  afterImage(image: number, block: number, frame: Frame | undefined, isWhole: boolean): void {
    const moment = this.#moment;
    const { engine, detections } = moment.work;
    // In a batch, several pictures are prepared before one decode, so nobody knows which picture belongs to a frame.
    if (image > 0) this.#overlap = true;
    moment.isOfPrepared = this.#waiting === 1 && !this.#overlap;
    this.#waiting = 0;
    moment.image = image;
    moment.block = block;
    moment.frame = frame;
    moment.frames = this.#decoder.stats.frames;
    moment.isWhole = isWhole;
    moment.detections = detections[image];
    this.#run(IMAGE);
    if (engine.memory.i32[(block >> 2) + A.P_CANDIDATES] === 0) this.#run(NO_BOXES);
    else {
      this.#run(FIRST_BOXES);
      this.#run(BOXES);
    }
    moment.frame = undefined;
  }

  afterResult(detections: Detections): void {
    if (detections.length === 0) return;
    this.#moment.detections = detections;
    this.#run(RESULT);
  }

  wantsBest(candidates: number): boolean {
    return this.#empty.add(candidates) && this.#pending[EMPTY].length > 0;
  }

  afterEmpty(best: Best | null, threshold: number): void {
    const moment = this.#moment;
    moment.best = best;
    moment.threshold = threshold;
    moment.emptyFrames = this.#empty.count;
    moment.hasFound = this.#empty.hasFound;
    this.#run(EMPTY);
  }

  afterReceive(classIds: Int32Array): void {
    const { labels } = this.#moment;
    this.#moment.labels = this.#decoder.labels;
    this.#moment.classIds = classIds;
    this.#run(PACKET);
    this.#moment.labels = labels;
  }

  /** Runs the checks of a moment. Checks that have ended for this plan do not run again. */
  #run(moment: number): void {
    const checks = this.#pending[moment];
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i];
      // If a check returns a note, this list is replaced by a shorter one. Skip the checks that are no longer in the
      // list.
      const isSilent = this.#pending[moment] !== checks && !this.#pending[moment].includes(check);
      // Skip a check of whole tensors if the slots hold only gathered rows.
      if (isSilent || (check[3]?.readsTensors === true && !this.#moment.isWhole)) continue;
      // Take the fields by index: an iterator would make garbage in every frame.
      const note = (check[2] as (at: Moment) => string | null)(this.#moment);
      if (note === null) continue;
      this.#notes.add(note);
      if (moment === PICTURE) this.#ofPictures.push(note);
      this.#end(check[0]);
    }
    if (checks.length > 0 && startsOnce(MOMENTS[moment])) this.#pending[moment] = [];
  }

  /** Removes a check that returned a note, and the checks that would describe the same mistake. */
  #end(told: string): void {
    this.#pending = this.#pending.map((checks) =>
      checks.filter(([id, , , more]) => id !== told && !more?.unless?.includes(told)),
    );
  }
}
