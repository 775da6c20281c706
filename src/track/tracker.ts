/** `createTracker`: gives detections the same id from frame to frame. */
import { refuseValue } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import { ByteTrack } from "./bytetrack.ts";
import { type TrackerDetections, TrackerFrame } from "./frame.ts";
import { room } from "./lists.ts";
import type { Method } from "./method.ts";
import { OcSort } from "./ocsort.ts";
import { type ByteTrackOptions, type Complete, type OcSortOptions, type SortOptions } from "./options.ts";
import { type TrackerOptions, complete } from "./options.ts";
import { Sort } from "./sort.ts";

/** Follows objects from frame to frame. Made by `createTracker`. Trackers are independent of each other. */
export interface Tracker {
  readonly method: "sort" | "bytetrack" | "ocsort";
  /** Count of tracks, including lost ones and those without an id so far. */
  readonly tracks: number;
  /**
   * Box of each detection's track after the last frame: x_min, y_min, x_max, y_max, in the unit of the detections. For
   * SORT and ByteTrack, this is the filter's box after its correction by the detection. For OC-SORT, it is the
   * detection. 0 where the id is 0. The column may be longer than the frame.
   */
  readonly boxes: Float64Array;
  /**
   * Adds the detections of the next frame. Call this for frames without detections too.
   * @param seconds time of the frame on any clock; later than the last frame
   * @returns the id of each detection in their order, from 1 up; 0 if it has none yet, or if its box has no area. The
   * next call overwrites them.
   * @throws RangeError for a frame out of order, for columns that do not fit, for times in milliseconds, and if most
   * boxes are not corners. The tracker is then unchanged.
   */
  update(detections: TrackerDetections, seconds: number): Int32Array;
  /** Removes all tracks and times. Ids begin at 1 again. */
  reset(): void;
}

function methodOf(options: Complete<TrackerOptions>): Method {
  if (options.method === "sort") return new Sort(options as Complete<SortOptions>);
  return options.method === "ocsort"
    ? new OcSort(options as Complete<OcSortOptions>)
    : new ByteTrack(options as Complete<ByteTrackOptions>);
}

/** Gap between frames in seconds that hardly any camera has. Times in ms at 60 frames a second give 16.7. */
const LONG_GAP = 10;
/**
 * Largest ratio between two gaps of a camera that drops at most one frame. Gaps between irregular events differ more.
 */
const EVEN = 2.2;
/** If the first frames are at least this many seconds apart, a note asks for the unit of times. */
const SLOW_GAP = 1;
/** Count of gaps of `SLOW_GAP` or `FAST_GAP` before a note. */
const SLOW_GAPS = 4;
/** Gaps up to this many seconds lead to a note unless `frameRate` explains them. Times divided by 1,000 lie below. */
const FAST_GAP = 0.00025;

/** Count of usual gaps by which a pause may exceed `longestPause`: one for the next frame, one for a dropped frame. */
const GAPS_ALLOWED = 2;
/** Count of frames over which the time between frames is averaged. The average is the usual gap. */
const MEMORY = 4;
/** A gap enters the average as at most this multiple of the usual gap. */
const MOST_GROWTH = 3;

class MethodTracker implements Tracker {
  readonly method: Tracker["method"];
  boxes = new Float64Array(0);
  private readonly options: Complete<TrackerOptions>;
  private running: Method;
  private frame = new TrackerFrame();
  /** Times of the first and last frame in seconds; NaN before the first frame. */
  private firstSeconds = NaN;
  private lastSeconds = NaN;
  /** The last gap if all gaps were longer than `LONG_GAP`. 0 before the second frame, -1 after a shorter gap. */
  private longGap = 0;
  /** Count of gaps of at least `SLOW_GAP`. -1 after a shorter gap. */
  private slowGaps = 0;
  /** Count of gaps of at most `FAST_GAP`. -1 after a longer gap. */
  private fastGaps = 0;
  /** Average time between frames, in frames of the nominal rate. NaN before the second frame. */
  private usualGap = NaN;
  /** True after the note about matches that are not the best. */
  private hasToldCut = false;
  private ids = new Int32Array(0);
  /** Views of `ids` by length, cached so that a frame makes none. */
  private views: Int32Array[] = [];

  constructor(options: Complete<TrackerOptions>) {
    this.options = options;
    this.method = options.method;
    this.running = methodOf(options);
  }

  get tracks(): number {
    return this.running.tracks.length;
  }

  update(detections: TrackerDetections, seconds: number): Int32Array {
    const { frame, running, options } = this;
    if (!Number.isFinite(seconds)) refuseValue("seconds", show(seconds), "the time of the frame");
    if (seconds <= this.lastSeconds)
      refuseValue(
        "seconds",
        `${seconds} after ${this.lastSeconds}`,
        "a later time than that of the frame before. Leave frames out that come late, or call reset()",
      );
    const longGap = this.longGapAt(seconds);
    frame.read(detections, options.size, options.perClass);
    if (frame.count === 0) this.firstSeconds = seconds;
    const time = (seconds - this.firstSeconds) * options.frameRate;
    frame.elapsed = time - frame.time;
    frame.time = time;
    frame.count++;
    this.noteSlowGap(seconds - this.lastSeconds, longGap);
    // Test the count first: passing a difference allocates a heap number.
    if (this.fastGaps >= 0) this.noteFastGap(seconds - this.lastSeconds);
    this.lastSeconds = seconds;
    this.longGap = longGap;
    // End tracks now if frames paused. The methods end tracks only after matching, as published.
    const allowed = options.longestPause * options.frameRate + GAPS_ALLOWED * this.usualGapAt(frame);
    running.tracks.giveUp(time - allowed);
    running.step(frame);
    this.noteCut();
    return this.answer(frame);
  }

  reset(): void {
    this.running = methodOf(this.options);
    this.frame = new TrackerFrame();
    this.firstSeconds = this.lastSeconds = NaN;
    this.longGap = this.slowGaps = this.fastGaps = 0;
    this.usualGap = NaN;
  }

  /** Notes once that the first frames are as far apart as frame numbers or milliseconds. */
  private noteSlowGap(gap: number, longGap: number): void {
    if (this.slowGaps < 0 || !(gap > 0)) return;
    const { maxLost, onNote } = this.options;
    const isMeant = maxLost > gap;
    this.slowGaps = gap < SLOW_GAP || isMeant ? -1 : this.slowGaps + 1;
    if (this.slowGaps !== SLOW_GAPS && !(longGap > 0)) return;
    const { slowGaps } = this;
    this.slowGaps = -1;
    onNote?.(
      `the first ${slowGaps + 1} frames are ${SLOW_GAP} s apart or more, the last two ${Number(gap.toPrecision(4))} s: ` +
        "are the times frame numbers or milliseconds? update() takes seconds. For a slow camera set maxLost",
    );
  }

  private noteCut(): void {
    const { running, frame, hasToldCut } = this;
    if (!running.wasCut || hasToldCut) return;
    this.hasToldCut = true;
    this.options.onNote?.(
      `${frame.length} boxes of frame ${frame.count} overlap so much alike that the best of all matches would take ` +
        "seconds: some were matched one after the other. Suppress boxes before tracking",
    );
  }

  /** Adds a note once if the first frames are closer than any camera's: filters would hardly predict. */
  private noteFastGap(gap: number): void {
    if (!(gap > 0)) return;
    // Allow half a frame of the stated rate.
    const isFast = gap <= FAST_GAP && gap * this.options.frameRate < 0.5;
    this.fastGaps = isFast ? this.fastGaps + 1 : -1;
    if (this.fastGaps !== SLOW_GAPS) return;
    const { fastGaps } = this;
    this.fastGaps = -1;
    this.options.onNote?.(
      `the first ${fastGaps + 1} frames are ${FAST_GAP} s apart or less, the last two ${Number(gap.toPrecision(4))} s: ` +
        "were seconds divided by 1,000, or is this the time of the loop? update() takes the time of each frame in seconds. " +
        "For so fast a camera set frameRate",
    );
  }

  /** Returns the usual gap before this frame, at least one frame, and averages this gap in. */
  private usualGapAt({ elapsed, count }: TrackerFrame): number {
    if (count === 1) return 1;
    if (Number.isNaN(this.usualGap)) this.usualGap = Math.min(elapsed, LONG_GAP * this.options.frameRate);
    const usual = this.usualGap;
    this.usualGap += (Math.min(elapsed, MOST_GROWTH * usual) - usual) / MEMORY;
    return Math.max(1, usual);
  }

  /** Returns this gap if all are long, -1 once one was shorter. Throws if times are milliseconds. */
  private longGapAt(seconds: number): number {
    const gap = seconds - this.lastSeconds;
    const before = this.longGap;
    if (before < 0 || !(gap > 0)) return before;
    if (gap <= LONG_GAP || gap <= this.options.maxLost) return -1;
    if (before > 0 && Math.max(gap, before) <= EVEN * Math.min(gap, before))
      refuseValue(
        "seconds",
        `gaps of more than ${LONG_GAP} s between all frames, the last of ${Number(gap.toPrecision(4))} s`,
        "times in seconds. If they are, say maxLost: more seconds than a gap has",
      );
    return gap;
  }

  private answer(frame: TrackerFrame): Int32Array {
    const { running, options } = this;
    const { tracks, shownBoxes } = running;
    const ids = this.viewOf(frame.given);
    this.boxes = room(this.boxes, frame.given * 4);
    const { boxes } = this;
    ids.fill(0);
    boxes.fill(0, 0, frame.given * 4);
    const width = options.size === null ? 1 : options.size[0];
    const height = options.size === null ? 1 : options.size[1];
    for (let row = 0; row < tracks.length; row++) {
      const detection = tracks.detection[row];
      if (detection < 0 || !running.isShown(row, frame)) continue;
      const d = frame.places[detection];
      ids[d] = tracks.id[row];
      for (let i = 0; i < 4; i += 2) {
        boxes[d * 4 + i] = shownBoxes[row * 4 + i] / width;
        boxes[d * 4 + i + 1] = shownBoxes[row * 4 + i + 1] / height;
      }
    }
    return ids;
  }

  private viewOf(length: number): Int32Array {
    if (this.ids.length < length) {
      this.ids = room(this.ids, length);
      this.views = [];
    }
    return (this.views[length] ??= this.ids.subarray(0, length));
  }
}

/**
 * Makes a tracker: it gives the same id to the same object in frame after frame. `"sort"`, `"bytetrack"` and
 * `"ocsort"` work as published, with their published settings as defaults.
 * @param options method and settings; ByteTrack without a method
 * @throws RangeError for an option that is unknown or has a wrong value
 * @example
 * import { createTracker } from "boxwright";
 *
 * const tracker = createTracker({ method: "bytetrack" });
 * const one = { length: 1, boxes: [10, 10, 50, 90], scores: [0.9] }; // in pixels
 * const two = { length: 2, boxes: [200, 20, 240, 80, 12, 10, 52, 90], scores: [0.8, 0.9] };
 * console.log([...tracker.update(one, 0)]); // [1]
 * console.log([...tracker.update(two, 1 / 30)]); // [0,1]
 * console.log([...tracker.update(two, 2 / 30)]); // [2,1]
 */
export function createTracker(options: TrackerOptions = {}): Tracker {
  return new MethodTracker(complete(options));
}
