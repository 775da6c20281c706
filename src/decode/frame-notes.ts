/** Notes on frames, and those on frames without detections, which `createDecoder` and `loadPlan` share. */
import * as A from "../core/abi.ts";
import { type Best, recordsOf } from "./best.ts";
import type { Ready } from "./loop.ts";

/** Empty frames in a row before the best score is checked. Then after twice as many, and so on. */
const LONG_EMPTY = 30;
/** A best score below threshold * FAR_BELOW is suspicious: even a dark, empty scene gives about 0.001 or more. */
const FAR_BELOW = 0.004;

/** Collects notes, and hands each to `onNote` once. */
export class Notes {
  readonly list: string[] = [];
  readonly #onNote: ((note: string) => void) | null;
  /** Notes that `onNote` received, over all plans. */
  readonly #reported = new Set<string>();
  /** How many of `list` were reported. */
  #reportedCount = 0;

  constructor(onNote: ((note: string) => void) | null | undefined) {
    this.#onNote = onNote ?? null;
  }

  /** Begins a list anew. */
  begin(notes: readonly string[]): void {
    this.list.splice(0, Infinity, ...notes);
    this.#reportedCount = 0;
  }

  add(note: string | null): void {
    if (note !== null) this.list.push(note);
  }

  /** Calls `onNote` with each note that it has not received yet. */
  report(): void {
    const onNote = this.#onNote;
    if (onNote === null) return;
    while (this.#reportedCount < this.list.length) {
      const note = this.list[this.#reportedCount++];
      if (this.#reported.has(note)) continue;
      this.#reported.add(note);
      onNote(note);
    }
  }
}

/** Counts empty frames, and says when the best score of one has to be checked. */
export class EmptyFrames {
  /** Empty frames in a row. */
  #count = 0;
  /** The run length at which the best score is checked. Infinity: a note has told it. */
  #nextLook = 1;

  /** True if the next frame, if it is empty, has its best score checked. */
  get isNext(): boolean {
    return this.#count + 1 === this.#nextLook;
  }

  /**
   * Counts a frame. Returns true if its best score has to be checked: the first frame, and frames that follow many
   * empty ones.
   */
  count(candidates: number): boolean {
    if (candidates > 0) {
      this.#count = 0;
      this.#nextLook = Math.max(this.#nextLook, LONG_EMPTY);
      return false;
    }
    return ++this.#count === this.#nextLook;
  }

  /**
   * Returns what the best score of an empty frame says; null: nothing.
   * @param threshold the lowest one of the config
   */
  noteOf(ready: Ready, best: Best | null, threshold: number): string | null {
    this.#nextLook = Math.max(LONG_EMPTY, this.#count * 2);
    const note = hasScoresInEmptyScenes(ready) ? noteOfEmpty(this.#count, best, threshold) : null;
    if (note !== null) this.#nextLook = Infinity;
    return note;
  }
}

/**
 * True if an empty scene still has scores above 0. False for lists that the network finished, which may be empty, for
 * quantised scores, which round to 0, and if no class is kept.
 */
function hasScoresInEmptyScenes({ engine: { memory }, blocks }: Ready): boolean {
  const { i32 } = memory;
  const records = recordsOf(memory, blocks[0]).filter((r) => i32[r + A.H_CELLS] > 0);
  const isNone = (r: number, ...words: number[]): boolean => words.every((w) => i32[r + w] === 0);
  return (
    records.length > 0 &&
    records.every(
      (r) => isNone(r, A.H_MARKER, A.H_COUNT, A.H_CLASS_ID) && i32[r + A.H_SCORE_TYPE] <= A.TYPE_F16,
    )
  );
}

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

/** Returns the note on a frame whose clamp left no candidate; null if it emptied none. */
export function noteOfEmptied({ engine: { memory } }: Ready, block: number, frame: number): string | null {
  const count = memory.i32[(block >> 2) + A.P_EMPTY];
  return count > 0
    ? `all ${count} candidates of frame ${frame} lie outside the image, and are dropped: are boxFormat, coordinates and inputSize those of the network?`
    : null;
}

/** Returns the note on a frame without candidates whose boxes are no numbers; null if it dropped none. */
export function noteOfNotFinite({ engine: { memory } }: Ready, block: number, frame: number): string | null {
  const count = memory.i32[(block >> 2) + A.P_NOT_FINITE];
  return count > 0 ? `boxes of frame ${frame} are NaN or infinite, and dropped: ${count}` : null;
}
