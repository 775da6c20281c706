/** Notes about the frames of a decoder. The decoders of `createDecoder` and `loadPlan` share them. */
import * as A from "../core/abi.ts";
import { type Frame, affineOf } from "./frame.ts";
import { type Best, recordsOf } from "./best.ts";
import { refuse } from "../core/errors.ts";
import type { Ready } from "./loop.ts";

/** Empty frames in a row before the best score is checked. Each later check waits for twice as many. */
const LONG_EMPTY = 30;
/**
 * A best score below threshold * FAR_BELOW is suspicious. For a threshold of 0.25 the limit is 0.001, the best score
 * that a network gives for a dark, empty scene.
 */
const FAR_BELOW = 0.004;

/** Collects notes, and passes each to `onNote` once. */
export class Notes {
  readonly list: string[] = [];
  readonly #onNote: ((note: string) => void) | null;
  /** Notes that `onNote` received, over all plans. */
  readonly #reported = new Set<string>();
  /** Count of the notes in `list` that `report` has gone through. */
  #reportedCount = 0;

  constructor(onNote: ((note: string) => void) | null | undefined) {
    this.#onNote = onNote ?? null;
  }

  /** Replaces the list by the notes of a new plan. */
  begin(notes: readonly string[]): void {
    this.list.splice(0, Infinity, ...notes);
    this.#reportedCount = 0;
  }

  add(note: string | null): void {
    if (note !== null) this.list.push(note);
  }

  /** Adds a note, unless the list has it already. */
  addOnce(note: string): void {
    if (!this.list.includes(note)) this.add(note);
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

/** Counts empty frames in a row, and decides when the best score of one has to be checked. */
export class EmptyFrames {
  /** Empty frames in a row. */
  #count = 0;
  /** Count of empty frames in a row at which the best score is checked. Infinity once a note was written. */
  #nextLook = 1;

  /** True if the best score of the next frame has to be checked should that frame be empty. */
  get isNext(): boolean {
    return this.#count + 1 === this.#nextLook;
  }

  /**
   * Counts a frame. Returns true if its best score has to be checked: in the first frame, and after many empty frames
   * in a row.
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
   * Returns a note on an empty frame if its best score is suspicious, else null. Sets the time of the next check.
   * @param threshold lowest score threshold of the config
   */
  noteOf(ready: Ready, best: Best | null, threshold: number): string | null {
    this.#nextLook = Math.max(LONG_EMPTY, this.#count * 2);
    const note = hasScoresInEmptyScenes(ready) ? noteOfEmpty(this.#count, best, threshold) : null;
    if (note !== null) this.#nextLook = Infinity;
    return note;
  }
}

/**
 * True if scores above 0 are expected even in an empty scene. False for finished lists of detections, which may be
 * empty; for quantised scores, which round to 0; and if no class is kept.
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

/** Returns a note if the best score of the last of `frames` empty frames in a row is suspicious, else null. */
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

/** Returns a note if the clamp dropped candidates because they lie outside the image, else null. */
export function noteOfEmptied({ engine: { memory } }: Ready, block: number, frame: number): string | null {
  const count = memory.i32[(block >> 2) + A.P_EMPTY];
  return count > 0
    ? `all ${count} candidates of frame ${frame} lie outside the image, and are dropped: are boxFormat, ` +
        "coordinates and inputSize those of the network?"
    : null;
}

/** Fewer candidates than this in the padding may be false ones, once others have stood in the picture. */
const FEW = 4;
/** Frames with candidates after which exchanged sides are not looked for any more. */
const FRAMES_OF_SIDES = 16;
/** Least part of the likely candidates in the padding that tells exchanged sides. */
const STRAYING = 0.1;
/** Candidates with a lower score are not likely: they may lie anywhere. */
const LEAST_SCORE = 0.25;

/** Notices frames whose candidates lie in the padding: the picture lies elsewhere than the frame says. */
export class PaddingCheck {
  #isDone = false;
  /** A candidate of an earlier frame was centred in the picture. */
  #hasSeenPicture = false;
  /** Count of frames with candidates in the picture. */
  #frames = 0;
  /** Count of their likely candidates. */
  #likely = 0;
  /** Count of the likely candidates that are centred in the padding. */
  #stray = 0;

  /**
   * Returns a note, once, if the centre of each candidate of an image is more than a pixel outside the picture, or if
   * some are and none would be with width and height exchanged.
   */
  noteOf(
    { engine: { memory }, inputSize, inPhoto }: Ready,
    block: number,
    frame: Frame | undefined,
  ): string | null {
    if (this.#isDone || inPhoto || inputSize === null || !frame?.resize.startsWith("letterbox")) return null;
    const { i32, f32 } = memory;
    const p = block >> 2;
    const count = i32[p + A.P_CANDIDATES];
    const boxes = i32[p + A.P_BOXES] >> 2;
    let stray = 0;
    while (stray < count && isInPadding(f32, p, boxes + 4 * stray, inputSize)) stray++;
    if (stray < count) {
      this.#hasSeenPicture = true;
      return ++this.#frames > FRAMES_OF_SIDES || frame.placed
        ? null
        : this.#noteOfSides(i32, f32, p, inputSize, frame);
    }
    if (count < (this.#hasSeenPicture ? FEW : 1)) return null;
    this.#isDone = true;
    return (
      `every candidate of a frame of ${frame.width}x${frame.height} is centred in the padding of its ` +
      `resize "${frame.resize}": was the picture stretched, or placed otherwise, by the step before the network?`
    );
  }

  /** Returns a note if candidates so far lie in the padding, and none would with width and height exchanged. */
  #noteOfSides(
    i32: Int32Array,
    f32: Float32Array,
    p: number,
    inputSize: readonly [number, number],
    frame: Frame,
  ): string | null {
    const first = i32[p + A.P_BOXES] >> 2;
    const scores = i32[p + A.P_SCORES] >> 2;
    const end = first + 4 * i32[p + A.P_CANDIDATES];
    const before = this.#stray;
    for (let box = first; box < end; box += 4) {
      if (!(f32[scores + ((box - first) >> 2)] >= LEAST_SCORE)) continue;
      this.#likely++;
      if (isInPadding(f32, p, box, inputSize)) this.#stray++;
    }
    // Most frames end here: their width and height need not be read again.
    if (this.#stray === before) return null;
    const { width, height } = frame;
    const [x, y, left, top] = affineOf({ ...frame, width: height, height: width }, inputSize);
    // End the check at a candidate that would be in the padding of exchanged sides too: something else is wrong.
    for (let box = first; box < end; box += 4)
      if (isOutside(f32, box, 0, x, left, inputSize) || isOutside(f32, box, 1, y, top, inputSize))
        this.#frames = FRAMES_OF_SIDES;
    this.#isDone =
      this.#frames < FRAMES_OF_SIDES && this.#stray >= FEW && this.#stray >= STRAYING * this.#likely;
    return this.#isDone
      ? `${this.#stray} of the first ${this.#likely} candidates are centred in the padding of a frame of ` +
          `${width}x${height}, and would not be in one of ${height}x${width}: are width and height exchanged?`
      : null;
  }
}

/**
 * Checks candidates of a network whose boxes are in pixels of the photo. Only the frame states the photo's size.
 * @returns a note if there is no frame, or if every box is centred outside the photo; else null
 * @throws TensorError for boxes that reach beyond the input, if there is no frame
 */
export function checkPhoto(
  { engine: { memory }, inputSize }: Ready,
  block: number,
  frame: Frame | undefined,
): string | null {
  if (inputSize === null) return null;
  const { i32, f32 } = memory;
  const p = block >> 2;
  const count = i32[p + A.P_CANDIDATES];
  const boxes = i32[p + A.P_BOXES] >> 2;
  let most = 0;
  let outside = 0;
  for (let i = boxes; i < boxes + 4 * count; i += 4) {
    most = Math.max(most, f32[i + 2], f32[i + 3]);
    if (isInPadding(f32, p, i, inputSize)) outside++;
  }
  const expected =
    'the frame, { width, height, resize }: these boxes are in pixels of the photo (coordinates "photo")';
  const size = inputSize.join("x");
  // Without a frame the photo would need the size of the input. Allow a tenth, since boxes may reach over an edge.
  if (frame === undefined && most > 1.1)
    refuse("frame", `none, and boxes that reach beyond the ${size} of the input`, expected);
  if (frame === undefined) return `boxes are taken for pixels of the ${size} input: pass ${expected}`;
  return outside === count
    ? `every box is centred outside of the photo of ${frame.width}x${frame.height}: is that its size, ` +
        `and are boxes in its pixels? Of the input's pixels say coordinates: "pixels"`
    : null;
}

/** True if a candidate is centred more than a pixel of the input outside the picture. */
function isInPadding(
  f32: Float32Array,
  p: number,
  box: number,
  inputSize: readonly [number, number],
): boolean {
  return (
    isOutside(f32, box, 0, f32[p + A.P_SCALE_X], f32[p + A.P_SHIFT_X], inputSize) ||
    isOutside(f32, box, 1, f32[p + A.P_SCALE_X + 1], f32[p + A.P_SHIFT_X + 1], inputSize)
  );
}

/** True if a box is centred more than a pixel of the input outside the picture, along one axis. */
function isOutside(
  f32: Float32Array,
  box: number,
  axis: 0 | 1,
  scale: number,
  shift: number,
  inputSize: readonly [number, number],
): boolean {
  const centre = ((f32[box + axis] + f32[box + axis + 2]) / 2) * scale + shift;
  const pixel = scale / inputSize[axis];
  return centre < -pixel || centre > 1 + pixel;
}

/** Returns a note if candidates were dropped because their box, score or class id is NaN or infinite, else null. */
export function noteOfNotFinite({ engine: { memory } }: Ready, block: number, frame: number): string | null {
  const count = memory.i32[(block >> 2) + A.P_NOT_FINITE];
  return count > 0
    ? `candidates of frame ${frame} whose box, score or class id is NaN or infinite are dropped: ${count}`
    : null;
}
