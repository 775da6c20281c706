/** Runs checks at their moments. Every decoder has the same runner, with the checks that it has the facts for. */
import * as A from "../core/abi.ts";
import type { Best } from "../decode/best.ts";
import type { Checked, CheckedDecoder, FrameChecks } from "../decode/checks.ts";
import type { Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { Notes } from "../decode/notes.ts";
import type { ImageInput } from "../decode/prepare.ts";
import { type Check, type CheckRow, MOMENTS, type Moment, type When } from "./check.ts";
import { EmptyFrames } from "./empty.ts";

/** The checks that still run, by their moment. */
type Pending = { [W in When]: Check[] };
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const NONE: readonly string[] = [];

export class CheckRunner implements FrameChecks {
  readonly #rows: readonly CheckRow[];
  readonly #decoder: CheckedDecoder;
  readonly #notes: Notes;
  #pending: Pending;
  /** Ids of the checks that have told something of this plan. */
  #told = new Set<string>();
  #empty = new EmptyFrames();
  /** Notes on pictures. They hold for the next plan, too. */
  readonly #ofPictures: string[] = [];
  /** What checks look at. One object for all frames: even an empty frame makes no garbage. */
  readonly #moment: Mutable<Moment>;

  constructor(rows: readonly CheckRow[], decoder: CheckedDecoder) {
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
      labels,
      classes,
      classIds: new Int32Array(),
      picture: null,
      prepared: null,
      inputSize: [0, 0],
      // No check that looks at these runs before `begin`.
      work: undefined as unknown as Checked,
      detections: undefined as unknown as Detections,
    };
  }

  /** Returns all checks by their moment. */
  #start(): Pending {
    const pending = Object.fromEntries(MOMENTS.map((when) => [when, [] as Check[]])) as Pending;
    for (const row of this.#rows) {
      const check = typeof row === "function" ? row() : row;
      pending[check.when].push(check);
    }
    return pending;
  }

  get wantsWhole(): boolean {
    const { "first tensors": first, "empty frames": empty } = this.#pending;
    return first.length > 0 || (empty.length > 0 && this.#empty.isNext);
  }

  begin(work: Checked, labels: readonly string[] | null): void {
    const { picture } = this.#pending;
    this.#pending = { ...this.#start(), picture };
    this.#told = new Set();
    this.#empty = new EmptyFrames();
    this.#moment.work = work;
    this.#moment.labels = labels;
    for (const note of this.#ofPictures) this.#notes.add(note);
  }

  afterPrepare(image: ImageInput, frame: Frame, inputSize: readonly [number, number]): void {
    const moment = this.#moment;
    moment.picture = image;
    moment.prepared = frame;
    moment.inputSize = inputSize;
    this.#run("picture");
    // Let go of the picture's bytes.
    moment.picture = null;
  }

  beforeScan(lost: number): void {
    this.#moment.lost = lost;
    this.#moment.isWhole = true;
    this.#run("first tensors");
  }

  afterImage(image: number, block: number, frame: Frame | undefined, isWhole: boolean): void {
    const moment = this.#moment;
    const { engine, detections } = moment.work;
    moment.image = image;
    moment.block = block;
    moment.frame = frame;
    moment.frames = this.#decoder.stats.frames;
    moment.isWhole = isWhole;
    moment.detections = detections[image];
    this.#run("image");
    if (engine.memory.i32[(block >> 2) + A.P_CANDIDATES] === 0) this.#run("no boxes");
    else {
      this.#run("first boxes");
      this.#run("boxes");
    }
    moment.frame = undefined;
  }

  afterResult(detections: Detections): void {
    if (detections.length === 0) return;
    this.#moment.detections = detections;
    this.#run("first result");
  }

  wantsBest(candidates: number): boolean {
    return this.#empty.add(candidates) && this.#pending["empty frames"].length > 0;
  }

  afterEmpty(best: Best | null, threshold: number): void {
    const moment = this.#moment;
    moment.best = best;
    moment.threshold = threshold;
    moment.emptyFrames = this.#empty.count;
    this.#run("empty frames");
  }

  afterReceive(classIds: Int32Array): void {
    const { labels } = this.#moment;
    this.#moment.labels = this.#decoder.labels;
    this.#moment.classIds = classIds;
    this.#run("packet");
    this.#moment.labels = labels;
  }

  /** Runs the checks of a moment. Those that are over do not run again for this plan. */
  #run(when: When): void {
    const checks = this.#pending[when];
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i];
      if (this.#isSilent(check)) continue;
      const note = (check.run as (at: Moment) => string | null)(this.#moment);
      if (note === null) continue;
      this.#told.add(check.id);
      this.#notes.add(note);
      if (when === "picture") this.#ofPictures.push(note);
      checks.splice(i--, 1);
    }
    if (when.startsWith("first ")) checks.length = 0;
  }

  /** True if another check has told of the same mistake, or if the slots lack the values that a check reads. */
  #isSilent({ needs, unless = NONE }: Check): boolean {
    if (needs === "tensors" && !this.#moment.isWhole) return true;
    for (let i = 0; i < unless.length; i++) if (this.#told.has(unless[i])) return true;
    return false;
  }
}
